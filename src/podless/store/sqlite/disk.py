"""Checks that the disk accepts writes: the files are in place, and there is room.

On a full disk, deletes use space that is kept in reserve, and make room for other writes.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from podless.store.contract import DiskFull, StoreError
from podless.store.sqlite import refusals

log = logging.getLogger("podless")

# bytes of the reserve: enough for the log of a few hundred deletes, or of any number if checkpoints succeed
_RESERVE_BYTES = 8 << 20
_CHECK_INTERVAL = 0.2  # minimum seconds between two checks of the files
_LOG_INTERVAL = 10.0  # minimum seconds between two log lines about failed writes


class DiskSpace:
    """The disk of one database. A database in memory has neither files nor a reserve.

    refused: why the last write was rejected, "" if it succeeded. full: it was rejected because the disk is full.
    is_released: the reserve is not allocated at present.
    """

    def __init__(self, path: Path | None, database: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._database = database
        self._files: DatabaseFiles | None = None
        self._reserve = f"{path}-reserve"  # a file that reserves space beside the database
        self.is_released = path is not None
        self.refused = ""
        self.full = False
        self._last_logged = self._next_check = -_LOG_INTERVAL

    def open(self) -> None:
        """Record the identity of the files, which exist now."""
        if self._path is not None:
            self._files = DatabaseFiles(self._path)

    def check_files(self) -> None:
        """Raise StoreError if the files are not in place."""
        self._next_check = time.monotonic() + _CHECK_INTERVAL
        if self._files is not None and (fault := self._files.find_fault()):
            self.note_failure(fault)
            raise StoreError(fault)

    def check_files_in_time(self) -> None:
        """Check the files if writes fail, or if the last check was a while ago. Raises StoreError."""
        if self.refused or time.monotonic() > self._next_check:
            self.check_files()

    def note_failure(self, reason: str) -> None:
        """Record that writes fail, and log it at most every 10 seconds."""
        if not self.refused and time.monotonic() - self._last_logged > _LOG_INTERVAL:
            self._last_logged = time.monotonic()
            log.error("store: writes are rejected: %s", reason)
        self.refused = reason

    def refuse_error(self, error: sqlite3.Error) -> None:
        """Record and log that a write failed."""
        self.full = refusals.is_full(error)
        self.note_failure(str(error))

    def note_success(self) -> None:
        """Record and log that writes succeed again."""
        if self.refused and not self.is_released:
            self.refused, self.full = "", False
            log.warning("store: writes are accepted again")

    def regain_reserve(self) -> None:
        """Allocate the reserve again if it was released. Raises DiskFull."""
        if self.is_released:
            try:
                self._allocate_reserve()
            except OSError:
                raise DiskFull from None
            self.is_released = False
            if self.full:
                self._make_room()

    def _allocate_reserve(self) -> None:
        file = os.open(self._reserve, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                os.posix_fallocate(file, 0, _RESERVE_BYTES)
            except OSError:
                os.truncate(file, 0)  # some file systems keep the part that was allocated
                raise
        finally:
            os.close(file)

    def release_reserve(self, error: sqlite3.Error) -> bool:
        """Release the reserve if the disk is full and it exists. Returns whether it was released."""
        if self._path is None or not refusals.is_full(error):
            return False
        self.refuse_error(error)
        if not self.is_released:
            with suppress(OSError):
                os.truncate(self._reserve, 0)
                self.is_released = True
        self._make_room()
        return True

    def _make_room(self) -> None:
        """Move content of the write-ahead log into the database while there is room, which makes room in the log."""
        with suppress(sqlite3.Error, OSError):
            self._database().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self.note_shrunk()

    def note_shrunk(self) -> None:
        """Record that the engine itself has made the database smaller. Raises OSError."""
        if self._files is not None:
            self._files.note_shrunk()


class DatabaseFiles:
    """The files of an open database, as they were when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        self._log = f"{self._path}-wal"
        self._first_identity = self._identify_file(self._path)
        self._known_log = self._identify_file(self._log)
        self._size = 0

    @staticmethod
    def _identify_file(path: str) -> tuple[int, int] | None:
        try:
            stat = os.stat(path)
        except OSError:
            return None
        return stat.st_dev, stat.st_ino

    def find_fault(self) -> str:
        """Return what happened to the files, "" if they are in place."""
        try:
            status = os.stat(self._path)
        except OSError as error:
            return f"{self._path} is gone ({os.strerror(error.errno or 0).lower()})"
        if (status.st_dev, status.st_ino) != self._first_identity:
            return f"{self._path} was replaced by another file"
        if status.st_size < self._size:
            return f"{self._path} was truncated"
        self._size = status.st_size
        log = self._identify_file(self._log)
        if log != self._known_log:
            if self._known_log is None:  # created by the first write
                self._known_log = log
                return ""
            return f"{self._log} is gone" if log is None else f"{self._log} was replaced by another file"
        return ""

    def note_shrunk(self) -> None:
        """Record that the engine itself has made the database smaller."""
        self._size = os.stat(self._path).st_size
