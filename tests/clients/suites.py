"""`python -m tests.clients.suites FOLDER [NAME...]`: the end-to-end suites of client libraries, against podless.

FOLDER has a checkout of each library's repository, under the names below. --python is an interpreter with pytest,
pytest-timeout, and what a suite asks for in its own repository. kubectl is on the PATH.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from podless import Server
from tests.clients.languages import HERE, finished

_TIME = 1800.0  # seconds that a suite may take
_EACH = 60  # seconds that one of its tests may take
_OLDER = {"apiextensions.k8s.io/v1beta1": True}  # a suite defines its kinds in these words still


@dataclass(frozen=True)
class Suite:
    """A suite: what pytest is given in the folder of the checkout, and the folders from which modules are imported."""

    tests: Sequence[str]
    options: Sequence[str] = ()
    imports: Sequence[str] = (".",)


SUITES = {
    "kubernetes": Suite(("kubernetes/e2e_test", "kubernetes/aio/e2e_test", "kubernetes/dynamic")),
    "kubernetes_asyncio": Suite(("kubernetes_asyncio/e2e_test", "kubernetes_asyncio/dynamic")),
    "lightkube": Suite(("e2e-tests",), imports=()),  # it is installed, with its models
    "kr8s": Suite(("kr8s/tests",), ("-o", "addopts=", "-p", "pytest_kind.plugin", "--keep-cluster")),
    # its warnings are errors; that the client's own sockets end after its loop says nothing about a server
    "kopf": Suite(("tests/e2e",), ("--only-e2e", "-W", "ignore::ResourceWarning")),
}

# what the suites take for granted in the cluster that they are run on
_CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: suites-control-plane, labels: {kubernetes.io/os: linux, kubernetes.io/hostname: suites-control-plane}}
status:
  nodeInfo: {operatingSystem: linux}
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: metrics-server, namespace: kube-system, labels: {k8s-app: metrics-server}}
spec:
  selector: {matchLabels: {k8s-app: metrics-server}}
  template:
    metadata: {labels: {k8s-app: metrics-server}}
    spec: {containers: [{name: metrics-server, image: example.com/metrics-server}]}
"""
_TAINT = "taint node suites-control-plane node.kubernetes.io/not-ready-"  # admission gives it to a new node
_ADMIN = "--user kubernetes-admin --group system:masters"  # with a certificate, as kind has it


def take(name: str, folder: Path, python: str, more: Sequence[str]) -> int:
    """Run one suite on a server of its own, and show what pytest says. Returns pytest's code."""
    suite, checkout = SUITES[name], (folder / name).resolve()
    with tempfile.TemporaryDirectory() as home:
        data, config = Path(home, "data"), Path(home, ".kube/config")
        with Server(controllers=["*"], data=data, runtime_config=_OLDER) as server:
            server.apply(_CLUSTER)
            environment = {"HOME": home, "KUBECONFIG": str(config)}
            made = finished(
                [sys.executable, "-m", "podless", "kubeconfig", "--data", str(data), *_ADMIN.split()], HERE, _EACH, {}
            )
            for path in (config.parent, Path(home, "pytest_kind")):
                path.mkdir()
            for module in ("cluster", "plugin"):
                shutil.copy(HERE / "kind.py", Path(home, "pytest_kind", f"{module}.py"))
            config.write_text(made.stdout)
            finished(["kubectl", *_TAINT.split()], HERE, _EACH, environment)
            environment["PYTHONPATH"] = os.pathsep.join([*(str(checkout / entry) for entry in suite.imports), home])
            options = ["-q", "-p", "no:cacheprovider", "-rfEsx", "--tb=short", f"--timeout={_EACH}"]
            command = [python, "-m", "pytest", *suite.tests, *options, *suite.options, *more]
            done = finished(command, checkout, _TIME, environment)
    print(done.stdout + done.stderr)
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.suites", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(SUITES)}; all if none is given")
    parser.add_argument("--python", default=sys.executable, help="what the suites run with")
    parser.add_argument("--pytest", action="append", default=[], metavar="OPTION", help="one more for pytest")
    options = parser.parse_args()
    codes = [take(name, options.folder, options.python, options.pytest) for name in options.names or SUITES]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
