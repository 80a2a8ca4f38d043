"""Maintenance of the SQLite engine: forgets history, frees space, and tests whether writes work again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from podless.store.sqlite.format import checksum_of
from podless.store.sqlite.past import PackedHistory
from podless.store.sqlite.rows import COLUMNS

# reads only rows written between the two revisions, so the cost is in proportion to these writes
_REPLACED = """
DELETE FROM log WHERE sequence IN (
    SELECT older.sequence FROM log AS newer JOIN log AS older
    ON older.key = newer.key AND older.revision < newer.revision
    WHERE newer.sequence > :old AND newer.sequence <= :new
)
"""
_DELETED = "DELETE FROM log WHERE value IS NULL AND sequence > :old AND sequence <= :new"
_STATE = "UPDATE state SET compacted = ?, checksum = ?"
_PAGES = 512  # pages of the file that one step frees
_FREE = 4  # pages are freed if more than one in so many is free


def forget_history(
    database: sqlite3.Connection, old: int, new: int, past: PackedHistory, *, full: bool = False
) -> None:
    """Forget states that were replaced or deleted after `old`, up to the revision `new`. Raises sqlite3.Error."""
    with _change_past(database, past):
        between = {"old": old, "new": new}
        if full or not past.keeps_any:
            past.skip_to(database, new)
            database.execute(_REPLACED, between)
            database.execute(_DELETED, between)
        else:
            rows = database.execute(f"{_REPLACED} RETURNING {COLUMNS}", between).fetchall()
            rows += database.execute(f"{_DELETED} RETURNING {COLUMNS}", between).fetchall()
            past.pack_rows(database, rows, old)
        database.execute(_STATE, (new, checksum_of(new)))


@contextmanager
def _change_past(database: sqlite3.Connection, past: PackedHistory) -> Iterator[None]:
    """Run the block in a transaction, without waiting for the disk. An error restores `past`."""
    database.execute("PRAGMA synchronous = NORMAL")
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
            past.reload_state(database)
        database.execute("PRAGMA synchronous = FULL")


def forget_past(database: sqlite3.Connection, past: PackedHistory, now: int, *, full: bool = False) -> bool:
    """Forget packed states beyond the bounds, by one step. Returns whether there were any. Raises sqlite3.Error.

    now: milliseconds since 1970. full: the disk is full, so all states are forgotten.
    """
    due = past.find_due(database, now, full=full)
    if due is None:
        return False
    with _change_past(database, past):
        past.forget_before(database, *due)
    return True


def shrink_file(database: sqlite3.Connection, *, as_much: bool = False) -> bool:
    """Make the file smaller by one step if much of it is free. Returns whether it was. Raises sqlite3.Error.

    as_much: also if little is free, and the write-ahead log, too, because the disk is full.
    """
    free, pages = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if as_much and not free:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return False
    if not as_much and (free <= _PAGES or free * _FREE <= pages):
        return False
    # a script runs to its end; execute() would stop after the first page, because the statement has no columns
    database.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # only the checkpoint makes the file itself shorter
    return True


def probe_write(database: sqlite3.Connection) -> None:
    """Write a counter to test writes: unchanged data would not be written. Raises sqlite3.Error."""
    database.execute("UPDATE state SET probes = probes + 1")
