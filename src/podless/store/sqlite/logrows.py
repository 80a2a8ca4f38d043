"""Rows of the SQLite engine's log: checksums of all columns, reads, and the authors that rows name by number.

Few authors make many commits, so the engine stores each author once. Functions that read rows raise StoreError.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable
from zlib import crc32

import orjson

from podless.store import keys
from podless.store.contract import Author, Record, StoreDamaged
from podless.store.keys import StoredValue
from podless.store.sqlite import refusals

Row = tuple[str, bytes | None, int, int, int, int, int, int, bytes | None, int]
COLUMNS = "key, value, offset, revision, created, sequence, at, author, audit, checksum"
AUTHORS_SCHEMA = """
CREATE TABLE authors (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL);
"""
_NUMBERS = struct.Struct("<7q").pack
# The inner query finds the rows of the state by the index alone; only these are read. SQLite documents that bare
# columns beside max() come from the row with the maximum, and that a cross join keeps its order.
_STATE = f"""
SELECT {", ".join(f"log.{name}" for name in COLUMNS.split(", "))} FROM (
    SELECT key, sequence, max(revision) FROM log
    WHERE key >= ? AND key < ? AND revision <= ? GROUP BY key ORDER BY key LIMIT ?
) AS newest CROSS JOIN log ON log.sequence = newest.sequence
"""
_CHANGES = f"""
SELECT {COLUMNS} FROM log WHERE sequence > ? AND revision > ? AND key >= ? AND key < ? ORDER BY sequence LIMIT ?
"""
_BEFORE = f"SELECT {COLUMNS} FROM log WHERE key = ? AND revision < ? ORDER BY revision DESC LIMIT 1"
_PAGE_BYTES = 2 << 20  # bytes of objects in one read
_CACHED_AUTHORS = 1024  # authors whose numbers are cached
# clients choose the User-Agent and the field manager. Above this number of authors these two are left out, so that the
# table stays bounded; above twice the number, no new author is recorded
_MAX_AUTHORS = 50_000


def row_checksum(
    key: str,
    value: bytes | None,
    offset: int,
    revision: int,
    created: int,
    sequence: int,
    at: int,
    author: int = 0,
    audit: bytes | bytearray | None = None,
) -> int:
    """Return the checksum of a row (CRC-32)."""
    head = _NUMBERS(offset, revision, created, sequence, at, author, -1 if value is None else len(value))
    return crc32(value or b"", crc32(head + key.encode() + (audit or b"")))


def verify_row(row: Row) -> Row:
    """Return the row. Raises StoreDamaged if its checksum is wrong."""
    key, value, offset, revision, created, sequence, at, author, audit, check = row
    try:
        # inlined `row_checksum`, because a start computes it for every object
        head = _NUMBERS(offset, revision, created, sequence, at, author, -1 if value is None else len(value))
        if crc32(value or b"", crc32(head + key.encode() + (audit or b""))) == check:
            return row
    except (TypeError, ValueError, AttributeError, struct.error):
        pass  # columns of wrong types
    raise StoreDamaged(f"the database is damaged: {key!r} at revision {revision} has a wrong checksum")


def read_row(row: Row | None) -> Record | None:
    """Return a row as the state of its key, None for a delete."""
    return next(iter(read_rows([row])), None) if row is not None else None


def read_rows(rows: Iterable[Row]) -> list[Record]:
    """Return rows as the states of their keys, without deleted ones."""
    return [
        Record(key, StoredValue(value, offset), revision, created)
        for key, value, offset, revision, created, *_ in rows
        if value is not None
    ]


def read_state(database: sqlite3.Connection, prefix: str, revision: int, limit: int = -1) -> list[Row]:
    """Return the newest rows of keys at a revision, in key order, deletes included. limit: keys, -1 for all."""
    return _read_rows(database, _STATE, (prefix, keys.prefix_end(prefix), revision, limit))


def read_page(
    database: sqlite3.Connection, prefix: str, revision: int, after: str, limit: int
) -> tuple[list[Row], str]:
    """Return rows as `read_state` does, until they exceed `_PAGE_BYTES`, and the key to continue after, "" at the end.

    Reading and verifying 36 MB takes 50 ms, in which the loop does nothing else.
    """
    rows, size = list[Row](), 0
    bounds = (after + "\0" if after else prefix, keys.prefix_end(prefix))
    with refusals.convert_read_errors():
        for row in database.execute(_STATE, (*bounds, revision, limit)):
            rows.append(verify_row(row))
            size += len(row[1] or b"")
            if size > _PAGE_BYTES:
                return rows, row[0]
    return rows, rows[-1][0] if len(rows) == limit else ""


def read_changes(database: sqlite3.Connection, prefix: str, after: int, sequence: int, limit: int = -1) -> list[Row]:
    """Return rows later than a revision and a sequence number. limit: the maximum number, -1 for all."""
    return _read_rows(database, _CHANGES, (sequence, after, prefix, keys.prefix_end(prefix), limit))


def read_before(database: sqlite3.Connection, key: str, revision: int) -> Row | None:
    """Return the newest row of a key before a revision."""
    return next(iter(_read_rows(database, _BEFORE, (key, revision))), None)


def _read_rows(database: sqlite3.Connection, statement: str, arguments: tuple[object, ...]) -> list[Row]:
    with refusals.convert_read_errors():
        return list(map(verify_row, database.execute(statement, arguments)))


class AuthorTable:
    """The authors of one SQLite database, by number; 0 is NOBODY."""

    def __init__(self) -> None:
        self._numbers: dict[Author, int] = {}
        self._count = -1

    def forget_numbers(self) -> None:
        """Drop cached numbers after a transaction was rolled back."""
        self._numbers.clear()
        self._count = -1

    def number_of(self, database: sqlite3.Connection, author: Author) -> int:
        """Return the number of an author, adding a new one. Call it in a transaction. Raises sqlite3.Error."""
        if author.audit:
            author = author._replace(audit=b"")
        number = self._numbers.get(author)
        if number is None:
            texts = author[:6]
            number = self._find_number(database, texts) if any(texts) else 0
            if len(self._numbers) >= _CACHED_AUTHORS:
                self._numbers.clear()
            self._numbers[author] = number
        return number

    def _find_number(self, database: sqlite3.Connection, texts: tuple[object, ...]) -> int:
        text = orjson.dumps([str(entry).encode("utf-8", "replace").decode() for entry in texts]).decode()
        row = database.execute("SELECT id FROM authors WHERE text = ?", (text,)).fetchone()
        if row is not None:
            return int(row[0])
        if self._count < 0:
            self._count = int(database.execute("SELECT count(*) FROM authors").fetchone()[0])
        if self._count >= _MAX_AUTHORS and any(texts[4:]):
            return self._find_number(database, (*texts[:4], "", ""))
        if self._count >= 2 * _MAX_AUTHORS:
            return 0
        self._count += 1
        statement = "INSERT INTO authors (text, checksum) VALUES (?, ?)"
        return int(database.execute(statement, (text, crc32(text.encode()))).lastrowid or 0)


def read_author(database: sqlite3.Connection, number: int) -> Author:
    """Return the author of a row, without its audit ID. Raises StoreDamaged, sqlite3.Error."""
    if not number:
        return Author()
    row = database.execute("SELECT text, checksum FROM authors WHERE id = ?", (number,)).fetchone()
    if row is None or not isinstance(row[0], str) or crc32(row[0].encode()) != row[1]:
        raise StoreDamaged(f"the database is damaged: the checksum of author {number} is wrong")
    return Author(*orjson.loads(row[0]))
