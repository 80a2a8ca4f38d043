"""podless plan: show what applying a set would do, without changing anything."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path

from podless.check.sources import STDIN, CannotCheck, find_sources
from podless.cli import access
from podless.cli.progress import Progress
from podless.plan.baseline import Dump, EmptySource, PlanSource
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.output import render_plan
from podless.plan.planfile import write_plan
from podless.plan.result import Plan
from podless.plan.run import make_plan
from podless.runtime.collector import pause_gc
from podless.runtime.files import describe_fault
from podless.runtime.option import ReportedError
from podless.store import HistoryCompacted, StoreError
from podless.store.engines import DATABASE

_LOOK = 0.5  # seconds between two checks of the files


def run(args: argparse.Namespace) -> int:
    """Plan, and print the plan; with --watch again after each change. Returns the exit code of the last plan."""
    if not args.watch:
        return _make_plan(args)
    if STDIN in args.paths:
        raise CannotPlan("--watch follows files, not the standard input")
    while True:
        times = _read_times(args)
        code = _make_plan(args)
        try:
            sys.stdout.flush()  # a pipe would buffer the plan until the end
            print("-- waiting for changes of the files", file=sys.stderr)
            while _read_times(args) == times:
                time.sleep(_LOOK)
        except KeyboardInterrupt:
            return code


def _read_times(args: argparse.Namespace) -> dict[str, tuple[int, int]]:
    """Return modification times and sizes of the set's files."""
    try:
        files = [Path(source.name) for source in find_sources(args.paths, args.exclude)]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}
    except (CannotCheck, OSError):
        return {}


def _make_plan(args: argparse.Namespace) -> int:
    try:
        with pause_gc():  # almost nothing becomes garbage before the end
            plan = asyncio.run(_compute_plan(args))
        if args.out is not None:
            write_plan(args.out, plan, _read_options(args))
    except (ReportedError, OSError) as error:  # --watch goes on
        print(f"podless: {describe_fault(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return 1
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(render_plan(plan, args.output, color=color, details=args.details))
    return plan.exit_code


def _read_options(args: argparse.Namespace) -> PlanOptions:
    """Return the options of the plan. Raises CannotPlan."""
    values = {declared.name: getattr(args, declared.name) for declared in fields(PlanOptions)}
    return PlanOptions(**values | {"services": dict(args.services)})


async def _compute_plan(args: argparse.Namespace) -> Plan:
    chosen = _read_options(args)
    items, faults = read_set(find_sources(args.paths, args.exclude))
    progress = Progress()
    try:
        with tempfile.TemporaryDirectory(prefix="podless-plan-") as scratch:
            source = await _choose_source(args, Path(scratch) / "state.backup")
            return await make_plan(items, faults, source, chosen, progress.show)
    finally:
        progress.clear()


async def _choose_source(args: argparse.Namespace, scratch: Path) -> PlanSource:
    """Return the starting state of the plan. scratch: a file for the state of a data folder. Raises CannotPlan."""
    if args.dump and args.from_nothing:
        raise CannotPlan("--from and --from-nothing exclude each other")
    database = Path(args.dump) / DATABASE if args.dump else None
    if database is not None and database.exists():
        from podless.cli.backup import save_state

        try:
            await save_state(database, args.at, scratch)
        except HistoryCompacted as error:
            raise CannotPlan(
                f"{args.dump}: the history has no state at {args.at}: the oldest one is revision {error.revision}"
            ) from None
        except (StoreError, ValueError) as error:
            raise CannotPlan(str(error)) from None
        return Dump(str(scratch), f"{args.dump} at {args.at}" if args.at else args.dump)
    if args.at:
        raise CannotPlan("--at requires --from with a server's data folder")
    if args.dump:
        return Dump(args.dump)
    return EmptySource() if args.from_nothing else RunningAPI(access.read_access(args), seconds=args.timeout)
