"""The embedded engine: one SQLite log of writes, in a file or in memory.

Every write is a row of `log`; the newest row of a key is its state, a row without a value is a delete. Writes that
wait together are committed together, on the event loop itself: a writer thread would fight it for the interpreter
(see docs/architecture.md for the figures).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from podless.store.contract import (
    Change,
    Compacted,
    Conflicted,
    Damaged,
    Record,
    State,
    StoreError,
    Subscriber,
    Write,
)

_FORMAT = 1
_APPLICATION = 0x706F646C  # "podl", so that another program's database is not taken for ours
_SCHEMA = f"""
CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    created INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    value BLOB
);
CREATE INDEX log_key ON log (key, revision);
CREATE TABLE state (floor INTEGER NOT NULL);
INSERT INTO state VALUES (0);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
"""
_NEWEST = "SELECT revision, created, value IS NULL FROM log WHERE key = ? ORDER BY revision DESC LIMIT 1"
_INSERT = "INSERT INTO log (revision, key, created, mark, value) VALUES (?, ?, ?, ?, ?)"
# bare columns beside max() come from the row that has the maximum (documented by SQLite)
_STATE = """
SELECT key, value, mark, max(revision), created FROM log
WHERE key >= ? AND key < ? AND revision <= ? GROUP BY key ORDER BY key
"""
_CHANGES = """
SELECT key, value, mark, revision, created FROM log
WHERE revision > ? AND key >= ? AND key < ? ORDER BY revision
"""
_BEFORE = """
SELECT key, value, mark, revision, created FROM log
WHERE key = ? AND revision < ? ORDER BY revision DESC LIMIT 1
"""
# looks only at what was written between the old floor and the new one, so that its cost is that of those writes
_REPLACED = """
DELETE FROM log WHERE revision IN (
    SELECT older.revision FROM log AS newer JOIN log AS older
    ON older.key = newer.key AND older.revision < newer.revision
    WHERE newer.revision > :old AND newer.revision <= :new
)
"""
_DELETED = "DELETE FROM log WHERE value IS NULL AND revision > :old AND revision <= :new"
_STEP = 500  # revisions that one compaction forgets


class SQLiteStore:
    """A store in one SQLite database. Implements contract.Store.

    path: the database file, or None to keep everything in memory. retain: how many revisions of history to keep at
    least; older ones are compacted as writes come in.
    """

    def __init__(self, path: Path | None = None, *, retain: int = 10_000) -> None:
        self._path = path
        self._retain = retain
        self._revision = 0
        self._floor = 0
        self._database: sqlite3.Connection | None = None
        self._subscribers: list[Subscriber] = []
        self._waiting: list[tuple[Write, tuple[State, ...], asyncio.Future[int]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def revision(self) -> int:
        """The revision of the newest durable write."""
        return self._revision

    @property
    def floor(self) -> int:
        """The newest compacted revision."""
        return self._floor

    async def open(self) -> None:
        """Open or create the database. Raises Damaged, or StoreError where it is in use or cannot be written."""
        self._loop = asyncio.get_running_loop()
        try:
            self._database = self._connect()
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise StoreError(f"{self._path}: another process is using this database") from None
            raise StoreError(f"{self._path}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise Damaged(f"{self._path}: not a podless database, or a damaged one ({error})") from None

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path or ":memory:", isolation_level=None, timeout=0)
        try:
            self._prepare(database)
        except BaseException:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("BEGIN EXCLUSIVE")  # takes the lock now, so that a second server fails at its start
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute("COMMIT")
        if not tables:
            database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        elif application != _APPLICATION:
            raise Damaged(f"{self._path}: this is another program's database")
        elif version != _FORMAT:
            raise Damaged(f"{self._path}: format {version} is not the one that this release reads ({_FORMAT})")
        self._floor = database.execute("SELECT floor FROM state").fetchone()[0]
        newest = database.execute("SELECT max(revision) FROM log").fetchone()[0]
        self._revision = max(newest or 0, self._floor)

    async def close(self) -> None:
        """Commit what waits, then close the database."""
        if self._database is not None:
            self._flush()
            self._database.close()
            self._database = None

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber` with every batch of durable changes, before their writers learn of them."""
        self._subscribers.append(subscriber)

    async def commit(self, write: Write, *later: State) -> int:
        """Write durably and return the newest revision. Raises Conflicted, or StoreError where the disk fails."""
        if self._loop is None or self._database is None:
            raise StoreError("the store is closed")
        future: asyncio.Future[int] = self._loop.create_future()
        if not self._waiting:
            # after the callbacks that are ready now: the writes they bring share one commit
            self._loop.call_soon(self._flush)
        self._waiting.append((write, later, future))
        return await future

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            outcomes, changes = self._write(waiting)
        except sqlite3.Error as error:
            failure = StoreError(f"the database refused a write: {error}")
            for _, _, future in waiting:
                if not future.done():
                    future.set_exception(failure)
            return
        if changes:
            self._revision = changes[-1].revision
            for subscriber in self._subscribers:
                subscriber(changes)
        for (_, _, future), outcome in zip(waiting, outcomes, strict=True):
            if future.done():  # its request was cancelled; the write is durable all the same
                continue
            if isinstance(outcome, int):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)
        if self._revision - self._floor >= self._retain + _STEP:
            self._compact(self._revision - self._retain)

    def _write(
        self, waiting: Sequence[tuple[Write, tuple[State, ...], asyncio.Future[int]]]
    ) -> tuple[list[int | Conflicted], list[Change]]:
        """Insert all that fits in one transaction; nothing outside the database changes before it is durable."""
        database = self._open_database()
        outcomes: list[int | Conflicted] = []
        changes: list[Change] = []
        revision = self._revision
        database.execute("BEGIN IMMEDIATE")
        try:
            for write, later, _ in waiting:
                row = database.execute(_NEWEST, (write.key,)).fetchone()
                actual, created = (row[0], row[1]) if row and not row[2] else (0, 0)
                if actual != write.expect or (write.value is None and not actual):
                    outcomes.append(Conflicted(write.key, actual))
                    continue
                for value, mark in ((write.value, write.mark), *later):
                    revision += 1
                    created = created or revision
                    database.execute(_INSERT, (revision, write.key, created, mark, value))
                    record = None if value is None else Record(write.key, value, mark, revision, created)
                    changes.append(Change(write.key, revision, record))
                outcomes.append(revision)
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        return outcomes, changes

    async def range(self, prefix: str) -> tuple[list[Record], int]:
        """All records under `prefix` now, and the revision of that state."""
        return self._state(prefix, self._revision), self._revision

    async def range_at(self, prefix: str, revision: int) -> list[Record]:
        """All records under `prefix` as they were at `revision`. Raises Compacted."""
        if revision < self._floor:
            raise Compacted(self._floor)
        return self._state(prefix, revision)

    def _state(self, prefix: str, revision: int) -> list[Record]:
        rows = self._query(_STATE, (prefix, _end(prefix), revision))
        return [Record(*row) for row in rows if row[1] is not None]

    async def changes(self, prefix: str, after: int) -> list[Change]:
        """All changes under `prefix` later than `after`, each with the state it replaced. Raises Compacted."""
        if after < self._floor:
            raise Compacted(self._floor)
        found = []
        for row in self._query(_CHANGES, (after, prefix, _end(prefix))):
            earlier = next(iter(self._query(_BEFORE, (row[0], row[3]))), None)
            before = Record(*earlier) if earlier is not None and earlier[1] is not None else None
            found.append(Change(row[0], row[3], Record(*row) if row[1] is not None else None, before))
        return found

    async def compact(self, revision: int) -> None:
        """Forget what was replaced or deleted at or before `revision`."""
        self._compact(min(revision, self._revision))

    def _compact(self, revision: int) -> None:
        if revision <= self._floor:
            return
        database = self._open_database()
        try:
            database.execute("BEGIN IMMEDIATE")
            database.execute(_REPLACED, {"old": self._floor, "new": revision})
            database.execute(_DELETED, {"old": self._floor, "new": revision})
            database.execute("UPDATE state SET floor = ?", (revision,))
            database.execute("COMMIT")
        except sqlite3.Error:
            # history is kept longer than need be; writes say so themselves when the disk is full
            if database.in_transaction:
                database.execute("ROLLBACK")
            return
        self._floor = revision

    def _open_database(self) -> sqlite3.Connection:
        if self._database is None:
            raise StoreError("the store is closed")
        return self._database

    def _query(self, statement: str, arguments: tuple[object, ...]) -> Iterable[tuple[str, bytes, int, int, int]]:
        try:
            return self._open_database().execute(statement, arguments).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"the database refused a read: {error}") from None


def _end(prefix: str) -> str:
    """The first key after all that start with `prefix`."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
