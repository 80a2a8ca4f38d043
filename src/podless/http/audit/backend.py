"""The file of the audit log: a queue of lines, and a thread that writes them. Lines over the limit are dropped.

The limit, the dropping and its metric are those of kube-apiserver's batch mode (apiserver/plugin/pkg/audit/buffered).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

from podless.runtime import clock

log = logging.getLogger("podless")

_FLUSH_DELAY = 0.2  # seconds until a queued line is written
_AT_ONCE = 256 * 1024  # queued bytes that are written without this delay; also the maximum of one write
_MAX = 8 * 1024 * 1024  # maximum bytes in the queue
_RETRY_DELAY = 2.0  # seconds between a failed write and the next attempt
_PATIENCE = 2.0  # seconds in which `close` waits for the queue to be written


class Backend:
    """Writes lines to a file, or to standard output for "-".

    size: bytes at which the file is renamed, with the time in its name; 0 for never. backups: number of renamed files
    to keep, 0 for all. events: lines since the start. A write can block indefinitely; neither the event loop nor
    `close` waits for it.
    """

    def __init__(self, path: Path, size: int = 0, backups: int = 0) -> None:
        self.events = 0
        self._path = path
        self._queue = _Queue(_MAX)
        self._writer = _LogWriter(path, size, backups, self._queue)
        self._full = False  # a full queue has been logged
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def dropped(self) -> int:
        """The number of lines since the start that were dropped."""
        return self._queue.dropped

    def open(self) -> None:
        """Open the file, or reopen it: lines already queued go to the old one. Raises OSError."""
        self._queue.put_file(_open_file(self._path))
        if not self._writer.is_alive():
            self._writer.start()

    def queue_line(self, line: bytes) -> None:
        """Queue a line, which must end with a line break."""
        self.events += 1
        waiting = self._queue.put_line(line)
        if waiting >= _AT_ONCE:
            self.flush()
        elif waiting:
            self._full = False
            if self._timer is None:
                self._timer = self._loop.call_later(_FLUSH_DELAY, self.flush)
        elif not self._full:
            self._full = True
            self._writer.log_error("audit: the queue is full: events are dropped until the log can be written")

    def flush(self) -> None:
        """Start writing the queue, without waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._queue.hand_over()

    async def close(self) -> None:
        """Write the queue, for at most 2 seconds, and close."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._queue.end()
        if not self._writer.is_alive():
            return
        await self._loop.run_in_executor(None, self._writer.join, _PATIENCE)
        if lost := self._queue.drop_lines():
            self._writer.log_error(
                f"audit: the log could not be written for {_PATIENCE:g} s: {lost} events are missing at its end"
            )


class _Queue:
    """Queued lines, and files between them: lines after a file are written to it. limit: maximum bytes of lines."""

    def __init__(self, limit: int) -> None:
        self.dropped = 0
        self._untold = 0  # dropped lines that are not logged yet
        self._limit = limit
        self._items: deque[bytes | int] = deque()
        self._size = self._files = 0
        self._awake = self._ended = False
        self._changed = threading.Condition()

    def put_line(self, line: bytes) -> int:
        """Add a line. Returns the queued bytes, 0 if the line was dropped."""
        with self._changed:
            if self._size + len(line) > self._limit:
                self.dropped += 1
                self._untold += 1
                return 0
            self._items.append(line)
            self._size += len(line)
            return self._size

    def put_file(self, file: int) -> None:
        """Send all later lines to another file."""
        with self._changed:
            self._items.append(file)
            self._files += 1
            self._wake_writer()

    def skip_to_file(self) -> int | None:
        """Return the next queued file, if any, before the lines in front of it are written; they then go to it, too."""
        with self._changed:
            file = next((item for item in self._items if isinstance(item, int)), None) if self._files else None
            if file is not None:
                self._items.remove(file)
                self._files -= 1
            return file

    def hand_over(self) -> None:
        """Start writing the queued lines."""
        with self._changed:
            if self._items:
                self._wake_writer()

    def _wake_writer(self) -> None:
        self._awake = True
        self._changed.notify_all()

    def end(self) -> None:
        """Accept no more lines. Queued ones are still written."""
        with self._changed:
            self._ended = True
            self._wake_writer()

    def drop_lines(self) -> int:
        """Drop all unwritten lines, and return their number."""
        with self._changed:
            lost = sum(isinstance(item, bytes) for item in self._items)
            self.dropped += lost
            self._items.clear()
            return lost

    def wait(self) -> bool:
        """Wait for something to write. Returns False if the queue has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._awake or self._ended)
            self._awake = False
            return bool(self._items) or not self._ended

    def wait_for_file(self, seconds: float) -> bool:
        """Wait some seconds, or until a file is queued or the queue ends. Returns False if it has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._files, seconds)
            return not self._ended

    def peek_lines(self, room: int) -> tuple[int | None, list[bytes]]:
        """Return the next file, or the next lines up to `room` bytes, at least one. They stay queued."""
        with self._changed:
            lines: list[bytes] = []
            for item in self._items:
                if isinstance(item, int):
                    if not lines:
                        self._items.popleft()
                        self._files -= 1
                        return item, []
                    break
                if lines and len(item) > room:
                    break
                lines.append(item)
                room -= len(item)
            return None, lines

    def remove_written(self, lines: list[bytes]) -> int:
        """Remove written lines from the queue. Returns the number of lines dropped since the last call."""
        with self._changed:
            for line in lines:
                if self._items:  # empty after `drop_lines`
                    self._items.popleft()
                self._size -= len(line)
            untold, self._untold = self._untold, 0
            return untold


class _LogWriter(threading.Thread):
    """Writes the queue. The file descriptor belongs to this thread."""

    def __init__(self, path: Path, size: int, backups: int, queue: _Queue) -> None:
        # daemon: a write that never returns must not keep the process alive
        super().__init__(name="podless-audit", daemon=True)
        self._path = path
        self._limit = size if str(path) != "-" else 0
        self._backups = backups
        self._queue = queue
        self._file = -1
        self._written = 0
        self._torn = 0  # bytes of the next piece that were written before an error
        self._failed: int | None = None  # errno of the last error, which is logged once

    def log_error(self, text: str) -> None:
        """Log an error, unless the log goes to the same blocked pipe."""
        if str(self._path) == "-" and os.path.sameopenfile(1, 2):
            return
        log.error("%s", text)

    def run(self) -> None:
        while self._queue.wait():
            while not self._write_all():
                is_open = self._queue.wait_for_file(_RETRY_DELAY)
                if (file := self._queue.skip_to_file()) is not None:
                    self._open_file(file)
                if not is_open:
                    self._write_all()
                    return self._close_file()
        return self._close_file()

    def _write_all(self) -> bool:
        """Write all queued lines. Returns False after an error."""
        try:
            while self._write_some():
                pass
        except OSError as error:
            if error.errno != self._failed:
                log.error("audit: cannot write the log: %s", error.strerror or error)
            self._failed = error.errno
            return False
        return True

    def _write_some(self) -> bool:
        """Write one piece, within the maximum size of the file. Returns False if nothing is left."""
        room = min(self._limit - self._written, _AT_ONCE) if self._limit else _AT_ONCE
        file, lines = self._queue.peek_lines(room)
        if file is not None:
            self._open_file(file)
        elif not lines:
            return False
        elif self._limit and self._written and not self._torn and self._written + len(lines[0]) > self._limit:
            self._rotate_file()
        else:
            self._write_bytes(b"".join(lines))
            self._failed, self._torn = None, 0
            if missing := self._queue.remove_written(lines):
                self.log_error(f"audit: {missing} events are missing in the log")
        return True

    def _write_bytes(self, data: bytes) -> None:
        view = memoryview(data)
        while self._torn < len(view):
            count = os.write(self._file, view[self._torn :])
            self._written += count
            self._torn += count

    def _open_file(self, file: int) -> None:
        self._close_file()
        self._file = file
        self._torn = 0
        self._written = os.fstat(file).st_size

    def _rotate_file(self) -> None:
        # old files are found by the time in their names, so it must not be that of a clock that a test advances
        stamp = datetime.fromtimestamp(clock.wall_time(), UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
        with contextlib.suppress(FileNotFoundError):  # another program has moved the file
            self._path.rename(self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        self._open_file(_open_file(self._path))
        if self._backups:
            rotated = sorted(self._path.parent.glob(f"{self._path.stem}-????-??-??T*{self._path.suffix}"))
            for old in rotated[: -self._backups]:
                old.unlink(missing_ok=True)

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _open_file(path: Path) -> int:
    if str(path) == "-":
        return os.dup(1)
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
