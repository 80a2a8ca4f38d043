"""podless plan: show what applying a set would do, without changing anything."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from podless.apis import features
from podless.check.sources import STDIN, CannotCheck, find_sources
from podless.cli import access, arguments
from podless.cli.engine import DATABASE
from podless.cli.progress import Progress
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import MODES, ORDERS, CannotPlan, PlanOptions
from podless.plan.output import FORMS, render_plan
from podless.plan.planfile import write_plan
from podless.plan.result import Plan
from podless.plan.run import PlanSource, make_plan
from podless.plan.sources import Dump, Nothing
from podless.remote import RemoteError
from podless.remote.kubeconfig import BadKubeconfig
from podless.runtime.files import describe_fault
from podless.runtime.gcpause import pause_gc
from podless.runtime.option import StartError
from podless.settings import parse_service
from podless.store import HistoryCompacted, StoreError

_LOOK = 0.5  # seconds between two checks of the files
_DESCRIPTION = (
    "Show what applying a set of manifests would do: what would be created, changed, deleted and rejected, by the "
    "server's own code on a copy of the state. Nothing is written. Exit status: 0 if there is nothing to do, 2 if "
    "there are changes, 1 if something would be rejected or could not be read, or if the arguments are wrong (as "
    "`terraform plan -detailed-exitcode`)."
)


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser("plan", help="show what applying manifests would do", description=_DESCRIPTION)
    parser.add_argument("paths", metavar="PATH", nargs="+", help="file, folder or pattern; - for standard input")
    _add_start(parser.add_argument_group("starting state", "a running API if nothing is given, as for kubectl"))
    _add_apply_options(parser.add_argument_group("how to apply"))
    show = parser.add_argument_group("output")
    show.add_argument("--output", "-o", choices=FORMS, default=FORMS[0], help="output format (default: %(default)s)")
    show.add_argument("--details", action="store_true", help="also show each field that the server adds")
    show.add_argument("--watch", action="store_true", help="plan again whenever the files change")
    show.add_argument("--out", metavar="FILE", type=Path, help="save the plan, for podless apply FILE")
    access.add_options(parser)
    parser.set_defaults(run=run)


def _add_start(start: Any) -> None:
    """Add the options that select the starting state of the plan."""
    start.add_argument(
        "--from",
        dest="dump",
        metavar="PATH",
        help="start from a backup, an export, a folder of applied manifests, or a server's data folder",
    )
    start.add_argument(
        "--at",
        metavar="REVISION|TIME",
        default="",
        help="with --from and a server's data folder: its state at a revision or a time (default: now)",
    )
    start.add_argument("--from-nothing", action="store_true", help="start from a new cluster")
    start.add_argument(
        "--kubernetes-version", metavar="1.N", choices=features.NAMES, default="", help="Kubernetes release to plan for"
    )
    start.add_argument(
        "--request-timeout",
        dest="timeout",
        metavar="SECONDS",
        type=arguments.seconds,
        default=30.0,
        help="time for one answer of the API (default: 30)",
    )
    start.add_argument(
        "--call-webhooks", action="store_true", help="call admission and conversion webhooks, with dryRun"
    )
    start.add_argument(
        "--service",
        metavar="NAMESPACE/NAME[:PORT]=HOST:PORT",
        type=arguments.as_type(parse_service),
        action="append",
        default=[],
        help="address of the webhooks behind a Service (repeatable)",
    )


def _add_apply_options(how: Any) -> None:
    """Add the options for how the set is applied."""
    how.add_argument(
        "--mode", choices=MODES, default=MODES[0], help="how kubectl would write the objects (default: %(default)s)"
    )
    how.add_argument(
        "--order", choices=ORDERS, default=ORDERS[0], help="order in which to apply (default: %(default)s)"
    )
    how.add_argument("--field-manager", default="", metavar="NAME", help="field manager (default: kubectl's)")
    how.add_argument("--force-conflicts", action="store_true", help="take over fields of other managers")
    how.add_argument("-n", "--namespace", default="", help="namespace of all objects (default: of the context)")
    how.add_argument(
        "--exclude",
        metavar="PATTERN",
        action="append",
        default=[],
        help="pattern of file and folder names to skip in folders (repeatable)",
    )
    how.add_argument(
        "--prune",
        metavar="SELECTOR",
        default="",
        help="delete objects that match this selector and are no longer in the set",
    )
    how.add_argument(
        "--applyset",
        metavar="[RESOURCE[.GROUP]/]NAME",
        default="",
        help="delete members of the ApplySet of this parent object that are no longer in the set",
    )
    _add_user_options(how)


def _add_user_options(how: Any) -> None:
    """Add the options for the user who applies the set."""
    how.add_argument("--as", dest="user", metavar="USER", default="", help="plan the writes of this user")
    how.add_argument(
        "--as-group", dest="groups", metavar="GROUP", action="append", default=[], help="group of the user (repeatable)"
    )
    how.add_argument("--as-uid", dest="uid", metavar="UID", default="", help="UID of the user")


def run(options: argparse.Namespace) -> int:
    """Plan, and print the plan; with --watch again after each change. Returns the exit code of the last plan."""
    if not options.watch:
        return _make_plan(options)
    if STDIN in options.paths:
        print("podless: --watch follows files, not the standard input", file=sys.stderr)
        return 1
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
    except (CannotPlan, CannotCheck, StartError, BadKubeconfig, RemoteError) as error:
        print(f"podless: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"podless: {describe_fault(error)}", file=sys.stderr)
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
    return Nothing() if options.from_nothing else RunningAPI(access.read_access(options), seconds=options.timeout)
