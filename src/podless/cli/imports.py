"""podless import: create the objects in files on any Kubernetes API server."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace

from podless.cli import access, auditlog
from podless.cli.progress import Progress
from podless.cli.transfer.documents import Documents
from podless.cli.transfer.load import Import
from podless.cli.transfer.order import Filter, Order, choose_kinds, read_definitions
from podless.meta.errors import BadRequest
from podless.meta.selectors import parse_labels
from podless.remote import RemoteError
from podless.remote.cluster import RemoteCluster
from podless.remote.resources import discover_resources
from podless.runtime.option import ReportedError, report_errors


def run(args: argparse.Namespace) -> int:
    """Import. Returns 1, with a line on standard error for each error, if an object could not be created."""
    if args.audit_log:
        return auditlog.run(args)
    try:
        with report_errors(BadRequest):
            labels = parse_labels(args.selector) if args.selector else None
            selection = Filter((), args.namespace, labels)
            with Documents(args.paths) as documents:
                return asyncio.run(_import_objects(args, documents, selection))
    except RemoteError as error:
        raise ReportedError(f"{error}; run it again to go on") from None
    except KeyboardInterrupt:
        print("podless: interrupted; run it again to go on", file=sys.stderr)
        return 130


async def _import_objects(args: argparse.Namespace, documents: Documents, selection: Filter) -> int:
    progress = Progress()
    unread: list[str] = []

    def record_unread(text: str) -> None:
        unread.append(text)
        progress.print_line(text)

    access_ = access.read_access(args)
    async with RemoteCluster(access_, "podless-import") as cluster:
        if args.kind:
            served = await discover_resources(cluster, progress.print_line)
            with report_errors(LookupError):
                kinds = choose_kinds(served, read_definitions(documents), args.kind)
            selection = replace(selection, kinds=kinds)
        order = Order(documents, selection, record_unread)
        job = Import(cluster, documents, order, progress, existing=args.existing)
        await job.run()
    progress.end(f"imported {job.created}, changed {job.updated}, unchanged {job.unchanged}, failed {job.failed}")
    return 1 if job.failed or unread else 0
