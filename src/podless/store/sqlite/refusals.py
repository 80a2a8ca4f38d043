"""The SQLite engine's errors. Only this module tells errors of the module sqlite3 apart, by their result codes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podless.store.contract import DiskFull, StoreDamaged, StoreError, StoreInUse

# the disk is full, a quota is used up, or a file may not grow
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def make_open_error(error: sqlite3.Error | UnicodeError, path: Path) -> StoreError:
    """Return the error for a database that cannot be opened.

    A UnicodeError means that names in the file, or SQLite's message, are not valid text.
    """
    if isinstance(error, sqlite3.OperationalError):
        if _error_code(error) & 0xFF in _LOCKED:
            return StoreInUse(f"{path}: another process is using this database")
        return StoreError(f"{path}: {error}")
    return StoreDamaged(f"{path}: not a podless database, or a damaged one ({describe_error(error)})")


@contextmanager
def convert_read_errors() -> Iterator[None]:
    """Raise StoreError for an sqlite3.Error of the block, which reads."""
    try:
        yield
    except sqlite3.Error as error:
        if _error_code(error) & 0xFF == sqlite3.SQLITE_CORRUPT:
            raise StoreDamaged(f"the database is damaged ({error}); restore a backup") from None
        raise StoreError(f"the database failed to read: {error}") from None


def make_write_error(error: Exception) -> StoreError:
    """Return the error for a failed write."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, sqlite3.Error) and is_full(error):
        return DiskFull()
    return StoreError(f"the database failed to write: {error}")


def is_full(error: sqlite3.Error) -> bool:
    """Return whether a write failed because the disk is full."""
    return _error_code(error) in _FULL


def is_interrupt(error: sqlite3.Error) -> bool:
    """Return whether a progress handler interrupted the statement."""
    return _error_code(error) == sqlite3.SQLITE_INTERRUPT


def describe_error(error: Exception) -> str:
    """Return SQLite's message as one line. It can contain parts of the file."""
    return " ".join(str(error).split())


def _error_code(error: sqlite3.Error) -> int:
    """Return the extended result code; errors of the module itself have none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
