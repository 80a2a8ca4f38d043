"""The embedded engine: one SQLite log of writes, in a file or in memory.

Every write is a row of `log`; the newest row of a key is its state, a row without a value is a delete. Writes that
wait together are committed together, on the event loop itself: a writer thread would fight it for the interpreter
(see docs/architecture.md for the figures).
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from podless.store import keys
from podless.store.contract import (
    Change,
    Compacted,
    Conflicted,
    Damaged,
    Deliver,
    Operation,
    Record,
    StoreError,
)
from podless.store.keys import Stored

log = logging.getLogger("podless")

_FORMAT = 2
_APPLICATION = 0x706F646C  # "podl", so that another program's database is not taken for ours
# A commit's revision is the sequence number of its first row, so that revisions never run ahead of sequence numbers,
# and what is later than a revision is found by the primary key.
_SCHEMA = f"""
CREATE TABLE log (
    sequence INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    key TEXT NOT NULL,
    created INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    value BLOB
);
CREATE INDEX log_key ON log (key, revision);
CREATE TABLE state (compacted INTEGER NOT NULL);
INSERT INTO state VALUES (0);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
"""
# format 1 had one row for each revision
_UPGRADE = """
ALTER TABLE log RENAME COLUMN revision TO sequence;
ALTER TABLE log RENAME COLUMN mark TO offset;
ALTER TABLE log ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
UPDATE log SET revision = sequence;
DROP INDEX log_key;
CREATE INDEX log_key ON log (key, revision);
ALTER TABLE state RENAME COLUMN floor TO compacted;
PRAGMA user_version = 2;
"""
_NEWEST = "SELECT revision, created, value IS NULL FROM log WHERE key = ? ORDER BY revision DESC LIMIT 1"
_INSERT = "INSERT INTO log (sequence, revision, key, created, offset, value) VALUES (?, ?, ?, ?, ?, ?)"
# bare columns beside max() come from the row that has the maximum (documented by SQLite)
_STATE = """
SELECT key, value, offset, max(revision), created FROM log
WHERE key >= ? AND key < ? AND revision <= ? GROUP BY key ORDER BY key
"""
_CHANGES = """
SELECT key, value, offset, revision, created FROM log
WHERE sequence > ? AND revision > ? AND key >= ? AND key < ? ORDER BY sequence
"""
_BEFORE = """
SELECT key, value, offset, revision, created FROM log
WHERE key = ? AND revision < ? ORDER BY revision DESC LIMIT 1
"""
# looks only at what was written between the two revisions, so that its cost is that of those writes
_REPLACED = """
DELETE FROM log WHERE sequence IN (
    SELECT older.sequence FROM log AS newer JOIN log AS older
    ON older.key = newer.key AND older.revision < newer.revision
    WHERE newer.sequence > :old AND newer.sequence <= :new
)
"""
_DELETED = "DELETE FROM log WHERE value IS NULL AND sequence > :old AND sequence <= :new"
_STEP = 500  # revisions that one compaction forgets
_Row = tuple[str, bytes, int, int, int]
_Waiting = tuple[Sequence[Operation], asyncio.Future[int]]


class SQLiteStore:
    """A store in one SQLite database. Implements contract.Store.

    path: the database file, or None to keep everything in memory. retain: how many revisions of history to keep at
    least; older ones are compacted as writes come in.
    """

    prompt = True

    def __init__(self, path: Path | None = None, *, retain: int = 10_000) -> None:
        self._path = path
        self._retain = retain
        self._revision = 0
        self._sequence = 0
        self._compacted = 0
        self._database: sqlite3.Connection | None = None
        self._watches: list[tuple[str, Deliver]] = []
        self._waiting: list[_Waiting] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def compacted(self) -> int:
        """The newest compacted revision."""
        return self._compacted

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
        if self._path is not None:
            self._path.touch(0o600)  # keys and secrets are in it
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
        elif version == 1:
            database.executescript(f"BEGIN; {_UPGRADE} COMMIT;")
        elif version != _FORMAT:
            raise Damaged(f"{self._path}: format {version} is not the one that this release reads ({_FORMAT})")
        self._compacted = database.execute("SELECT compacted FROM state").fetchone()[0]
        newest = database.execute("SELECT revision, sequence FROM log ORDER BY sequence DESC LIMIT 1").fetchone()
        revision, sequence = newest or (0, 0)
        self._revision, self._sequence = max(revision, self._compacted), max(sequence, self._compacted)

    async def close(self) -> None:
        """Commit what waits, then close the database."""
        if self._database is not None:
            self._flush()
            self._database.close()
            self._database = None

    async def current(self) -> int:
        """The revision of the newest durable commit."""
        return self._revision

    def watch(self, prefix: str, after: int, deliver: Deliver) -> Callable[[], None]:
        """Have every later change under `prefix` delivered, before its writer learns of it. Raises Compacted."""
        missed = self._changes(prefix, after)
        watch = prefix, deliver
        self._watches.append(watch)
        if missed:
            _tell(deliver, missed, self._revision)
        return partial(self._leave, watch)

    def _leave(self, watch: tuple[str, Deliver]) -> None:
        self._watches = [known for known in self._watches if known is not watch]

    async def commit(self, operations: Sequence[Operation]) -> int:
        """Write durably and return the revision. Raises Conflicted, or StoreError where the disk fails."""
        if self._loop is None or self._database is None:
            raise StoreError("the store is closed")
        future: asyncio.Future[int] = self._loop.create_future()
        if not self._waiting:
            # after the callbacks that are ready now: the commits they bring share one transaction
            self._loop.call_soon(self._flush)
        self._waiting.append((operations, future))
        return await future

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._carry_out(waiting)

    def _carry_out(self, waiting: Sequence[_Waiting]) -> None:
        try:
            outcomes, changes = self._write([operations for operations, _ in waiting])
        except Exception as error:
            if len(waiting) > 1:  # whoever is at fault is the only one to fail
                for one in waiting:
                    self._carry_out([one])
                return
            outcomes, changes = [StoreError(f"the database refused a write: {error}")], []
        if changes:
            self._revision = changes[-1].revision
            for prefix, deliver in self._watches:
                told = changes if prefix == keys.ALL else [one for one in changes if one.key.startswith(prefix)]
                _tell(deliver, told, self._revision)
        for (_, future), outcome in zip(waiting, outcomes, strict=True):
            if future.done():  # its request was cancelled; the write is durable all the same
                continue
            if isinstance(outcome, int):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)
        if self._revision - self._compacted >= self._retain + _STEP:
            self._compact(self._revision - self._retain)

    def _write(self, commits: Sequence[Sequence[Operation]]) -> tuple[list[int | StoreError], list[Change]]:
        """Insert all that fits in one transaction; nothing outside the database changes before it is durable."""
        database = self._open_database()
        outcomes: list[int | StoreError] = []
        changes: list[Change] = []
        sequence = self._sequence
        database.execute("BEGIN IMMEDIATE")
        try:
            for operations in commits:
                revision = sequence + 1
                made = []
                for key, stored, expect in operations:
                    row = database.execute(_NEWEST, (key,)).fetchone()
                    actual, created = (row[0], row[1]) if row and not row[2] else (0, revision)
                    if actual != expect or (stored is None and not actual):
                        current = _record(database.execute(_BEFORE, (key, revision)).fetchone())
                        outcomes.append(Conflicted(key, current))
                        break
                    made.append((key, stored, created))
                else:
                    for key, stored, created in made:
                        sequence += 1
                        data, offset = stored if stored is not None else (None, 0)
                        database.execute(_INSERT, (sequence, revision, key, created, offset, data))
                        record = None if stored is None else Record(key, stored, revision, created)
                        changes.append(Change(key, revision, record))
                    outcomes.append(revision)
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        self._sequence = sequence
        return outcomes, changes

    async def range(self, prefix: str) -> tuple[list[Record], int]:
        """All records under `prefix` now, and the revision of that state."""
        return self._state(prefix, self._revision), self._revision

    async def range_at(self, prefix: str, revision: int) -> list[Record]:
        """All records under `prefix` as they were at `revision`. Raises Compacted."""
        if revision < self._compacted:
            raise Compacted(self._compacted)
        return self._state(prefix, revision)

    def _state(self, prefix: str, revision: int) -> list[Record]:
        rows = self._query(_STATE, (prefix, keys.end(prefix), revision))
        return [record for row in rows if (record := _record(row)) is not None]

    async def changes(self, prefix: str, after: int) -> list[Change]:
        """All changes under `prefix` later than `after`, each with the state it replaced. Raises Compacted."""
        changes = self._changes(prefix, after)
        return [one._replace(before=self._before(one)) for one in changes]

    def _changes(self, prefix: str, after: int) -> list[Change]:
        if after < self._compacted:
            raise Compacted(self._compacted)
        rows = self._query(_CHANGES, (after, after, prefix, keys.end(prefix)))
        return [Change(row[0], row[3], _record(row)) for row in rows]

    def _before(self, change: Change) -> Record | None:
        return next(map(_record, self._query(_BEFORE, (change.key, change.revision))), None)

    async def compact(self, revision: int) -> None:
        """Forget what was replaced or deleted at or before `revision`."""
        self._compact(min(revision, self._revision))

    def _compact(self, revision: int) -> None:
        if revision <= self._compacted:
            return
        database = self._open_database()
        try:
            database.execute("BEGIN IMMEDIATE")
            database.execute(_REPLACED, {"old": self._compacted, "new": revision})
            database.execute(_DELETED, {"old": self._compacted, "new": revision})
            database.execute("UPDATE state SET compacted = ?", (revision,))
            database.execute("COMMIT")
        except sqlite3.Error:
            # history is kept longer than need be; writes say so themselves when the disk is full
            if database.in_transaction:
                database.execute("ROLLBACK")
            return
        self._compacted = revision

    def _open_database(self) -> sqlite3.Connection:
        if self._database is None:
            raise StoreError("the store is closed")
        return self._database

    def _query(self, statement: str, arguments: tuple[object, ...]) -> Iterable[_Row]:
        try:
            return self._open_database().execute(statement, arguments).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"the database refused a read: {error}") from None


def _record(row: _Row | None) -> Record | None:
    """A row as the state of its key, None for a delete."""
    if row is None or row[1] is None:
        return None
    key, value, offset, revision, created = row
    return Record(key, Stored(value, offset), revision, created)


def _tell(deliver: Deliver, changes: Sequence[Change], revision: int) -> None:
    try:
        deliver(changes, revision)
    except Exception:
        log.exception("a watch of the store failed at revision %d", revision)
