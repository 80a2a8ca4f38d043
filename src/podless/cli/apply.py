"""podless apply: apply a plan that `podless plan --out` saved."""

from __future__ import annotations

import argparse
import asyncio
import sys

from podless.cli import access
from podless.plan.apply import ApplyResult, apply_plan
from podless.remote import RemoteError
from podless.remote.cluster import RemoteCluster
from podless.runtime.files import describe_fault
from podless.runtime.option import ReportedError


def run(args: argparse.Namespace) -> int:
    """Apply the plan. Returns 1, with one line on standard error, if that fails."""
    try:
        result = asyncio.run(_apply_plan(args))
    except RemoteError as error:
        raise ReportedError(f"{error}; run it again to go on") from None
    except KeyboardInterrupt:
        print("podless: interrupted; run it again to go on", file=sys.stderr)
        return 130
    except OSError as error:
        raise ReportedError(describe_fault(error, args.file)) from None
    for text in result.warnings:
        print(f"warning: {text}", file=sys.stderr)
    print(f"Applied: {result.format_summary()}")
    return 1 if result.refused else 0


async def _apply_plan(args: argparse.Namespace) -> ApplyResult:
    args.file.stat()  # fails first if there is no plan, before a missing kubeconfig is reported
    reached = access.read_access(args)
    async with RemoteCluster(reached, "podless-apply") as cluster:
        return await apply_plan(args.file, cluster, reached.url, print)
