"""Maintenance of the SQLite engine: forget history, free space, test whether writes work again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from podless.store.sqlite.format import checksum_of
from podless.store.sqlite.past import Past
from podless.store.sqlite.rows import COLUMNS

# looks only at what was written between the two revisions, so that its cost is that of those writes
_REPLACED = """
DELETE FROM log WHERE sequence IN (
    SELECT older.sequence FROM log AS newer JOIN log AS older
    ON older.key = newer.key AND older.revision < newer.revision
    WHERE newer.sequence > :old AND newer.sequence <= :new
)
"""
_DELETED = "DELETE FROM log WHERE value IS NULL AND sequence > :old AND sequence <= :new"
_STATE = "UPDATE state SET compacted = ?, checksum = ?"
_PAGES = 512  # of the file that are given back in one step
_FREE = 4  # they are given back where more than one in so many is free


def forget_history(database: sqlite3.Connection, old: int, new: int, past: Past, *, full: bool = False) -> None:
    """Forget what was replaced or deleted up to the revision `new`, as was done up to `old`. Raises sqlite3.Error.

    past: packs what is kept for longer. full: the disk is full, so nothing is packed. The transaction need not be
    durable: the next write makes it so, and after a crash the history is forgotten again.
    """
    with _change_past(database, past):
        between = {"old": old, "new": new}
        if full or not past.keeps:
            past.skip(database, new)
            database.execute(_REPLACED, between)
            database.execute(_DELETED, between)
        else:
            rows = database.execute(f"{_REPLACED} RETURNING {COLUMNS}", between).fetchall()
            rows += database.execute(f"{_DELETED} RETURNING {COLUMNS}", between).fetchall()
            past.pack(database, rows, old)
        database.execute(_STATE, (new, checksum_of(new)))


@contextmanager
def _change_past(database: sqlite3.Connection, past: Past) -> Iterator[None]:
    """Make a transaction of what is done within, without waiting for the disk. A failure restores the past."""
    database.execute("PRAGMA synchronous = NORMAL")
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
            past.reload(database)
        database.execute("PRAGMA synchronous = FULL")


def forget_past(database: sqlite3.Connection, past: Past, now: int, *, full: bool = False) -> bool:
    """Forget packed states by a step, where there are more than is wanted; whether so. Raises sqlite3.Error.

    now: milliseconds since 1970. full: the disk is full, so all of them go.
    """
    due = past.due(database, now, full=full)
    if due is None:
        return False
    with _change_past(database, past):
        past.forget(database, *due)
    return True


def give_back(database: sqlite3.Connection, *, most: bool = False) -> bool:
    """Make the file smaller by a step, where much of it is free; whether that was so. Raises sqlite3.Error.

    most: also where little of it is free, and the log too, for the disk is full.
    """
    free, pages = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if most and not free:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return False
    if not most and (free <= _PAGES or free * _FREE <= pages):
        return False
    # a script is carried out to its end; a statement without columns is not, and would free one page
    database.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # which is what makes the file itself shorter
    return True


def probe_write(database: sqlite3.Connection) -> None:
    """Write something that says nothing; what does not change is not written. Raises sqlite3.Error."""
    database.execute("UPDATE state SET probes = probes + 1")
