"""podless explore: find schedules that break a controller."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podless.cli import options
from podless.runtime.files import describe_fault
from podless.runtime.option import StartError

if TYPE_CHECKING:
    from podless.explore import Report
    from podless.explore.laboratory import Setup

_OPTIONS = ("kubernetes_version",)
_FORMATS = ("text", "json", "junit", "html")


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "explore",
        help="find schedules that break a controller",
        description="Run a controller many times against a server in memory, each time with another schedule of late "
        "events, conflicts, lost answers and crashes, and report the shortest schedule after which something is wrong. "
        "Exit status: 0 if nothing was found, 1 if something was, 2 if the exploration failed.",
    )
    parser.add_argument(
        "--apply", metavar="PATH", action="append", default=[], help="manifests to apply before each run (repeatable)"
    )
    parser.add_argument(
        "--scenario", metavar="FILE", required=True, help="YAML file with the user's steps and your conditions"
    )
    _add_limits(parser)
    parser.add_argument("--replay", metavar="FILE", help="run the schedule in FILE instead of exploring")
    parser.add_argument("--times", metavar="N", type=int, default=1, help="how often to run --replay (default: 1)")
    parser.add_argument("--save", metavar="FILE", help="write the first finding's schedule to FILE, for --replay")
    parser.add_argument(
        "--output",
        "-o",
        choices=_FORMATS,
        default="text",
        help="format of the report; html is a page with a timeline (default: text)",
    )
    options.add_selected(parser, _OPTIONS)
    parser.add_argument("command", metavar="COMMAND", nargs="+", help="the controller, after --; KUBECONFIG is set")
    parser.set_defaults(run=run)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the options for how long to explore, and with how many controllers."""
    parser.add_argument("--runs", metavar="N", type=int, default=300, help="maximum number of runs (default: 300)")
    parser.add_argument(
        "--time", metavar="SECONDS", type=float, default=300.0, help="stop after SECONDS (default: 300)"
    )
    parser.add_argument("--findings", metavar="N", type=int, default=1, help="stop after N findings (default: 1)")
    parser.add_argument("--seed", metavar="SEED", type=int, default=1, help="seed of random schedules (default: 1)")
    parser.add_argument(
        "--workers", metavar="N", type=int, default=2, help="controllers that run side by side (default: 2)"
    )
    parser.add_argument(
        "--quiet",
        metavar="MS",
        type=float,
        help="milliseconds without requests after which an idle controller has settled (default: 0 if no timer can "
        "wake it soon, as far as Linux tells; otherwise 150)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="start the controller for each run, not only where a schedule needs it"
    )
    parser.add_argument(
        "--instances", metavar="N", type=int, default=1, help="instances of the controller in a run (default: 1)"
    )


def run(given: argparse.Namespace) -> int:
    """Explore, and print the report. Returns the exit status."""
    from podless.explore import BadScenario, BadSchedule
    from podless.explore.embedded import run_exploration
    from podless.explore.report import WRITERS, read_replay, write_replay
    from podless.remote.cluster import Refused

    log = logging.getLogger("podless")
    level = log.level
    # controllers and servers compete for the processors, so warnings about slow steps mean nothing
    log.setLevel(logging.ERROR)
    try:
        if given.replay is not None:
            given.replay = read_replay(Path(given.replay).read_bytes())
        if given.save:
            _require_writable(Path(given.save))
        report = run_exploration(_run_exploration(given, _read_setup(given)))
    except OSError as error:
        print(f"podless explore: {describe_fault(error)}", file=sys.stderr)
        return 2
    except (StartError, BadScenario, BadSchedule, Refused, LookupError, ValueError) as error:
        print(f"podless explore: {error}", file=sys.stderr)
        return 2
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
