"""Checkpoints of the SQLite engine: a second connection moves the write-ahead log into the database, on a thread.

Writers do not wait for such a checkpoint. So while clients write without a pause, none reaches the end of the log, and
SQLite cannot start the log again (https://www.sqlite.org/wal.html#ckpt). When the log is long, commits wait once for a
checkpoint, which is short because another one has just ended.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from podless.store.sqlite import format

# Estimated pages that are written before a checkpoint begins. A commit that syncs the log during a checkpoint waits for
# the disk longer, up to the time that the pages take. With 16 clients on tmpfs, the 99th percentile of creates was
# 6 ms with 250 or 500 pages and 7.5 ms with 1,000; checkpoints of 4,000 pages in the commits made it 13.5 ms.
_CHECKPOINT_PAGES = 500
_MAX_LOG_PAGES = 3000  # pages of the log from which on it starts again, even if commits have to wait
_SHORT_CHECKPOINT = 0.01  # seconds: after a checkpoint that took less, commits wait for the next one
_MAX_TRIES = 3  # checkpoints of a long log after which commits wait in any case
_PAGE_BYTES = 4096
_ROW_PAGES = 2  # estimated pages that a changed row writes
_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"


class Checkpoints:
    """The checkpoints of one database. A database in memory has none.

    waits: commits have to wait until `resume` is called.
    """

    def __init__(self, path: Path | None, resume: Callable[[], None]) -> None:
        self._path = path
        self._resume = resume
        self._loop: asyncio.AbstractEventLoop | None = None
        self._database: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._running: asyncio.Future[tuple[int, float]] | None = None
        self._pages = 0  # estimated pages that were written since the last checkpoint began
        self._tries = 0  # checkpoints since the log became long
        self.waits = False

    def open(self, database: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Open a second connection beside `database`. Raises sqlite3.Error."""
        if self._path is not None:
            self._database = format.open_second(database, self._path)
            self._loop = loop

    @property
    def running(self) -> bool:
        """Whether a checkpoint runs."""
        return self._running is not None

    def note_writes(self, rows: int, size: int = 0) -> None:
        """Begin a checkpoint if there were enough writes. rows, size: changed rows, and bytes of values in them."""
        self._pages += rows * _ROW_PAGES + size // _PAGE_BYTES
        if self._pages >= _CHECKPOINT_PAGES and self._running is None and self._database is not None:
            self._tries = 0
            self._begin_checkpoint(self._database)

    def _begin_checkpoint(self, database: sqlite3.Connection) -> None:
        assert self._loop is not None
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "podless-checkpoint")
        self._pages = 0
        self._running = self._loop.run_in_executor(self._thread, _move_log, database)
        self._running.add_done_callback(self._end_checkpoint)

    def _end_checkpoint(self, running: asyncio.Future[tuple[int, float]]) -> None:
        """Begin another checkpoint if the log is long, or let commits go on. A later one repeats a failed one."""
        self._running = None
        waited, self.waits = self.waits, False
        if running.cancelled() or running.exception() is not None:
            length = took = 0.0
        else:
            length, took = running.result()
        # without a write meanwhile, the next one starts the log again
        if length >= _MAX_LOG_PAGES and self._pages and not waited and self._database is not None:
            self._tries += 1
            self.waits = took < _SHORT_CHECKPOINT or self._tries >= _MAX_TRIES
            self._begin_checkpoint(self._database)
        if waited:
            self._resume()

    async def close(self) -> None:
        """Wait for a checkpoint that runs, then close the second connection."""
        database, self._database = self._database, None
        try:
            if self._running is not None:
                await asyncio.wait([self._running])
        finally:
            if self._thread is not None:
                self._thread.shutdown()
            if database is not None:
                database.close()


def _move_log(database: sqlite3.Connection) -> tuple[int, float]:
    """Run a checkpoint. Returns the pages of the log when it began, and the seconds that it took."""
    began = time.perf_counter()
    length: int = database.execute(_CHECKPOINT).fetchone()[1]
    return length, time.perf_counter() - began
