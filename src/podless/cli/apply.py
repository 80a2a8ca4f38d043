"""podless apply: carry out a plan that `podless plan --out` saved."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from podless.cli import access
from podless.plan.carry import ApplyResult, carry_out
from podless.plan.options import CannotPlan
from podless.remote import RemoteError
from podless.remote.cluster import RemoteCluster
from podless.remote.kubeconfig import BadKubeconfig
from podless.runtime.files import describe_fault
from podless.version import __version__


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "apply",
        help="carry out a plan",
        description="Carry out a plan that `podless plan --out FILE` has written, on the same API and as it was "
        "planned: each object is written only if it is still in the state that the plan has read. If it is "
        "interrupted, run it again: it continues. Exit status: 0 if all is done, 1 if something was rejected.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the plan")
    access.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Apply the plan. Returns 1, with one line on standard error, if that fails."""
    try:
        carried = asyncio.run(_apply(options))
    except (CannotPlan, BadKubeconfig) as error:
        print(f"podless: {error}", file=sys.stderr)
        return 1
    except RemoteError as error:
        print(f"podless: {error}; run it again to go on", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("podless: interrupted; run it again to go on", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"podless: {describe_fault(error, options.file)}", file=sys.stderr)
        return 1
    for text in carried.warnings:
        print(f"warning: {text}", file=sys.stderr)
    print(f"Applied: {carried.format_summary()}")
    return 1 if carried.refused else 0


async def _apply(options: argparse.Namespace) -> ApplyResult:
    options.file.stat()  # fails first if there is no plan, before a missing kubeconfig is reported
    reached = access.read_access(options)
    async with RemoteCluster(reached, f"podless-apply/{__version__}") as cluster:
        return await carry_out(options.file, cluster, reached.url, print)
