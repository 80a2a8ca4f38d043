"""Checks that a database's files are in place: another program may delete, replace or truncate them."""

from __future__ import annotations

import os
from pathlib import Path


class Files:
    """The files of an open database, as they were when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        self._log = f"{self._path}-wal"
        self._known = self._identity(self._path)
        self._known_log = self._identity(self._log)
        self._size = 0

    @staticmethod
    def _identity(path: str) -> tuple[int, int] | None:
        try:
            found = os.stat(path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def find_fault(self) -> str:
        """Return what happened to the files, "" if they are in place."""
        try:
            found = os.stat(self._path)
        except OSError as error:
            return f"{self._path} is gone ({os.strerror(error.errno or 0).lower()})"
        if (found.st_dev, found.st_ino) != self._known:
            return f"{self._path} was replaced by another file"
        if found.st_size < self._size:
            return f"{self._path} was truncated"
        self._size = found.st_size
        log = self._identity(self._log)
        if log != self._known_log:
            if self._known_log is None:  # created by the first write
                self._known_log = log
                return ""
            return f"{self._log} is gone" if log is None else f"{self._log} was replaced by another file"
        return ""

    def note_shrunk(self) -> None:
        """Record that the engine itself has made the database smaller."""
        self._size = os.stat(self._path).st_size
