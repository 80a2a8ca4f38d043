"""podless envtest: replace the programs that controller-runtime's envtest starts.

envtest runs the programs etcd and kube-apiserver in a folder (KUBEBUILDER_ASSETS) with their flags; for Java,
kube-api-test (formerly jenvtest) does the same. This command writes scripts there that run this module as one or the
other. The stand-in for etcd only reports that it is healthy; the one for kube-apiserver is a server in memory.

envtest calls both with --help to see which flags they accept; the scripts contain the answer.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from podless.apis import features
from podless.apis.release import facts_of
from podless.runtime.option import ReportedError, StartError

ETCD, SERVER = "etcd", "kube-apiserver"
_PROGRAM = """#!/bin/sh
case "$1" in
--help) cat <<'END'
{help}END
exit;;
--version) echo '{version}'; exit;;
esac
exec {python} -m podless.cli.envtest {name}{flags} "$@"
"""
_VARIABLE = "ENVTEST_K8S_VERSION"  # the release that Makefiles of kubebuilder pass to setup-envtest
# flags of etcd that the stand-in accepts and ignores
_PASSED = (
    "advertise-client-urls", "data-dir", "initial-advertise-peer-urls", "initial-cluster", "initial-cluster-state",
    "initial-cluster-token", "listen-client-urls", "listen-peer-urls", "log-level", "name", "unsafe-no-fsync",
    "wal-dir",
)  # fmt: skip
# flags of kube-apiserver that have no effect here
_IDLE = (
    "advertise-address", "allow-privileged", "api-audiences", "disable-admission-plugins", "enable-admission-plugins",
    "etcd-cafile", "etcd-certfile", "etcd-keyfile", "etcd-prefix", "etcd-servers", "service-account-issuer",
    "service-account-key-file", "service-account-signing-key-file", "service-cluster-ip-range", "storage-backend", "v",
)  # fmt: skip
_REMOVED = ("insecure-bind-address", "insecure-port")  # accepted but not in --help: kube-apiserver before 1.24 had them
_RENAMED = {"bind-address": "bind", "secure-port": "port"}
# options of this command, for all servers that the scripts start
_OPTIONS = ("enable_faults", "chaos", "kubernetes_version")
_FOLDER = "cert-dir"
_CERTIFICATE, _KEY = "apiserver.crt", "apiserver.key"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the servers."""
    from podless.cli import options  # imported late, because the stand-in for etcd does not need it

    options.add_selected(parser, _OPTIONS)
    parser.set_defaults(kubernetes_version=None)


def run(args: argparse.Namespace) -> int:
    """Write the scripts. Returns 1, with a line on standard error, if that fails."""
    from podless.cli import options

    folder: Path = args.folder.absolute()
    try:
        release = features.choose_release(args.kubernetes_version or _asked_version())
    except StartError as error:
        origin = "" if args.kubernetes_version else f"{_VARIABLE}: "
        raise ReportedError(f"{origin}{error}") from None
    versions = {ETCD: "etcd Version: 3.6.0", SERVER: f"Kubernetes {facts_of(release).version}"}
    extra_flags = " --enable-faults" if args.enable_faults else ""
    if release.name != features.DEFAULT:
        extra_flags += f" --kubernetes-version={release.name}"
    if args.chaos is not False:
        seed = random.randrange(1 << 31) if args.chaos is True else args.chaos
        print(f"podless: {options.chaos_notice(seed)}", file=sys.stderr)
        extra_flags += f" --chaos={seed}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in (ETCD, SERVER):
        program = folder / name
        flags = extra_flags if name == SERVER else ""
        text = {"help": option_help(name), "version": versions[name], "python": shlex.quote(sys.executable)}
        program.write_text(_PROGRAM.format(name=name, flags=flags, **text))
        program.chmod(0o755)
    kubectl, link = shutil.which("kubectl"), folder / "kubectl"
    if kubectl is not None and not link.exists():
        link.symlink_to(kubectl)
    print(f"export KUBEBUILDER_ASSETS={shlex.quote(str(folder))}")
    return 0


def _asked_version() -> str:
    """Return the release in ENVTEST_K8S_VERSION without its patch. setup-envtest also accepts latest and 1.N.x!"""
    text = os.environ.get(_VARIABLE, "").strip().removeprefix("v").rstrip("!")
    return ".".join(text.split(".")[:2]) if text not in ("", "latest", "use") else features.DEFAULT


def option_help(name: str) -> str:
    """Return the help text of a program: its flags, one a line."""
    accepted = set(_PASSED) if name == ETCD else {*_IDLE, *_RENAMED, _FOLDER, *_serve_flags()} - {"data", "memory"}
    return f"{name}: podless stands in for it, and takes these flags\n" + "".join(
        f"  --{flag}\n" for flag in sorted({*accepted, "help", "version"})
    )


def _serve_flags() -> dict[str, argparse.Action]:
    from podless.cli import options

    parser = argparse.ArgumentParser(add_help=False)
    options.add_options(parser)
    return {flag[2:]: action for action in parser._actions for flag in action.option_strings if flag[:2] == "--"}


def parse_flags(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Parse flags as Go programs do, each with its values: --name=value, --name value, and -name."""
    flags: dict[str, list[str]] = {}
    remaining = list(arguments)
    while remaining:
        name, sign, value = remaining.pop(0).lstrip("-").partition("=")
        if not sign and remaining and not remaining[0].startswith("-"):
            value = remaining.pop(0)
        flags.setdefault(name, []).append(value if sign or value else "true")
    return flags


def serve_arguments(flags: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """Return the arguments of `podless serve` for flags of kube-apiserver, and the unknown flags."""
    known_flags = _serve_flags()
    arguments, unknown = ["--memory"], []
    for name, values in flags.items():
        serve_name = _RENAMED.get(name, name)
        if name == _FOLDER:
            files = Path(values[-1]) / _CERTIFICATE, Path(values[-1]) / _KEY
            if all(file.exists() for file in files) and "tls-cert-file" not in flags:
                arguments += ["--tls-cert-file", str(files[0]), "--tls-private-key-file", str(files[1])]
        elif name in _IDLE or name in _REMOVED:
            continue
        elif serve_name in known_flags and serve_name not in ("data", "memory"):
            if known_flags[serve_name].nargs == 0:
                arguments.append(f"--{serve_name}" if values[-1] != "false" else f"--no-{serve_name}")
            else:
                arguments += [
                    f"--{serve_name}={_auth_mode(value) if name == 'authorization-mode' else value}" for value in values
                ]
        else:
            unknown.append(f"--{name}")
    return arguments, unknown


def _auth_mode(value: str) -> str:
    """Return RBAC if it is one of several authorization modes: podless has no nodes for the others."""
    return "RBAC" if "RBAC" in value.split(",") else value


def serve_apiserver(flags: Sequence[str]) -> int:
    """Run as kube-apiserver."""
    from podless.cli import main

    arguments, unknown = serve_arguments(parse_flags(flags))
    _reject_flags(unknown)
    return main(["serve", *arguments])


def _reject_flags(unknown: Sequence[str]) -> None:
    if unknown:
        print(f"podless: ignored flags: {', '.join(unknown)}", file=sys.stderr, flush=True)


class _HealthHandler(BaseHTTPRequestHandler):
    """Answers all requests with "healthy"."""

    def do_GET(self) -> None:
        body = b'{"health":"true","reason":""}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve_etcd(flags: Sequence[str]) -> int:
    """Run as etcd, and answer only health checks. Ends with the first signal."""
    chosen = parse_flags(flags)
    _reject_flags([f"--{name}" for name in chosen if name not in _PASSED])
    address = urlsplit(chosen.get("listen-client-urls", ["http://127.0.0.1:2379"])[-1].split(",")[0])
    with ThreadingHTTPServer((address.hostname or "127.0.0.1", address.port or 2379), _HealthHandler) as server:
        print(f"podless stands in for etcd at {address.geturl()}", flush=True)
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit({ETCD: serve_etcd, SERVER: serve_apiserver}[sys.argv[1]](sys.argv[2:]))
