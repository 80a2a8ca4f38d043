"""podless restore: restore a backup into a data folder or an etcd cluster."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

from podless.cli import options
from podless.cli.progress import Progress
from podless.controllers import leader
from podless.runtime.files import make_private
from podless.runtime.messages import format_count
from podless.runtime.option import ReportedError
from podless.store import Store, StoreError, backup
from podless.store.engines import ENGINES

_APISERVER_LEASES = "/masterleases/"  # in etcd: one key for each running kube-apiserver


add_options = options.add_store_options


def run(args: argparse.Namespace) -> int:
    """Restore. Returns 1, with one line on standard error, if that fails."""
    try:
        summary = backup.check_backup(_read_lines(args.file))
        store = options.make_chosen_store(args)
        if not ENGINES[args.store].shared:
            args.data.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_private(args.data)
        asyncio.run(_restore_backup(args, summary, store))
    except backup.BadBackup as error:
        raise ReportedError(f"{args.file}: {error}") from None
    return 0


def _read_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


async def _restore_backup(args: argparse.Namespace, summary: backup.BackupSummary, store: Store) -> None:
    progress = Progress()
    bump = args.bump_revision if args.bump_revision is not None else ENGINES[args.store].skipped
    try:
        await store.open()
        await _reserve_store(store)
        lines = _read_lines(args.file)
        count = await backup.restore_backup(store, summary.revision + bump, lines, progress.show)
        progress.end(f"restored {format_count(count, 'record')}; new revisions are above {await store.read_revision()}")
    finally:
        await store.close()


async def _reserve_store(store: Store) -> None:
    """Keep servers from starting, and raise StoreError if one is running. SQLite's lock does this for a database."""
    marked = await backup.mark_restoring(store)
    if store.prompt:
        return
    problem = ""
    if (await store.read_range(_APISERVER_LEASES))[0]:
        problem = "a kube-apiserver uses this etcd; stop it first"
    elif name := await leader.find_holder(store):
        problem = f"servers run on this etcd, such as {name}; stop them first"
    if problem:
        if marked:
            await backup.unmark_restoring(store)
        raise StoreError(problem)
