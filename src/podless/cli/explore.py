"""podless explore: find schedules that break a controller."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path

from podless.cli import options
from podless.explore.embedded import run_exploration
from podless.explore.explorer import Options, explore, replay
from podless.explore.findings import ExplorationReport
from podless.explore.laboratory import Setup, name_clients
from podless.explore.report import WRITERS, read_replay, write_replay
from podless.explore.scenario import Scenario
from podless.runtime.option import report_errors

_OPTIONS = ("kubernetes_version",)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the server."""
    options.add_selected(parser, _OPTIONS)


def run(args: argparse.Namespace) -> int:
    """Explore, and print the report. Returns the exit status."""
    try:
        with report_errors(LookupError, ValueError):
            if args.replay is not None:
                args.replay = read_replay(Path(args.replay).read_bytes())
            if args.save:
                _require_writable(Path(args.save))
            report = run_exploration(_run_exploration(args, _read_setup(args)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("podless explore: stopped before the end", file=sys.stderr)
        return 2
    sys.stdout.write(WRITERS[args.output](report))
    if args.save and report.findings:
        Path(args.save).write_bytes(write_replay(report.findings[0]))
        print(f"podless explore: wrote {args.save}: replay it with --replay {args.save}", file=sys.stderr)
    return 0 if report.passed else 1


def _require_writable(file: Path) -> None:
    """Raise OSError if a file cannot be written: now, rather than at the end of a long run."""
    existed = file.exists()
    with file.open("ab"):
        pass
    if not existed:
        file.unlink()


def _read_setup(args: argparse.Namespace) -> Setup:
    return Setup(
        tuple(args.command),
        Scenario.read(Path(args.scenario)),
        [Path(path) for path in args.apply],
        name_clients(args.instances),
        quiet=None if args.quiet is None else args.quiet / 1000,
        settings=options.read_selected(args, _OPTIONS),
    )


async def _run_exploration(args: argparse.Namespace, setup: Setup) -> ExplorationReport:

    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # Windows does not have it
        # the controller runs in its own session, so the signal would not end it
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if args.replay is not None:
        return await replay(setup, args.replay, args.times, _print_progress)
    limits = Options(args.runs, args.time, args.findings, args.seed, args.workers, args.fresh)
    return await explore(setup, limits, _print_progress)


def _print_progress(line: str) -> None:
    print(f"podless explore: {line}", file=sys.stderr, flush=True)
