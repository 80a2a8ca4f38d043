"""Rows of the SQLite engine's log, each with a checksum of all its columns."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from podless.store.contract import Record, StoreDamaged
from podless.store.keys import StoredValue

Row = tuple[str, bytes | None, int, int, int, int, int, int, bytes | None, int]
_NUMBERS = struct.Struct("<7q").pack
_THIRD_NUMBERS = struct.Struct("<6q").pack
COLUMNS = "key, value, offset, revision, created, sequence, at, author, audit, checksum"


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


def third_checksum(key: Any, value: Any, *numbers: Any) -> int:
    """Return the checksum of a row of the third format, -1 for an invalid row.

    numbers: offset, revision, created, sequence, and seconds since 1970.
    """
    try:
        head = _THIRD_NUMBERS(*numbers, -1 if value is None else len(value))
        return crc32(value or b"", crc32(head + key.encode()))
    except (TypeError, ValueError, AttributeError, struct.error):
        return -1


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
