"""The embedded engine: one SQLite log of writes, in a file or in memory.

Every write is a row of `log`. The newest row of a key is its state; a row without a value is a delete. Writes that wait
together are committed together, on the event loop itself: a writer thread would compete with it for the GIL
(docs/explanation/decisions/02-sqlite.md has figures).
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import perf_counter as _clock
from typing import Any

from podless.runtime.collector import pause_gc
from podless.runtime.histogram import Histogram
from podless.runtime.traces import trace_error
from podless.store import keys
from podless.store.contract import (
    AUTHOR,
    BUCKETS,
    FOLLOWING,
    KEPT,
    NOBODY,
    Author,
    Deliver,
    DiskFull,
    HistoryCompacted,
    Lost,
    Operation,
    Record,
    RevisionConflict,
    Store,
    StoreChange,
    StoreDamaged,
    StoreError,
)
from podless.store.engines import StoreSettings
from podless.store.history import HistoryBounds, Keep
from podless.store.keys import StoredValue
from podless.store.sqlite import format, logrows, refusals
from podless.store.sqlite.changelog import SQLiteChangeLog
from podless.store.sqlite.checkpoints import Checkpoints
from podless.store.sqlite.disk import DiskSpace
from podless.store.sqlite.format import reject_foreign as reject_foreign
from podless.store.sqlite.logrows import AuthorTable, Row, read_row, read_rows, row_checksum
from podless.store.sqlite.past import PackedHistory
from podless.store.sqlite.window import HistoryWindow, probe_write

log = logging.getLogger("podless")

_NEWEST = "SELECT revision, created, length(value) FROM log WHERE key = ? ORDER BY revision DESC LIMIT 1"
# the bytes that each write since the compacted revision has replaced
_HISTORY = """
SELECT newer.revision, newer.at, (
    SELECT length(older.value) FROM log AS older
    WHERE older.key = newer.key AND older.revision < newer.revision ORDER BY older.revision DESC LIMIT 1
) FROM log AS newer WHERE newer.sequence > ? ORDER BY newer.sequence
"""
_READ_CHANGES = 32  # changes in one read
_MAX_READ_BYTES = 1 << 18  # bytes of changes read in one iteration of the loop; each row counts `_ROW_BYTES` bytes more
_ROW_BYTES = 4096
_ABSENT_KEY = "/health"  # a key that does not exist
_DELETED_VALUE = None, 0, False  # in place of the stored value of a deleted key
_ABSENT_STATE = 0, 0, None  # revisions and length of a key that never existed
_INSERT = format.INSERT
_new = tuple.__new__  # the constructor of the named tuples, without their Python-level __new__
# Seconds for which a commit waits for others. While 16 clients created objects, a transaction had 8 commits if only one
# short iteration of the loop could bring more, and 11 with this limit, although other processes used the machine.
_MAX_COMMIT_DELAY = 0.005
_Commits = Sequence[Sequence[Operation]]  # a chain
# a chain, its author, its future result, and whether the result is the revision of its only commit
_Waiting = tuple[_Commits, Author, asyncio.Future[Any], bool]


class SQLiteStore(Store):
    """A store in one SQLite database.

    path: the database file, None to keep everything in memory. keep: how much history is kept for watches; older
    history is forgotten in the background, and its space in the file is freed. bounds: what is packed and kept for
    longer; None packs nothing and leaves packed states as they are. authors: record authors in the log.
    """

    name = "sqlite"
    prompt = True
    atomic = True

    def __init__(
        self,
        path: Path | None = None,
        *,
        keep: Keep | None = None,
        bounds: HistoryBounds | None = None,
        authors: bool = True,
    ) -> None:
        self._durations = Histogram(BUCKETS)
        self.durations = {"txn": self._durations}
        self._path = path
        self._revision = 0
        self._sequence = 0
        self._database: sqlite3.Connection | None = None
        self._cursor: sqlite3.Cursor | None = None  # of all writes
        self._disk = DiskSpace(path, self._open_database)
        self._past = PackedHistory(bounds)
        self._checkpoints = Checkpoints(path, self._flush_commits)
        self._window = HistoryWindow(
            keep or Keep(), self._past, self._disk, self._checkpoints, self._open_database, lambda: self._revision
        )
        self._authors = AuthorTable()
        self._records = authors
        self.changelog = SQLiteChangeLog(self._open_database, self._past, self._window)
        self._watches: list[tuple[str, Deliver]] = []
        self._waiting: list[_Waiting] = []
        self._was_alone = False  # the last transaction had one chain
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def compacted_revision(self) -> int:
        return self._window.compacted

    async def open(self) -> None:
        """Open or create the database. Raises StoreDamaged, StoreInUse, or StoreError if it cannot be written.

        On a full disk, an existing one can be read, and writes are rejected until there is room.
        """
        self._loop = asyncio.get_running_loop()
        self._database = format.open_database(self._path)
        self._cursor = self._database.cursor()
        try:
            self._load_state(self._database)
        except StoreError:
            self._database.close()
            self._database = self._cursor = None
            raise
        except (sqlite3.Error, UnicodeError) as error:
            raise StoreDamaged(
                f"{self._path}: the database is damaged ({refusals.describe_error(error)}); restore a backup"
            ) from None
        self._checkpoints.open(self._database, self._loop)
        self._disk.open()
        self._window.start(self._loop)
        try:
            self._regain_reserve()
        except DiskFull as error:
            self._disk.full = True
            self._disk.note_failure(str(error))

    def _load_state(self, database: sqlite3.Connection) -> None:
        compacted, check = self._read_numbers(*database.execute("SELECT compacted, checksum FROM state").fetchone())
        if check != format.checksum_of(compacted):
            raise StoreDamaged(f"{self._path}: the database is damaged (its state); restore a backup")
        newest = database.execute("SELECT revision, sequence FROM log ORDER BY sequence DESC LIMIT 1").fetchone()
        revision, sequence = self._read_numbers(*(newest or (0, 0)))
        self._window.compacted = compacted
        self._revision, self._sequence = max(revision, compacted), max(sequence, compacted)
        for written, at, replaced in database.execute(_HISTORY, (compacted,)):
            _, at = self._read_numbers(written, at)
            self._window.clock.newest = max(self._window.clock.newest, at)
            self._window.note_writes(written, replaced or 0, at)
        self._past.open(database, compacted)

    def _read_numbers(self, *values: Any) -> Sequence[int]:
        """Return columns that must be numbers; SQLite accepts any type in a column. Raises StoreDamaged."""
        if any(type(value) is not int for value in values):
            raise StoreDamaged(f"{self._path}: the database is damaged (a column has no number); restore a backup")
        return values

    async def close(self) -> None:
        """Commit pending writes, then close the database."""
        self._window.stop()
        if self._database is not None:
            await self._checkpoints.close()
            self._flush_commits()
            self._database.close()
            self._database = self._cursor = None

    def has_newest(self, revision: int) -> bool:
        return True

    async def read_revision(self) -> int:
        return self._revision

    async def check_health(self) -> None:
        logrows.read_state(self._open_database(), _ABSENT_KEY, self._revision, limit=1)
        self._disk.check_files()
        if self._disk.refused:
            self._regain_reserve()
            try:
                probe_write(self._open_database())
            except sqlite3.Error as error:
                raise refusals.make_write_error(error) from None
            self._disk.note_success()

    def watch(self, prefix: str, after: int, deliver: Deliver, lost: Lost | None = None) -> Callable[[], None]:
        """Deliver every later change under `prefix`, before its writer gets the result. Raises HistoryCompacted."""
        missed = [StoreChange(row[0], row[3], read_row(row)) for row in self._read_changes(prefix, after, after)]
        watch = prefix, deliver
        self._watches.append(watch)
        if missed:
            _deliver_changes(deliver, prefix, missed, self._revision)
        return partial(self._remove_watch, watch)

    def _remove_watch(self, watch: tuple[str, Deliver]) -> None:
        self._watches = [entry for entry in self._watches if entry is not watch]

    def commit(self, operations: Sequence[Operation]) -> asyncio.Future[int]:
        return self._queue_chain((operations,), alone=True)

    def commit_chain(self, commits: _Commits) -> asyncio.Future[list[int]]:
        """Write the chain in one transaction, up to the first commit that fails. Raises as `commit` does."""
        return self._queue_chain(commits, alone=False)

    def _queue_chain(self, commits: _Commits, *, alone: bool) -> asyncio.Future[Any]:
        """Queue a chain of commits. alone: its result is the revision of its only commit. Raises StoreError."""
        loop = self._loop
        if loop is None or self._database is None:
            raise StoreError("the store is closed")
        future: asyncio.Future[Any] = loop.create_future()
        if not self._waiting:
            # iterations of the loop cost less than a transaction
            loop.call_soon(self._flush_soon, _clock(), 0)
        self._waiting.append((commits, AUTHOR.get() if self._records else NOBODY, future, alone))
        return future

    def _flush_soon(self, since: float, seen: int) -> None:
        """Write what waits, or wait for more as long as each iteration of the loop brings more commits.

        since: when the first one came. seen: how many waited an iteration ago.
        """
        count = len(self._waiting)
        alone = count == 1 and self._was_alone
        if count > seen and not alone and self._loop is not None and _clock() - since < _MAX_COMMIT_DELAY:
            self._loop.call_soon(self._flush_soon, since, count)
        else:
            self._flush_commits()

    def _flush_commits(self) -> None:
        if self._checkpoints.waits:
            return  # the end of the checkpoint calls this again
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._carry_out(waiting)

    def _carry_out(self, waiting: Sequence[_Waiting]) -> None:
        began = _clock()
        self._was_alone = len(waiting) == 1
        try:
            outcomes, changes = self._write_with_reserve(waiting)
        except Exception as error:
            if len(waiting) > 1:  # commit one by one, so that only the failing write is rejected
                for chain in waiting:
                    self._carry_out([chain])
                return
            outcomes, changes = [refusals.make_write_error(error)], []
            if isinstance(error, sqlite3.Error):
                self._disk.refuse_error(error)
        else:
            if self._disk.refused:
                self._disk.note_success()
        self._durations.observe_seconds(_clock() - began)
        if changes:
            self._revision = revision = changes[-1].revision
            for prefix, deliver in self._watches:
                _deliver_changes(deliver, prefix, changes, revision)
        for (_, _, future, alone), outcome in zip(waiting, outcomes, strict=True):
            if future.done():  # the request was cancelled, but its write is durable
                continue
            if isinstance(outcome, list):
                future.set_result(outcome[0] if alone else outcome)
            else:
                future.set_exception(outcome)

    def _write_with_reserve(self, chains: Sequence[_Waiting]) -> tuple[list[list[int] | StoreError], list[StoreChange]]:
        if self._disk.refused and self._disk.is_released and not _only_frees(chains):
            self._regain_reserve()
        try:
            return self._write_commits(chains)
        except sqlite3.Error as error:
            if not _only_frees(chains) or not self._disk.release_reserve(error):
                raise
        self._window.do_step()
        return self._write_commits(chains)

    def _regain_reserve(self) -> None:
        """Allocate the reserve again if deletes have used it. Raises DiskFull."""
        try:
            self._disk.regain_reserve()
        except DiskFull:
            self._window.do_step()
            raise

    def _write_commits(self, chains: Sequence[_Waiting]) -> tuple[list[list[int] | StoreError], list[StoreChange]]:
        """Insert everything valid in one transaction. Nothing outside the database changes before it is durable."""
        cursor = self._cursor
        if cursor is None:
            raise StoreError("the store is closed")
        database, execute = cursor.connection, cursor.execute
        self._disk.check_files_in_time()
        outcomes: list[list[int] | StoreError] = []
        changes: list[StoreChange] = []
        sequence, now, replaced, size = self._sequence, self._window.clock.next_time(), 0, 0
        # sqlite3 writes bytearrays as they are; of bytes and None, it first looks for adapters, which takes 0.4 us each
        latest, number, audit = NOBODY, 0, bytearray()
        execute("BEGIN IMMEDIATE")
        try:
            for commits, author, _, _ in chains:
                if author is not latest:
                    latest, number, audit = author, self._authors.number_of(database, author), bytearray(author.audit)
                revision, revisions = 0, list[int]()
                try:
                    for operations in commits:
                        last, revision = revision, sequence + 1
                        for key, stored, created, length in _plan_commit(cursor, operations, revision, last):
                            sequence += 1
                            replaced += length
                            value, offset, _ = stored or _DELETED_VALUE
                            check = row_checksum(key, value, offset, revision, created, sequence, now, number, audit)
                            data = value and bytearray(value)
                            execute(
                                _INSERT, (key, data, offset, revision, created, sequence, now, number, audit, check)
                            )
                            after = None
                            if value is not None:
                                after = _new(Record, (key, stored, revision, created))
                                size += len(value)
                            changes.append(_new(StoreChange, (key, revision, after, None)))
                        revisions.append(revision)
                except RevisionConflict as conflict:
                    # its traceback has this frame, which refers to it: a cycle, which only the collector would free
                    outcomes.append(revisions or conflict.with_traceback(None))
                else:
                    outcomes.append(revisions)
            execute("COMMIT")
        except BaseException:
            self._authors.forget_numbers()
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        self._sequence = sequence
        if changes:
            self._window.note_writes(changes[-1].revision, replaced, now)
            self._checkpoints.note_writes(len(changes), size)
        return outcomes, changes

    async def read_range(self, prefix: str) -> tuple[list[Record], int]:
        return self._read_state(prefix, self._revision), self._revision

    async def read_range_at(self, prefix: str, revision: int) -> list[Record]:
        records = self._read_state(prefix, revision)
        if revision >= self._window.compacted:
            return records
        packed, _ = await self.changelog.read_state(prefix, revision)
        return _merge_packed(records, packed)

    def _read_state(self, prefix: str, revision: int) -> list[Record]:
        with pause_gc():
            return read_rows(logrows.read_state(self._open_database(), prefix, revision))

    async def read_page(
        self, revision: int, after: str, limit: int, prefix: str = keys.ALL
    ) -> tuple[list[Record], str]:
        rows, end = logrows.read_page(self._open_database(), prefix, revision, after, limit)
        if revision >= self._window.compacted:
            return read_rows(rows), end
        packed, last = await self.changelog.read_state(prefix, revision, after, limit)
        end = min(filter(None, (end, last)), default="")
        return [record for record in _merge_packed(read_rows(rows), packed) if not end or record.key <= end], end

    def hold_history(self) -> ExitStack:
        return self._window.holds.add()

    async def advance_revision(self, revision: int, say: Callable[[int], None] = lambda _: None) -> None:
        if revision > self._revision:
            self._revision, self._sequence = revision, max(revision, self._sequence)
        self._window.move_to(self._revision)

    async def read_changes(self, prefix: str, after: int) -> list[StoreChange]:
        with self.hold_history():
            changes: list[StoreChange] = []
            end, sequence, read = self._revision, after, 0
            while True:
                rows = self._read_changes(prefix, after, sequence, _READ_CHANGES)
                for row in rows:
                    if row[3] > end:  # written during this read
                        return changes
                    before = logrows.read_before(self._open_database(), row[0], row[3])
                    changes.append(StoreChange(row[0], row[3], read_row(row), read_row(before)))
                    read += _ROW_BYTES + len(row[1] or b"") + (len(before[1] or b"") if before is not None else 0)
                    if read > _MAX_READ_BYTES:
                        read = 0
                        await asyncio.sleep(0)
                        if after < self._window.compacted:
                            raise HistoryCompacted(self._window.compacted)
                if len(rows) < _READ_CHANGES:
                    return changes
                sequence = rows[-1][5]

    def _read_changes(self, prefix: str, after: int, sequence: int, limit: int = -1) -> list[Row]:
        """Return rows later than a revision and than a sequence number. Raises HistoryCompacted."""
        if after < self._window.compacted:
            raise HistoryCompacted(self._window.compacted)
        return logrows.read_changes(self._open_database(), prefix, after, sequence, limit)

    async def compact(self, revision: int) -> None:
        self._window.move_to(min(revision, self._revision))

    def read_figures(self) -> dict[str, int]:
        database = self._open_database()
        size = 1
        for pragma in ("page_count", "page_size"):
            size *= database.execute(f"PRAGMA {pragma}").fetchone()[0]
        return {
            "revision": self._revision,
            "compacted": self._window.compacted,
            "size": size,
            "history": self._window.history.size,
            "oldest": self._window.history.oldest_time,
        }

    def _open_database(self) -> sqlite3.Connection:
        if self._database is None:
            raise StoreError("the store is closed")
        return self._database


def _plan_commit(
    cursor: sqlite3.Cursor, operations: Sequence[Operation], revision: int, last: int
) -> list[tuple[str, StoredValue | None, int, int]]:
    """Return the rows that a commit writes. Raises RevisionConflict.

    A row is a key, its value, the revision that created the key, and the number of bytes that the value replaces.
    last: the revision of the previous commit.
    """
    rows = []
    for key, stored, expect, _ in operations:
        actual, created, length = cursor.execute(_NEWEST, (key,)).fetchone() or _ABSENT_STATE
        if length is None:
            actual, created, length = 0, revision, 0
        if (actual != expect and (expect != FOLLOWING or actual != last)) or (stored is None and not actual):
            raise RevisionConflict(key, read_row(logrows.read_before(cursor.connection, key, revision)))
        if stored is not KEPT:
            rows.append((key, stored, created, length))
    return rows


def _merge_packed(records: list[Record], packed: list[Row]) -> list[Record]:
    """Merge packed records into a state, in key order. Records that are not packed are newer."""
    keys = {record.key for record in records}
    return sorted([*records, *(row for row in read_rows(packed) if row.key not in keys)])


def _only_frees(chains: Sequence[_Waiting]) -> bool:
    """Return whether all operations free space."""
    operations = [item for commits, *_ in chains for commit in commits for item in commit if item.stored is not KEPT]
    return all(operation.stored is None or operation.frees for operation in operations)


def _deliver_changes(deliver: Deliver, prefix: str, changes: Sequence[StoreChange], revision: int) -> None:
    if prefix != keys.ALL:
        changes = [change for change in changes if change.key.startswith(prefix)]
    try:
        deliver(changes, revision)
    except Exception as error:
        log.error("store: a watch handler failed at revision %d: %s", revision, trace_error(error))


def make_store(settings: StoreSettings) -> SQLiteStore:
    """Return a store, not opened yet."""
    bounds = settings.bounds if settings.compacting else None
    store = SQLiteStore(settings.database, keep=settings.keep, bounds=bounds, authors=settings.authors)
    if not settings.compacting:
        store.hold_history()
    return store
