"""podless export: write all or selected objects of any Kubernetes API server as YAML or JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from podless.cli import access
from podless.cli.progress import Progress
from podless.cli.transfer.documents import DocumentStream, ExportSink, Folder
from podless.cli.transfer.export import Choice, Export
from podless.remote.cluster import RemoteCluster
from podless.runtime.messages import format_count
from podless.runtime.option import report_errors


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that exclude each other."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-f", "--file", metavar="FILE", default="-", help="output file (default: standard output)")
    group.add_argument("--folder", metavar="DIR", type=Path, help="empty folder, for one file per object")


def run(args: argparse.Namespace) -> int:
    """Export. Returns 1, with a line on standard error for each error, if something could not be read."""
    if bool(args.kinds) == args.all:
        print("podless: name the kinds, or use --all", file=sys.stderr)
        return 2
    choice = Choice(args.kinds, args.namespace, args.selector, args.only)
    sink: ExportSink = Folder(args.folder, args.output) if args.folder else DocumentStream(args.file, args.output)
    with report_errors(LookupError):
        return asyncio.run(_export_objects(args, choice, sink))


async def _export_objects(args: argparse.Namespace, choice: Choice, sink: ExportSink) -> int:
    progress = Progress()
    async with RemoteCluster(access.read_access(args), "podless-export") as cluster:
        with sink:
            export = Export(cluster, choice, sink, progress)
            await export.run()
    progress.end(f"exported {format_count(export.done, 'object')}")
    return 1 if export.failed else 0
