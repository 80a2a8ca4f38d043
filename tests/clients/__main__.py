"""`python -m tests.clients [NAME...]`: client programs, and kubectl and helm in several versions, against podless."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.clients import languages, table, versions
from tests.clients.languages import PROGRAMS, Report

NAMES = (*PROGRAMS, *(f"kubectl-{version}" for version in versions.VERSIONS))


def take(name: str, until: float) -> Report:
    if name in PROGRAMS:
        return languages.take(PROGRAMS[name], until)
    with tempfile.TemporaryDirectory() as home:
        return versions.take(name.removeprefix("kubectl-"), Path(home))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--seconds", type=float, default=1800, help="for all downloads and builds (default 1800)")
    parser.add_argument("--write", action="store_true", help=f"write what they show into {table.PAGE.name}")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    until = time.monotonic() + options.seconds
    reports = []
    for name in options.names or NAMES:
        reports.append(take(name, until))
        print(reports[-1].show(), flush=True)
    ran = [report for report in reports if not report.left_out]
    failed = [report for report in ran if report.failures]
    if options.write:
        table.write(ran)
    misfits = [line for report in ran for line in table.misfits(report)]
    for line in misfits:
        print(f"docs/reference/{table.PAGE.name} does not have: {line}")
    print(f"clients: {len(ran) - len(failed)} passed, {len(failed)} failed, {len(reports) - len(ran)} left out")
    return 1 if failed or misfits else 0


if __name__ == "__main__":
    sys.exit(main())
