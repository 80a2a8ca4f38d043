"""A database with the state of another one at an earlier revision."""

from __future__ import annotations

from pathlib import Path

from podless.runtime import clock
from podless.store import format
from podless.store.contract import Store
from podless.store.rows import row_checksum

_PAGE = 500  # records that are read together
_STATE = "UPDATE state SET compacted = ?, checksum = ?"


async def copy_state(store: Store, revision: int, path: Path) -> int:
    """Make a database of what a store had at a revision, with the same resourceVersions. Returns how many records.

    Raises Compacted, StoreError, OSError.
    """
    records, after = [], ""
    while True:
        page, after = await store.page(revision, after, _PAGE)
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
