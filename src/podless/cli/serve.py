"""podless serve: run the server until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import re
import resource
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from podless.app import App, Settings, StartError
from podless.auth.access import BadAccess
from podless.auth.tokens import BadTokenFile
from podless.cli import access, audit, limits
from podless.kinds.builtin import runtime


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "serve",
        help="run the API server",
        description="Serve the Kubernetes API: CustomResourceDefinitions, their objects and namespaces.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    keep = parser.add_mutually_exclusive_group()
    keep.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        default=Path("podless-data"),
        help="folder of database, certificates and kubeconfig",
    )
    keep.add_argument("--memory", action="store_true", help="keep nothing: everything is gone when the server ends")
    parser.add_argument("--bind", metavar="ADDRESS", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=_port, default=6443, help="port to listen on; 0 takes any free one")
    parser.add_argument("--insecure-http", action="store_true", help="serve plain HTTP, on a loopback address only")
    parser.add_argument(
        "--garbage-collector",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="delete objects whose owners (metadata.ownerReferences) are gone, and serve propagation policies",
    )
    parser.add_argument(
        "--event-ttl",
        metavar="DURATION",
        type=_duration,
        default="1h",
        help="how long an event stays after its last write",
    )
    parser.add_argument(
        "--default-accounts",
        action=argparse.BooleanOptionalAction,
        default=True,
        help='give each namespace the service account "default"',
    )
    parser.add_argument(
        "--root-configmaps",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="give each namespace the config map kube-root-ca.crt",
    )
    parser.add_argument(
        "--service",
        metavar="NAMESPACE/NAME[:PORT]=HOST:PORT",
        dest="services",
        type=_service,
        action="append",
        default=[],
        help="where webhooks behind a Service are (repeatable); others are looked up as NAME.NAMESPACE.svc in DNS",
    )
    parser.add_argument(
        "--runtime-config",
        metavar="API=true,...",
        type=_runtime,
        default="",
        help="older APIs to serve: apiextensions.k8s.io/v1beta1=true, extensions/v1beta1/thirdpartyresources=true",
    )
    access.add(parser)
    audit.add(parser)
    limits.add(parser)
    parser.set_defaults(run=run)


def _runtime(text: str) -> dict[str, bool]:
    try:
        return runtime.parse(text)
    except runtime.BadRuntimeConfig as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _service(text: str) -> tuple[str, str]:
    found = re.fullmatch(r"([^/=:]+/[^/=:]+(?::\d+)?)=(.+:\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError("a service is NAMESPACE/NAME=HOST:PORT")
    return found[1], found[2]


def _duration(text: str) -> float:
    """Seconds, from numbers with units such as 1h30m or 90s."""
    found = re.fullmatch(r"(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?", text)
    parts = found.groups() if found else ()
    seconds = sum(float(part or 0) * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
    if seconds <= 0:
        raise argparse.ArgumentTypeError("a duration is a time such as 1h, 30m or 1h30m")
    return seconds


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return port


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT. Returns 1, with one line on standard error, where the start fails."""
    import uvloop

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(_settings(options)))
    except (StartError, BadTokenFile, BadAccess) as error:
        print(f"podless: {error}", file=sys.stderr)
        return 1
    return 0


def _settings(options: argparse.Namespace) -> Settings:
    """What the options say. Raises BadAccess."""
    return Settings(
        data=None if options.memory else options.data,
        bind=options.bind,
        port=options.port,
        tls=not options.insecure_http,
        token_file=options.token_auth_file,
        services=dict(options.services),
        runtime_config=options.runtime_config,
        access=access.read(options),
        audit=audit.read(options),
        limits=limits.read(options),
        garbage_delay=1.0 if options.garbage_collector else None,
        event_ttl=options.event_ttl,
        default_accounts=options.default_accounts,
        root_configmaps=options.root_configmaps,
    )


def _reopen(app: App) -> None:
    try:
        app.reopen()
    except OSError as error:
        logging.getLogger("podless").error("%s: %s", error.filename, error.strerror)


def _raise_files() -> None:
    """Take all the open files that the system allows: every connection is one."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _serve(settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    _raise_files()
    app = App(settings)
    await app.start()
    loop.add_signal_handler(signal.SIGHUP, _reopen, app)
    # what the start made lives as long as the server: the collector need not look at it again and again
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    print(f"podless serves {app.url}", flush=True)
    print(f"export KUBECONFIG={app.kubeconfig}", flush=True)
    if not settings.loopback and settings.access.mode == "AlwaysAllow":
        print(
            f"WARNING: {settings.bind} can be reached from other machines, and whoever is known may do everything",
            flush=True,
        )
    threading.Thread(target=_prepare).start()  # no daemon: the process must not end in the middle of an import
    await stop.wait()
    await app.stop()


def _prepare() -> None:
    """Import what the first definition needs: that takes longer than all else about it, and need not wait for it."""
    for name in ("cel.rules", "kinds.definition.validate", "kinds.definition.advice", "schema.compile"):
        import_module(f"podless.{name}")
