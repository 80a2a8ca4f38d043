"""Makes databases from other data: the state of another store at an earlier revision, or the changes of a log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path

from podless.runtime import clock
from podless.store.contract import NOBODY, LoggedWrite, Store
from podless.store.sqlite import format
from podless.store.sqlite.logrows import AuthorTable, row_checksum

_PAGE = 500  # records in one read


async def copy_state(store: Store, revision: int, path: Path) -> int:
    """Create a database with the state of a store at a revision, with the same resourceVersions.

    Returns the number of records. Raises HistoryCompacted, StoreError, OSError.
    """
    records, after = [], ""
    while True:
        page, after = await store.read_page(revision, after, _PAGE)
        records += page
        if not after:
            break
    records.sort(key=lambda record: record.revision)
    now = int(clock.time() * 1000)
    with closing(format.open_database(path)) as database:
        database.execute("BEGIN")
        newest = _insert_changes(
            database,
            (LoggedWrite(key, written, 0, now, NOBODY, stored, created) for key, stored, written, created in records),
        )
        format.write_compacted(database, max(newest, revision))
        database.execute("COMMIT")
    return len(records)


def write_log(changes: Iterable[LoggedWrite], path: Path) -> None:
    """Make a database whose log is these changes, oldest first. Their sequence numbers are ignored.

    Raises StoreError, OSError, sqlite3.Error.
    """
    with closing(format.open_database(path)) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        remaining = iter(changes)
        for first in remaining:
            format.write_compacted(database, first.revision - 1)
            _insert_changes(database, chain((first,), remaining))
        database.execute("COMMIT")


def _insert_changes(database: sqlite3.Connection, changes: Iterable[LoggedWrite]) -> int:
    """Insert changes, oldest first, with new sequence numbers. Returns the last one, 0 without changes."""
    authors, sequence, at = AuthorTable(), 0, 0
    for change in changes:
        sequence, at = max(sequence + 1, change.revision), max(at, change.at)
        value, offset = change.stored[:2] if change.stored is not None else (None, 0)
        number = authors.number_of(database, change.author)
        audit = change.author.audit or None
        row = (change.key, value, offset, change.revision, change.created, sequence, at, number, audit)
        database.execute(format.INSERT, (*row, row_checksum(*row)))
    return sequence
