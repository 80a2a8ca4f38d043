"""A file of lines that begins anew when it is large; what waits in memory while it is stuck is bounded."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from podless.meta import clock

log = logging.getLogger("podless")

_SOON = 0.2  # seconds after which what was noted is in the file
_AT_ONCE = 256 * 1024  # bytes that are not kept waiting for that
_MOST = 8 * 1024 * 1024  # bytes that are kept while the file takes nothing


class Backend:
    """Lines to a file; - for standard output.

    size: bytes at which the file is set aside under a name with the time, 0 for never. backups: how many of these are
    kept, 0 for all. Lines that cannot be written are lost once 8 MB wait, which the server's own log says.
    """

    def __init__(self, path: Path, size: int = 0, backups: int = 0) -> None:
        self._path = path
        self._size = size
        self._backups = backups
        self._file = -1
        self._written = 0
        self._lines: list[bytes] = []
        self._waiting = 0
        self._lost = 0
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def open(self) -> None:
        """Open the file, anew if it was open. Raises OSError."""
        self.flush()
        self._release()
        if str(self._path) == "-":
            self._file = os.dup(1)
            return
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._written = os.fstat(self._file).st_size

    def note(self, line: bytes) -> None:
        """Take a line, with its end."""
        if self._waiting + len(line) > _MOST:
            self._lost += 1
            return
        self._lines.append(line)
        self._waiting += len(line)
        if self._waiting >= _AT_ONCE:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(_SOON, self.flush)

    def flush(self) -> None:
        """Write what was noted."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._lines or self._file < 0:
            return
        try:
            for data in self._pieces():
                self._write(data)
        except OSError as error:
            log.error("the audit log cannot be written: %s", error.strerror)
            self._timer = self._loop.call_later(_SOON * 10, self.flush)
            return
        if self._lost:
            log.error("%d events are missing in the audit log", self._lost)
            self._lost = 0

    def _pieces(self) -> Iterator[bytes]:
        """What waits, in pieces that leave the file no larger than it may become."""
        while self._lines:
            if self._size and self._written and self._written + len(self._lines[0]) > self._size:
                self._rotate()
            room, count = self._size - self._written, 1
            total = len(self._lines[0])
            while count < len(self._lines) and (not self._size or total + len(self._lines[count]) <= room):
                total += len(self._lines[count])
                count += 1
            yield b"".join(self._lines[:count])
            del self._lines[:count]
            self._waiting -= total

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            count = os.write(self._file, view)
            self._written += count
            view = view[count:]

    def _rotate(self) -> None:
        if str(self._path) == "-":
            return
        self._release()
        # the oldest files go by name, those of earlier runs among them: so no clock that a test moves
        stamp = datetime.fromtimestamp(clock.wall(), UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
        self._path.rename(self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._written = 0
        if self._backups:
            aside = sorted(self._path.parent.glob(f"{self._path.stem}-????-??-??T*{self._path.suffix}"))
            for old in aside[: -self._backups]:
                old.unlink(missing_ok=True)

    def _release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def close(self) -> None:
        """Write what was noted, and close."""
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
        self._release()
