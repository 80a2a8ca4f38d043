"""The SQLite engine's errors: the only place that tells errors of the module sqlite3 apart, by their result codes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from podless.store.contract import Damaged, InUse, NoRoom, StoreError

# a disk without room, a quota, a file that may not grow
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def of_open(error: sqlite3.Error | UnicodeError, path: Path) -> StoreError:
    """Return what is said of a database that cannot be opened.

    A UnicodeError: names in the file, or what SQLite says of it, are no text.
    """
    if isinstance(error, sqlite3.OperationalError):
        if _code(error) & 0xFF in _LOCKED:
            return InUse(f"{path}: another process is using this database")
        return StoreError(f"{path}: {error}")
    return Damaged(f"{path}: not a podless database, or a damaged one ({describe_error(error)})")


def of_read(error: sqlite3.Error) -> StoreError:
    """Return what is said of a read that failed."""
    if _code(error) & 0xFF == sqlite3.SQLITE_CORRUPT:
        return Damaged(f"the database is damaged ({error}); restore a backup")
    return StoreError(f"the database refused a read: {error}")


def of_write(error: Exception) -> StoreError:
    """Return what is said of a write that failed."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, sqlite3.Error) and is_full(error):
        return NoRoom()
    return StoreError(f"the database refused a write: {error}")


def is_full(error: sqlite3.Error) -> bool:
    """Whether there is no room for what was to be written."""
    return _code(error) in _FULL


def is_interrupt(error: sqlite3.Error) -> bool:
    """Whether a progress handler ended the statement."""
    return _code(error) == sqlite3.SQLITE_INTERRUPT


def describe_error(error: Exception) -> str:
    """Return what SQLite says, which can have parts of the file in it, as one line."""
    return " ".join(str(error).split())


def _code(error: sqlite3.Error) -> int:
    """The extended result code; what the module itself refuses has none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
