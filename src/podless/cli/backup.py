"""podless backup: save the whole state of a running server, a data folder or an etcd cluster in one file."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import quote

from podless.cli import options
from podless.cli.progress import Progress
from podless.cluster import configure_store
from podless.history.moments import find_revision
from podless.remote import kubeconfig as configs
from podless.remote.cluster import RemoteCluster, RemoteGone, retry_call
from podless.runtime.messages import format_count
from podless.runtime.option import ReportedError, report_errors
from podless.settings import ClusterSettings
from podless.store import HistoryCompacted, Store, StoreError, StoreInUse, backup
from podless.store.engines import DATABASE, ENGINES

_TRIES = 5


add_options = options.add_store_options


def run(args: argparse.Namespace) -> int:
    """Write the backup. Returns 1, with one line on standard error, if that fails."""
    if args.file.is_dir():
        raise ReportedError(f"{args.file}: is a directory")
    new = args.file.with_name(f".{args.file.name}.new")
    try:
        with report_errors(ValueError):
            asyncio.run(_run(args, new))
        new.replace(args.file)
    except HistoryCompacted as error:
        text = f"the history has no state at {args.at}: the oldest one is revision {error.revision}"
        raise ReportedError(text) from None
    except OSError as error:
        if error.filename is None or str(error.filename) == str(new):  # the user's file name, not the temporary one
            error.filename = args.file
        raise
    finally:
        with contextlib.suppress(OSError):  # this error has been reported before, as the reason why nothing was written
            new.unlink(missing_ok=True)
    return 0


async def _run(args: argparse.Namespace, new: Path) -> None:
    database, kubeconfig = args.data / DATABASE, args.data / "kubeconfig"

    async def write_from_source() -> None:
        if args.kubeconfig is not None:
            await _write_backup(new, _read_online(args.kubeconfig, args.at))
        elif ENGINES[args.store].shared:
            await _write_backup(new, _read_store(options.make_chosen_store(args), None, args.at))
        elif database.exists():
            await _write_backup(new, _read_store(options.make_chosen_store(args), kubeconfig, args.at))
        elif kubeconfig.exists():  # a server that uses etcd
            await _write_backup(new, _read_online(kubeconfig, args.at))
        else:
            raise StoreError(f"{database}: no such database")

    await retry_call(write_from_source, HistoryCompacted, RemoteGone, tries=_TRIES)


async def save_state(database: Path, at: str, file: Path) -> None:
    """Write a backup of a folder's database, at a revision or a time ("": now).

    If a server uses the folder, the state comes from the server. Raises ValueError, StoreError, RemoteError,
    BadKubeconfig, OSError.
    """
    store = configure_store(ClusterSettings(), database, compacting=False)
    await _write_pages(file, _read_store(store, database.with_name("kubeconfig"), at), lambda _: None)


async def _read_store(store: Store, kubeconfig: Path | None, at: str) -> AsyncIterator[tuple[int, bytes]]:
    """Yield the pages of a store, or of the server that uses it."""
    try:
        await store.open()
    except StoreInUse:
        if kubeconfig is None:
            raise
        async for page in _read_online(kubeconfig, at):
            yield page
        return
    try:
        await backup.refuse_half(store)
        revision, after = await find_revision(store, at) if at else await store.read_revision(), ""
        while True:
            lines, after = await backup.read_page(store, revision, after)
            yield revision, lines
            if not after:
                return
    finally:
        await store.close()


async def _read_online(kubeconfig: Path, at: str) -> AsyncIterator[tuple[int, bytes]]:
    async with RemoteCluster(configs.read_kubeconfig(kubeconfig), "podless-backup") as cluster:
        revision, after = "", ""
        while True:
            path = f"/podless/backup?revision={revision}&after={quote(after, safe='')}"
            path += f"&at={quote(at, safe='')}" if at and not revision else ""
            lines, headers = await cluster.read(path)
            revision, after = headers["Podless-Revision"], bytes.fromhex(headers["Podless-After"]).decode()
            yield int(revision), lines
            if not after:
                return


async def _write_backup(new: Path, pages: AsyncIterator[tuple[int, bytes]]) -> None:
    progress = Progress()
    records, revision = await _write_pages(new, pages, progress.show)
    progress.end(f"backed up {format_count(records, 'record')} at revision {revision}")


async def _write_pages(
    new: Path, pages: AsyncIterator[tuple[int, bytes]], say: Callable[[str], None]
) -> tuple[int, int]:
    """Write pages into a file. Returns the number of records, and their revision."""
    foot, begun = backup.BackupFooter(), 0
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        async for revision, lines in pages:
            text = lines if begun else backup.backup_head(revision) + lines
            begun = revision
            file.write(text)
            foot.count_lines(text)
            say(f"{foot.records - 1} records")
        file.write(foot.encode_line())
        file.flush()
        os.fsync(file.fileno())
    return foot.records - 1, begun
