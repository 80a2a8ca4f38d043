"""podless plan: show what applying a set would do, without changing anything."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from podless.check.sources import STDIN, CannotCheck, find_sources
from podless.cli import access
from podless.cli.engine import DATABASE
from podless.cli.progress import Progress
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.output import render_plan
from podless.plan.planfile import write_plan
from podless.plan.result import Plan
from podless.plan.run import PlanSource, make_plan
from podless.plan.sources import Dump, EmptySource
from podless.runtime.files import describe_fault
from podless.runtime.gcpause import pause_gc
from podless.runtime.option import ReportedError
from podless.store import HistoryCompacted, StoreError

_LOOK = 0.5  # seconds between two checks of the files


def run(options: argparse.Namespace) -> int:
    """Plan, and print the plan; with --watch again after each change. Returns the exit code of the last plan."""
    if not options.watch:
        return _make_plan(options)
    if STDIN in options.paths:
        raise CannotPlan("--watch follows files, not the standard input")
    while True:
        times = _read_times(options)
        code = _make_plan(options)
        try:
            sys.stdout.flush()  # a pipe would buffer the plan until the end
            print("-- waiting for changes of the files", file=sys.stderr)
            while _read_times(options) == times:
                time.sleep(_LOOK)
        except KeyboardInterrupt:
            return code


def _read_times(options: argparse.Namespace) -> dict[str, tuple[int, int]]:
    """Return modification times and sizes of the set's files."""
    try:
        files = [Path(source.name) for source in find_sources(options.paths, options.exclude)]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}
    except (CannotCheck, OSError):
        return {}


def _make_plan(options: argparse.Namespace) -> int:
    try:
        with pause_gc():  # almost nothing becomes garbage before the end
            plan = asyncio.run(_compute_plan(options))
        if options.out is not None:
            write_plan(options.out, plan, _read_options(options))
    except (ReportedError, OSError) as error:  # --watch goes on
        print(f"podless: {describe_fault(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return 1
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(render_plan(plan, options.output, color=color, details=options.details))
    return plan.exit_code


def _read_options(options: argparse.Namespace) -> PlanOptions:
    """Return the options of the plan. Raises CannotPlan."""
    return PlanOptions(
        mode=options.mode,
        order=options.order,
        manager=options.field_manager,
        force=options.force_conflicts,
        namespace=options.namespace,
        prune=options.prune,
        applyset=options.applyset,
        user=options.user,
        groups=tuple(options.groups),
        uid=options.uid,
        call_webhooks=options.call_webhooks,
        services=dict(options.service),
        kubernetes_version=options.kubernetes_version,
    )


async def _compute_plan(options: argparse.Namespace) -> Plan:
    chosen = _read_options(options)
    items, faults = read_set(find_sources(options.paths, options.exclude))
    progress = Progress()
    try:
        with tempfile.TemporaryDirectory(prefix="podless-plan-") as scratch:
            source = await _choose_source(options, Path(scratch) / "state.backup")
            return await make_plan(items, faults, source, chosen, progress.show)
    finally:
        progress.clear()


async def _choose_source(options: argparse.Namespace, scratch: Path) -> PlanSource:
    """Return the starting state of the plan. scratch: a file for the state of a data folder. Raises CannotPlan."""
    if options.dump and options.from_nothing:
        raise CannotPlan("--from and --from-nothing exclude each other")
    database = Path(options.dump) / DATABASE if options.dump else None
    if database is not None and database.exists():
        from podless.cli.backup import save_state

        try:
            await save_state(database, options.at, scratch)
        except HistoryCompacted as error:
            raise CannotPlan(
                f"{options.dump}: the history has no state at {options.at}: the oldest one is revision {error.revision}"
            ) from None
        except (StoreError, ValueError) as error:
            raise CannotPlan(str(error)) from None
        return Dump(str(scratch), f"{options.dump} at {options.at}" if options.at else options.dump)
    if options.at:
        raise CannotPlan("--at requires --from with a server's data folder")
    if options.dump:
        return Dump(options.dump)
    return EmptySource() if options.from_nothing else RunningAPI(access.read_access(options), seconds=options.timeout)
