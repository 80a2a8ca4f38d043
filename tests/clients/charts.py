"""`python -m tests.clients.charts FOLDER...`: charts, installed, upgraded, rolled back and uninstalled by helm.

Each FOLDER is a chart with its dependencies; FOLDER:NAME=VALUE... sets values. All are on one server.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from podless import Server
from tests.clients.versions import LAYERS, Session, folder

_WAIT = "--wait --timeout 60s"


def steps(chart: str, values: str) -> dict[str, str]:
    """The commands that a chart is taken through."""
    name = Path(chart).name[:40]
    there = f"--namespace {name}"
    settings = f"--set {values}" if values else ""
    return {
        "install": f"install {name} {chart} --create-namespace {there} {settings} {_WAIT}",
        "upgrade": f"upgrade {name} {chart} {there} {settings} --set replicaCount=2,fullnameOverride=other {_WAIT}",
        "rollback": f"rollback {name} 1 {there} {_WAIT}",
        "uninstall": f"uninstall {name} {there} {_WAIT}",
    }


def take(session: Session, given: str) -> str:
    """Take a chart through the steps. Returns the first that went wrong, with its reason, or ""."""
    chart, _, values = given.partition(":")
    for step, command in steps(str(Path(chart).resolve()), values).items():
        try:
            session.helm(command)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return f"{step}: {' '.join(str(error).split())[:1500]}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.charts", description=__doc__)
    parser.add_argument("charts", nargs="+", metavar="FOLDER")
    parser.add_argument("--version", default="1.36", help=f"the helm that came with kubectl {', '.join(LAYERS)}")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as home, Server(controllers=["*"]) as server:
        session = Session(folder(options.version), server, Path(home))
        for chart in options.charts:
            wrong = take(session, chart)
            failed += bool(wrong)
            print(f"FAILED {chart}: {wrong}" if wrong else f"ok {chart}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
