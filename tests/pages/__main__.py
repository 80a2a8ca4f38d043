"""`python -m tests.pages`: write what is generated, run the sessions of pages, check the prose."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.pages import prose, sessions
from tests.pages.blocks import read_page


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pages", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("write", help="write the reference pages and pictures that come from the code")
    commands.add_parser("record", help="draw the sessions of the README, with what they print")
    lint = commands.add_parser("lint", help="check the prose of pages and docstrings")
    lint.add_argument("pages", metavar="PAGE", nargs="*", type=Path, help="default: all")
    run = commands.add_parser("run", help="execute the sessions of pages")
    run.add_argument("pages", metavar="PAGE", nargs="*", type=Path, help="default: all")
    run.add_argument(
        "--podless", metavar="FILE", type=Path, help="the podless command to test (default: this checkout)"
    )
    given = parser.parse_args()
    if given.command == "record":
        from tests.pages import recording

        recording.PICTURE.parent.mkdir(exist_ok=True)
        recording.PICTURE.write_text(recording.record())
        return 0
    if given.command == "lint":
        return _lint(given.pages) if given.pages else _lint(prose.files()) | _lint_modules()
    return _write() if given.command == "write" else _run(given.pages or [*sessions.pages()], given.podless)


def _write() -> int:
    from tests.pages import charts, reference

    for path in reference.write():
        print(f"wrote {path}")
    charts.CHART.write_text(charts.draw())
    return 0


def _lint(pages: list[Path]) -> int:
    count = 0
    for path in pages:
        for fault in prose.check_prose(path.read_text()):
            count += 1
            print(f"{path}:{fault.line}: {fault.phrase!r}: write: {fault.instead}")
    return 1 if count else 0


def _lint_modules() -> int:
    count = 0
    for path in prose.modules():
        for fault in prose.check_docstrings(path.read_text()):
            count += 1
            print(f"{path}:{fault.line}: {fault.phrase!r}: write: {fault.instead}")
    return 1 if count else 0


def _run(pages: list[Path], podless: Path | None) -> int:
    failed = 0
    for path in pages:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                count = sessions.Reader(read_page(path), Path(folder), podless).follow()
            except sessions.SessionFailure as failure:
                failed += 1
                print(f"FAILED {failure}")
            else:
                print(f"passed {path}: {count} commands in {time.monotonic() - began:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
