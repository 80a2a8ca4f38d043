"""`python -m tests.explore [NAME...]`: finds the defects of the controllers in examples/explore.

It then explores their mended forms, in which nothing may be found.
"""

from __future__ import annotations

import argparse
import sys

from tests.explore.programs import PROGRAMS, build_programs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.explore", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PROGRAMS)}; all if none is given")
    parser.add_argument("--clean", type=int, default=100, metavar="N", help="runs of each mended form (default: 100)")
    options = parser.parse_args()
    wrong = 0
    missing = {language: build_programs(language) for language in {entry.language for entry in PROGRAMS.values()}}
    for name in options.names or PROGRAMS:
        program = PROGRAMS[name]
        if missing[program.language]:
            print(f"left out: {name}: {missing[program.language]}")
            continue
        report = program.explore()
        lengths = [len(finding.run.schedule) for finding in report.findings]
        print(f"{name} ({program.language}): {report.summary}; perturbations: {lengths}", flush=True)
        mended = program.explore(mended=True, runs=options.clean, seconds=3600.0)
        print(f"{name} ({program.language}), mended: {mended.summary}", flush=True)
        if not mended.passed:
            print(mended)
        wrong += report.passed + (not mended.passed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
