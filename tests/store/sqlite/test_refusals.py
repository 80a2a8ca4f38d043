"""What errors of the module sqlite3 are to those who use the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from podless.store import DiskFull, StoreDamaged, StoreError, StoreInUse
from podless.store.sqlite import refusals

PATH = Path("db")


def error(code: int | None, text: str = "why", kind: type[sqlite3.Error] = sqlite3.OperationalError) -> sqlite3.Error:
    made = kind(text)
    if code is not None:
        made.sqlite_errorcode = code
    return made


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_BUSY_RECOVERY])
def test_a_locked_database_is_in_use(code: int) -> None:
    assert type(refusals.make_open_error(error(code), PATH)) is StoreInUse


def test_the_text_of_an_error_decides_nothing() -> None:
    found = refusals.make_open_error(error(sqlite3.SQLITE_CANTOPEN, "unable to open file 'locked'"), PATH)
    assert type(found) is StoreError
    assert str(found) == "db: unable to open file 'locked'"


def test_what_sqlite_says_of_a_damaged_file_is_one_line() -> None:
    found = refusals.make_open_error(error(sqlite3.SQLITE_CORRUPT, "malformed\n  schema", sqlite3.DatabaseError), PATH)
    assert type(found) is StoreDamaged
    assert str(found) == "db: not a podless database, or a damaged one (malformed schema)"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_IOERR_WRITE, DiskFull),
        (sqlite3.SQLITE_IOERR, StoreError),
        (None, StoreError),  # what the module itself refuses has no code
    ],
)
def test_a_write_that_failed(code: int | None, kind: type[StoreError]) -> None:
    assert type(refusals.make_write_error(error(code))) is kind


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CORRUPT_INDEX, sqlite3.SQLITE_CORRUPT_VTAB])
def test_a_read_of_a_damaged_page(code: int) -> None:
    with pytest.raises(StoreDamaged), refusals.convert_read_errors():
        raise error(code)
    with pytest.raises(StoreError) as caught, refusals.convert_read_errors():
        raise error(None)
    assert type(caught.value) is StoreError
