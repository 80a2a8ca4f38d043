"""Makes databases from other data: the state of another store at an earlier revision, or the changes of a log."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from podless.runtime import clock
from podless.store.contract import LoggedWrite, Store
from podless.store.sqlite import format
from podless.store.sqlite.authors import AuthorTable
from podless.store.sqlite.rows import row_checksum

_PAGE = 500  # records in one read
_STATE = "UPDATE state SET compacted = ?, checksum = ?"


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
    database = format.open_database(path)
    try:
        database.execute("BEGIN")
        sequence, now = 0, int(clock.time() * 1000)
        for key, stored, written, created in records:
            sequence = max(sequence + 1, written)
            row = (key, stored.data, stored.offset, written, created, sequence, now, 0, None)
            database.execute(format.INSERT, (*row, row_checksum(*row)))
        newest = max(sequence, revision)
        database.execute(_STATE, (newest, format.checksum_of(newest)))
        database.execute("COMMIT")
    finally:
        database.close()
    return len(records)


def write_log(changes: Iterable[LoggedWrite], path: Path) -> None:
    """Make a database whose log is these changes, oldest first. Their sequence numbers are ignored.

    Raises StoreError, OSError, sqlite3.Error.
    """
    database = format.open_database(path)
    authors = AuthorTable()
    try:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        sequence = at = 0
        for change in changes:
            if not sequence:
                database.execute(_STATE, (change.revision - 1, format.checksum_of(change.revision - 1)))
            sequence, at = max(sequence + 1, change.revision), max(at, change.at)
            value, offset = change.stored[:2] if change.stored is not None else (None, 0)
            number = authors.number_of(database, change.author)
            audit = change.author.audit or None
            row = (change.key, value, offset, change.revision, change.created, sequence, at, number, audit)
            database.execute(format.INSERT, (*row, row_checksum(*row)))
        database.execute("COMMIT")
    finally:
        database.close()
