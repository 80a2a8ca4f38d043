"""podless restore: make the state of a folder that of a backup."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podless.cli.progress import Progress
from podless.meta.files import private
from podless.meta.option import StartError
from podless.store import StoreError, backup
from podless.store.sqlite import SQLiteStore


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "restore",
        help="make the state of a folder that of a backup",
        description="Make the state of a server's folder that of a backup; no server may run on it meanwhile. Objects "
        "keep their uids; resourceVersions go on behind those of the folder and of the backup, and watches and lists "
        "that began before are told to begin anew. What is interrupted can be done again.",
    )
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--data", metavar="DIR", type=Path, default=Path("podless-data"), help="the server's folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Restore. Returns 1, with one line on standard error, where that cannot be done."""
    try:
        revision = backup.check(_lines(options.file))
        options.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        private(options.data)
        asyncio.run(_run(options, revision))
    except backup.BadBackup as error:
        print(f"podless: {options.file}: {error}", file=sys.stderr)
        return 1
    except (StoreError, StartError) as error:
        print(f"podless: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"podless: {error.filename}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 1
    return 0


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


async def _run(options: argparse.Namespace, revision: int) -> None:
    progress = Progress()
    store = SQLiteStore(options.data / "podless.db")
    await store.open()
    try:
        done = await backup.restore(
            store, revision, _lines(options.file), lambda done: progress.say(f"{done} records written")
        )
        progress.end(f"{done} records are restored; revisions go on behind {await store.current()}")
    finally:
        await store.close()
