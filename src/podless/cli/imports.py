"""podless import: create the objects in files on any Kubernetes API server."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from podless.cli import access, auditlog
from podless.cli.options import DefaultsFormatter
from podless.cli.progress import Progress
from podless.cli.transfer.documents import Documents
from podless.cli.transfer.load import EXISTING, Import
from podless.cli.transfer.order import Filter, Order, read_definitions
from podless.cli.transfer.resources import choose_kinds, discover_resources
from podless.meta.errors import BadRequest
from podless.meta.selectors import parse_labels
from podless.remote import RemoteError
from podless.remote.cluster import RemoteCluster
from podless.runtime.files import describe_fault
from podless.version import __version__


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "import",
        help="create the objects in files on any Kubernetes API server",
        description="Create the objects in files on any Kubernetes API server: definitions first, then "
        "namespaces, owners before their dependents, with status and new uids. Objects that already exist"
        " unchanged are skipped, so you can run an interrupted import again.",
        formatter_class=DefaultsFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="file or folder; - for standard input")
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="NAME",
        help="only objects of this resource, and what they need (repeatable)",
    )
    parser.add_argument(
        "-n",
        "--namespace",
        action="append",
        default=[],
        metavar="NAME",
        help="only objects in this namespace (repeatable)",
    )
    parser.add_argument("-l", "--selector", default="", help="only objects that match this label selector")
    parser.add_argument(
        "--existing",
        choices=EXISTING,
        default=EXISTING[0],
        help="what to do with an existing object that differs: report it, skip it, or overwrite it",
    )
    parser.add_argument(
        "--audit-log",
        action="store_true",
        help="the files are audit logs of a kube-apiserver (JSON lines, level RequestResponse): make a data folder of"
        " their changes for podless log, show, diff and blame",
    )
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path("podless-history"), help="the new folder, with --audit-log"
    )
    access.add_options(parser)
    parser.set_defaults(run=lambda options: auditlog.run(options) if options.audit_log else run(options))


def run(options: argparse.Namespace) -> int:
    """Import. Returns 1, with a line on standard error for each error, if an object could not be created."""
    try:
        labels = parse_labels(options.selector) if options.selector else None
        selection = Filter((), options.namespace, labels)
        with Documents(options.paths) as documents:
            return asyncio.run(_import_objects(options, documents, selection))
    except BadRequest as error:
        print(f"podless: {error}", file=sys.stderr)
    except RemoteError as error:
        print(f"podless: {error}; run it again to go on", file=sys.stderr)
    except KeyboardInterrupt:
        print("podless: interrupted; run it again to go on", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"podless: {describe_fault(error)}", file=sys.stderr)
    return 1


async def _import_objects(options: argparse.Namespace, documents: Documents, selection: Filter) -> int:
    progress = Progress()
    unread: list[str] = []

    def record_unread(text: str) -> None:
        unread.append(text)
        progress.print_line(text)

    access_ = access.read_access(options)
    async with RemoteCluster(access_, f"podless-import/{__version__}") as cluster:
        if options.kind:
            served = await discover_resources(cluster, progress.print_line)
            try:
                kinds = choose_kinds(served, read_definitions(documents), options.kind)
            except LookupError as error:
                raise BadRequest(str(error)) from None
            selection = replace(selection, kinds=kinds)
        order = Order(documents, selection, record_unread)
        job = Import(cluster, documents, order, progress.show, progress.print_line, existing=options.existing)
        await job.run()
    progress.end(f"imported {job.created}, changed {job.updated}, unchanged {job.unchanged}, failed {job.failed}")
    return 1 if job.failed or unread else 0
