"""`python -m tests.clients [NAME...]`: client programs, and kubectl and helm in several versions, against podless."""

from __future__ import annotations

import argparse
import sys
import time

from tests.clients.languages import PROGRAMS, take


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PROGRAMS)}; all if none is given")
    parser.add_argument("--seconds", type=float, default=1800, help="for all downloads and builds (default 1800)")
    options = parser.parse_args()
    unknown = set(options.names) - set(PROGRAMS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    until = time.monotonic() + options.seconds
    failed = 0
    ran = 0
    for name in options.names or PROGRAMS:
        report = take(PROGRAMS[name], until)
        print(report.show(), flush=True)
        ran += not report.left_out
        failed += bool(report.failures)
    print(f"clients: {ran - failed} passed, {failed} failed, {len(options.names or PROGRAMS) - ran} left out")
    return 1 if failed else 0


sys.exit(main())
