"""The window of the SQLite engine's log: how far back it has whole states, and the work that moves its start."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from podless.store.contract import StoreError
from podless.store.history import History, HistoryClock, HistoryHolds, Keep
from podless.store.sqlite import refusals
from podless.store.sqlite.checkpoints import Checkpoints
from podless.store.sqlite.disk import DiskSpace
from podless.store.sqlite.format import write_compacted
from podless.store.sqlite.logrows import COLUMNS
from podless.store.sqlite.past import PackedHistory

_MAINTENANCE_INTERVAL = 10.0  # seconds between two checks for maintenance without writes
_PAUSE_RATIO = 4.0  # background work pauses this many times as long as a step took
# While clients make more than `_BUSY_WRITES` in `_RATE_PERIOD` seconds, history is forgotten later, up to
# `_BUSY_FACTOR` times the bounds: packing a state costs a tenth of a write, so bursts are faster, and few writes wait.
_BUSY_WRITES = 10
_RATE_PERIOD = 0.05
_BUSY_FACTOR = 2
_FULL_DISK_STEP = 500  # revisions that one step forgets on a full disk
# reads only rows written between the two revisions, so the cost is in proportion to these writes
_REPLACED = """
DELETE FROM log WHERE sequence IN (
    SELECT older.sequence FROM log AS newer JOIN log AS older
    ON older.key = newer.key AND older.revision < newer.revision
    WHERE newer.sequence > :old AND newer.sequence <= :new
)
"""
_DELETED = "DELETE FROM log WHERE value IS NULL AND sequence > :old AND sequence <= :new"
_SHRINK_PAGES = 512  # pages of the file that one step frees
_FREE_RATIO = 4  # pages are freed if more than one in so many is free


class HistoryWindow:
    """Moves the start of the window in the background, and frees the space.

    compacted: the newest compacted revision. newest: returns the newest revision. database: returns the open database,
    or raises StoreError.
    """

    def __init__(
        self,
        keep: Keep,
        past: PackedHistory,
        disk: DiskSpace,
        checkpoints: Checkpoints,
        database: Callable[[], sqlite3.Connection],
        newest: Callable[[], int],
    ) -> None:
        self.compacted = 0
        self.history = History(keep)
        self.clock = HistoryClock()
        self.holds = HistoryHolds()
        self._past = past
        self._disk = disk
        self._checkpoints = checkpoints
        self._database = database
        self._newest = newest
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False  # background work has another step to do
        self._writes = 0  # number of writes since the last check

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start to maintain the window."""
        self._loop = loop
        self._timer = loop.call_later(_MAINTENANCE_INTERVAL, self._run_maintenance)

    def stop(self) -> None:
        """Stop maintaining the window."""
        if self._timer is not None:
            self._timer.cancel()
        self._loop = None

    def note_writes(self, revision: int, replaced: int, at: int) -> None:
        """Count writes up to a revision, and the bytes that they replaced. at: milliseconds since 1970.

        Starts to forget history if there is more than the bounds allow.
        """
        self._writes += 1
        if self.history.note_writes(revision, replaced, at // 1000) and self.history.find_due(at // 1000):
            self.do_step()

    def move_to(self, revision: int) -> None:
        """Forget the states that were replaced or deleted at or before a revision. Raises StoreError."""
        if revision <= self.compacted:
            return
        try:
            forget_history(self._database(), self.compacted, revision, self._past, full=self._disk.full)
        except sqlite3.Error as error:
            raise refusals.make_write_error(error) from None
        self.compacted = revision
        self.history.note_forgotten(revision)

    def do_step(self) -> None:
        """Forget history and free space: one step soon, others later."""
        if not self._busy and self._loop is not None:
            self._busy = True
            self._loop.call_soon(self._run_step)

    def _run_maintenance(self) -> None:
        """Run maintenance that is due even without writes."""
        assert self._loop is not None
        self._timer = self._loop.call_later(_MAINTENANCE_INTERVAL, self._run_maintenance)
        with suppress(StoreError):
            self._disk.check_files()
            self.do_step()

    def _run_step(self) -> None:
        self._busy = False
        if self._loop is None or self.holds.count:
            return
        began = self._loop.time()
        if self._may_postpone():
            self._busy = True
            self._loop.call_later(_RATE_PERIOD, self._run_step)
            return
        try:
            database = self._database()
            rows = database.total_changes
            has_more = self._take_step(database)
            self._checkpoints.note_writes(database.total_changes - rows)
            if not has_more:
                return
        except (StoreError, sqlite3.Error, OSError):
            return  # history is kept longer than necessary; writes report a full disk themselves
        self._busy = True
        self._loop.call_later((self._loop.time() - began) * _PAUSE_RATIO, self._run_step)

    def _may_postpone(self) -> bool:
        """Return whether clients write so much that history is forgotten later."""
        writes, self._writes = self._writes, 0
        return (
            writes > _BUSY_WRITES
            and not self._disk.full
            and not self.history.find_due(self.clock.newest // 1000, _BUSY_FACTOR)
        )

    def _take_step(self, database: sqlite3.Connection) -> bool:
        """Do one step. Returns whether there may be more to do. Raises StoreError, sqlite3.Error, OSError."""
        now, full = self.clock.next_time(), self._disk.full
        # on a full disk, history is forgotten first
        due = min(self._newest(), self.compacted + _FULL_DISK_STEP) if full else self.history.find_due(now // 1000)
        if full and forget_past(database, self._past, now, full=True):
            return True
        if due > self.compacted:
            self.move_to(due)
            return True
        if forget_past(database, self._past, now):
            return True
        if self._checkpoints.running:  # it could make the file smaller later, which would look like damage
            return False
        has_more = shrink_file(database, as_much=full)
        if has_more or full:
            self._disk.note_shrunk()
        return has_more


def forget_history(
    database: sqlite3.Connection, old: int, new: int, past: PackedHistory, *, full: bool = False
) -> None:
    """Forget states that were replaced or deleted after `old`, up to the revision `new`. Raises sqlite3.Error."""
    with _change_past(database, past):
        between = {"old": old, "new": new}
        if full or not past.keeps_any:
            past.skip_to(database, new)
            database.execute(_REPLACED, between)
            database.execute(_DELETED, between)
        else:
            rows = database.execute(f"{_REPLACED} RETURNING {COLUMNS}", between).fetchall()
            rows += database.execute(f"{_DELETED} RETURNING {COLUMNS}", between).fetchall()
            past.pack_rows(database, rows, old)
        write_compacted(database, new)


@contextmanager
def _change_past(database: sqlite3.Connection, past: PackedHistory) -> Iterator[None]:
    """Run the block in a transaction, without waiting for the disk. An error restores `past`."""
    database.execute("PRAGMA synchronous = NORMAL")
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
            past.reload_state(database)
        database.execute("PRAGMA synchronous = FULL")


def forget_past(database: sqlite3.Connection, past: PackedHistory, now: int, *, full: bool = False) -> bool:
    """Forget packed states beyond the bounds, by one step. Returns whether there were any. Raises sqlite3.Error.

    now: milliseconds since 1970. full: the disk is full, so all states are forgotten.
    """
    due = past.find_due(database, now, full=full)
    if due is None:
        return False
    with _change_past(database, past):
        past.forget_before(database, *due)
    return True


def shrink_file(database: sqlite3.Connection, *, as_much: bool = False) -> bool:
    """Make the file smaller by one step if much of it is free. Returns whether it was. Raises sqlite3.Error.

    as_much: also if little is free, and the write-ahead log, too, because the disk is full.
    """
    free, pages = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if as_much and not free:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return False
    if not as_much and (free <= _SHRINK_PAGES or free * _FREE_RATIO <= pages):
        return False
    # a script runs to its end; execute() would stop after the first page, because the statement has no columns
    database.executescript(f"PRAGMA incremental_vacuum({_SHRINK_PAGES})")
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # only the checkpoint makes the file itself shorter
    return True


def probe_write(database: sqlite3.Connection) -> None:
    """Write a counter to test writes: unchanged data would not be written. Raises sqlite3.Error."""
    database.execute("UPDATE state SET probes = probes + 1")
