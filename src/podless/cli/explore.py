"""podless explore: find schedules that break a controller."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from podless.cli import options
from podless.runtime.option import report_errors

if TYPE_CHECKING:
    from podless.explore import Report
    from podless.explore.laboratory import Setup

_OPTIONS = ("kubernetes_version",)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the server."""
    options.add_selected(parser, _OPTIONS)


def run(given: argparse.Namespace) -> int:
    """Explore, and print the report. Returns the exit status."""
    from podless.explore.embedded import run_exploration
    from podless.explore.report import WRITERS, read_replay, write_replay

    log = logging.getLogger("podless")
    level = log.level
    # controllers and servers compete for the processors, so warnings about slow steps mean nothing
    log.setLevel(logging.ERROR)
    try:
        with report_errors(LookupError, ValueError):
            if given.replay is not None:
                given.replay = read_replay(Path(given.replay).read_bytes())
            if given.save:
                _require_writable(Path(given.save))
            report = run_exploration(_run_exploration(given, _read_setup(given)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("podless explore: stopped before the end", file=sys.stderr)
        return 2
    finally:
        log.setLevel(level)
    sys.stdout.write(WRITERS[given.output](report))
    if given.save and report.findings:
        Path(given.save).write_bytes(write_replay(report.findings[0]))
        print(f"podless explore: wrote {given.save}: replay it with --replay {given.save}", file=sys.stderr)
    return 0 if report.passed else 1


def _require_writable(file: Path) -> None:
    """Raise OSError if a file cannot be written: now, rather than at the end of a long run."""
    existed = file.exists()
    with file.open("ab"):
        pass
    if not existed:
        file.unlink()


def _read_setup(given: argparse.Namespace) -> Setup:
    from podless.explore import Scenario
    from podless.explore.laboratory import Setup, name_clients

    return Setup(
        tuple(given.command),
        Scenario.read(Path(given.scenario)),
        [Path(path) for path in given.apply],
        name_clients(given.instances),
        quiet=None if given.quiet is None else given.quiet / 1000,
        settings=options.read_selected(given, _OPTIONS),
    )


async def _run_exploration(given: argparse.Namespace, setup: Setup) -> Report:
    from podless.explore.explorer import Options, explore, replay

    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # Windows does not have it
        # the controller runs in its own session, so the signal would not end it
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if given.replay is not None:
        return await replay(setup, given.replay, given.times, _print_progress)
    limits = Options(given.runs, given.time, given.findings, given.seed, given.workers, given.fresh)
    return await explore(setup, limits, _print_progress)


def _print_progress(line: str) -> None:
    print(f"podless explore: {line}", file=sys.stderr, flush=True)
