"""States that have left the window of the SQLite engine's log: packed, and kept within the bounds of the history log.

The log keeps a window of whole states for watches. When a row leaves it, the engine either forgets it or moves it here,
packed. pastreader.py reads it.

Every 32nd state of a key is stored whole (a keyframe). The others are deflated with their keyframe as the dictionary,
which leaves about 60 bytes of 1 KB. Any state can be read from two rows.

A resource has a horizon: states at and after it can be read, and all changes later than it are known. Rows before the
horizon stay if a later state needs them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import itemgetter

from podless.runtime.dataclass import dataclass
from podless.store import keys
from podless.store.contract import StoreError
from podless.store.history import HistoryBounds, is_exceeded, pack_value, unpack_value
from podless.store.sqlite.logrows import Row

SCHEMA = """
CREATE TABLE resources (
    id INTEGER PRIMARY KEY, prefix TEXT NOT NULL UNIQUE, horizon INTEGER NOT NULL, rows INTEGER NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE names (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE past (
    name INTEGER NOT NULL, revision INTEGER NOT NULL, resource INTEGER NOT NULL, sequence INTEGER NOT NULL,
    created INTEGER NOT NULL, offset INTEGER NOT NULL, at INTEGER NOT NULL, author INTEGER NOT NULL, audit BLOB,
    checksum INTEGER NOT NULL, base INTEGER NOT NULL, value BLOB, PRIMARY KEY (name, revision)
) WITHOUT ROWID;
CREATE INDEX past_sequence ON past (resource, sequence);
"""
_COLUMNS = "name, revision, resource, sequence, created, offset, at, author, audit, checksum, base, value"
_INSERT = f"INSERT OR IGNORE INTO past ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
_KEY_AND_REVISION = itemgetter(0, 3)
_ROW_BYTES = 120  # approximate bytes of a row besides its value and its key
_STEP_ROWS = 128  # maximum rows that one step forgets
_CHECK_INTERVAL = 1000  # milliseconds between two checks whether anything must be forgotten
_CACHED_NAMES = 4096  # keys whose numbers are cached
_KEYFRAME_INTERVAL = 32  # states from one keyframe of a key to the next
_CACHED_BYTES = 4 << 20  # bytes of cached keyframes
_DROP = -1  # in place of a revision: forget the whole resource


@dataclass(slots=True)
class PastResource:
    """The packed past of one resource. rows: number of stored states. size: their approximate bytes."""

    number: int
    prefix: str
    horizon: int
    rows: int = 0
    size: int = 0


class PackedHistory:
    """The packed part of one database. Methods that write are called within a transaction, and raise sqlite3.Error."""

    def __init__(self, bounds: HistoryBounds | None) -> None:
        self._bounds = bounds or HistoryBounds()
        self._idle = bounds is None
        self._looked = 0  # time of the last check that found nothing due
        self._resources: dict[str, PastResource] = {}
        self._keyframes = KeyframeCache()
        self._names: dict[str, int] = {}  # numbers of keys that were packed lately

    def open(self, database: sqlite3.Connection, compacted: int) -> None:
        """Read the state, and drop resources that are no longer kept.

        Raises StoreError if that would delete history without permission, and sqlite3.Error.
        """
        self.reload_state(database)
        if self._idle:
            return
        if not self._bounds.deletes:
            self._check_kept()
        prefixes = [prefix for prefix, keep in self._bounds.by_prefix.items() if keep is not None]
        prefixes += [keys.ALL] if self._bounds.default is not None else []
        for prefix in [entry for entry in prefixes if entry not in self._resources]:
            self._add_resource(database, prefix, compacted)
        if keys.ALL in self._resources and keys.ALL not in prefixes:
            self._drop_resource(database, self._resources.pop(keys.ALL))

    def _check_kept(self) -> None:
        """Raise StoreError if a resource would lose its past because an option was left out."""
        by_prefix = self._bounds.by_prefix
        lost = [each for each in self._resources.values() if each.rows and each.prefix not in by_prefix]
        if lost and self._bounds.default is None:
            names = sorted(".".join(filter(None, keys.resource_of(emptied.prefix)[::-1])) for emptied in lost)
            suffix = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise StoreError(
                f"the database has a history log of {sum(emptied.rows for emptied in lost)} changes "
                f"({', '.join(names[:3])}{suffix}): start with --history-log as before, or with --history-log off to "
                "delete it"
            )

    def reload_state(self, database: sqlite3.Connection) -> None:
        """Read the state again after a transaction was rolled back."""
        statement = "SELECT id, prefix, horizon, rows, size FROM resources"
        self._resources = {row[1]: PastResource(*row) for row in database.execute(statement)}
        self._keyframes.clear()
        self._names.clear()

    def _add_resource(self, database: sqlite3.Connection, prefix: str, horizon: int) -> PastResource:
        statement = "INSERT INTO resources (prefix, horizon, rows, size) VALUES (?, ?, 0, 0)"
        number = database.execute(statement, (prefix, horizon)).lastrowid
        resource = self._resources[prefix] = PastResource(int(number or 0), prefix, horizon)
        return resource

    def _drop_resource(self, database: sqlite3.Connection, resource: PastResource) -> None:
        end = keys.prefix_end(resource.prefix)
        if resource.prefix != keys.ALL:
            names = "SELECT id FROM names WHERE key >= ? AND key < ?"
            database.execute(f"DELETE FROM past WHERE name IN ({names})", (resource.prefix, end))
            database.execute("DELETE FROM names WHERE key >= ? AND key < ?", (resource.prefix, end))
            self._names.clear()
        database.execute("DELETE FROM resources WHERE id = ?", (resource.number,))

    def find_horizon(self, prefix: str, compacted: int) -> int:
        """Return the revision from which on states of all keys under a prefix can be read.

        compacted: the start of the window, which is the result if nothing is kept beyond it.
        """
        if not self._idle and not self._bounds.keeps(prefix):
            return compacted
        resource, common = keys.prefix_of(prefix), self._resources.get(keys.ALL)
        if resource not in ("", "/"):
            packed = self._resources.get(resource) or common
            return min(compacted, packed.horizon) if packed is not None else compacted
        if common is None:
            return compacted
        return min(compacted, max(entry.horizon for entry in self._resources.values()))

    @property
    def active_resources(self) -> Collection[PastResource]:
        """The resources that have packed states or may get some."""
        return self._resources.values()

    # writing

    @property
    def keeps_any(self) -> bool:
        """Whether states of any resource are kept."""
        return self._bounds.keeps_any

    def pack_rows(self, database: sqlite3.Connection, rows: list[Row], old: int) -> None:
        """Take over rows that leave the log when its window moves on from a revision."""
        touched: dict[str, PastResource] = {}
        rows.sort(key=_KEY_AND_REVISION)
        for prefix, of_resource in groupby(rows, lambda row: keys.prefix_of(row[0])):
            if self._bounds.bounds_of(prefix) is None:
                continue
            resource = self._resources.get(prefix)
            if resource is None:
                common = self._resources.get(keys.ALL)
                resource = self._add_resource(database, prefix, common.horizon if common is not None else old)
            touched[prefix] = resource
            self._take_over(database, resource, of_resource)
        self._write_resources(database, touched.values())

    def _take_over(self, database: sqlite3.Connection, resource: PastResource, rows: Iterable[Row]) -> None:
        """Store rows of one resource, ordered by key and revision."""
        packed, size = list[tuple[object, ...]](), 0
        name, last_key, ended = 0, "", False
        for key, value, offset, revision, created, sequence, at, author, audit, checksum in rows:
            if key != last_key:
                last_key, ended = key, False
                name = self._number_key(database, key)
            base, data = self._keyframes.pack_value(database, name, revision, value, first=ended)
            ended = value is None  # the next state of the key belongs to a new object
            stored = (name, revision, resource.number, sequence, created, offset, at, author, audit, checksum, base)
            packed.append((*stored, data))
            size += _ROW_BYTES + len(data or b"")
        inserted = database.executemany(_INSERT, packed).rowcount
        resource.rows += inserted
        resource.size += size * inserted // len(packed)

    def _number_key(self, database: sqlite3.Connection, key: str) -> int:
        name = self._names.get(key)
        if name is None:
            row = database.execute("SELECT id FROM names WHERE key = ?", (key,)).fetchone()
            if row is None:
                row = (database.execute("INSERT INTO names (key) VALUES (?)", (key,)).lastrowid,)
            if len(self._names) >= _CACHED_NAMES:
                self._names.clear()
            name = self._names[key] = int(row[0] or 0)
        return name

    def _write_resources(self, database: sqlite3.Connection, resources: Iterable[PastResource]) -> None:
        statement = "UPDATE resources SET horizon = ?, rows = ?, size = ? WHERE id = ?"
        for resource in resources:
            database.execute(statement, (resource.horizon, resource.rows, resource.size, resource.number))

    # forgetting

    def find_due(
        self, database: sqlite3.Connection, now: int, *, full: bool = False
    ) -> tuple[PastResource, int] | None:
        """Return the resource that must forget states next, and up to which revision; None if all are kept.

        now: milliseconds since 1970. full: the disk is full, so everything must go.
        """
        if not full and (self._idle or now - self._looked < _CHECK_INTERVAL):
            return None
        due = self._find_due(database, now, full=full)
        if due is None:
            self._looked = now
        return due

    def _find_due(self, database: sqlite3.Connection, now: int, *, full: bool) -> tuple[PastResource, int] | None:
        common = []
        for past in self._resources.values():
            if self._bounds.bounds_of(past.prefix) is None and past.prefix != keys.ALL and not full:
                return past, self._step_end(database, past) if self._read_oldest(database, past) else _DROP
            keep = self._bounds.by_prefix.get(past.prefix)
            if keep is not None and not full:
                first = self._read_oldest(database, past)
                if first is not None and is_exceeded(keep, past.rows, past.size, now - first[1]):
                    return past, self._step_end(database, past)
            elif past.rows:
                common.append(past)
        oldest = [(first, past) for past in common if (first := self._read_oldest(database, past)) is not None]
        if not oldest:
            return None
        oldest.sort(key=lambda pair: pair[0])
        first, past = oldest[0]
        rows, size, keep = sum(past.rows for past in common), sum(past.size for past in common), self._bounds.default
        if not full and (keep is None or not is_exceeded(keep, rows, size, now - first[1])):
            return None
        end = self._step_end(database, past)
        # take turns: the resource with the oldest row goes first, up to the oldest row of the next one, but at least
        # one step
        if len(oldest) > 1:
            end = max(min(end, oldest[1][0][0]), first[0])
        return past, end

    def skip_to(self, database: sqlite3.Connection, revision: int) -> None:
        """Move all horizons to a revision, because states that left the window before it were not packed."""
        for resource in self._resources.values():
            resource.horizon = max(resource.horizon, revision)
        self._write_resources(database, self._resources.values())

    def _read_oldest(self, database: sqlite3.Connection, resource: PastResource) -> tuple[int, int] | None:
        """Return the sequence number and the time of a resource's oldest row behind the horizon."""
        statement = "SELECT sequence, at FROM past WHERE resource = ? AND sequence > ? ORDER BY sequence LIMIT 1"
        row = database.execute(statement, (resource.number, resource.horizon)).fetchone()
        return (row[0], row[1]) if row is not None else None

    def _step_end(self, database: sqlite3.Connection, resource: PastResource) -> int:
        statement = "SELECT max(sequence) FROM (SELECT sequence FROM past WHERE resource = ? AND sequence > ? "
        statement += "ORDER BY sequence LIMIT ?)"
        return int(database.execute(statement, (resource.number, resource.horizon, _STEP_ROWS)).fetchone()[0])

    def forget_before(self, database: sqlite3.Connection, resource: PastResource, end: int) -> None:
        """Move a resource's horizon to a revision, and delete the rows that no later state needs."""
        if end == _DROP:
            self._drop_resource(database, self._resources.pop(resource.prefix))
            return
        between = "SELECT DISTINCT name FROM past WHERE resource = ? AND sequence > ? AND sequence <= ?"
        names = {row[0] for row in database.execute(between, (resource.number, resource.horizon, end))}
        current = (
            "SELECT names.id FROM log JOIN names ON names.key = log.key "
            "WHERE log.sequence > ? AND log.sequence <= ? AND log.key >= ? AND log.key < ?"
        )
        bounds = (resource.horizon, end, resource.prefix, keys.prefix_end(resource.prefix))
        names |= {row[0] for row in database.execute(current, bounds)}
        for name in names:
            deleted, size = self._forget_name(database, name, end)
            resource.rows -= deleted
            resource.size -= size
        resource.horizon = end
        self._write_resources(database, [resource])
        common = self._resources.get(keys.ALL)
        if common is not None and resource.prefix not in self._bounds.by_prefix and end > common.horizon:
            common.horizon = end
            self._write_resources(database, [common])

    def _forget_name(self, database: sqlite3.Connection, name: int, end: int) -> tuple[int, int]:
        """Delete what no state of a key at or after a revision needs. Returns the number of rows, and their bytes."""
        newer = "SELECT 1 FROM log JOIN names ON names.key = log.key WHERE names.id = ? AND log.revision <= ? LIMIT 1"
        newest = "SELECT revision, base, value IS NULL FROM past WHERE name = ? AND revision <= ? "
        last = database.execute(newest + "ORDER BY revision DESC LIMIT 1", (name, end)).fetchone()
        if last is None:
            return 0, 0
        if last[2] or database.execute(newer, (name, end)).fetchone():
            first = last[0] + 1
        else:
            first = last[1] or last[0]
        condition = "FROM past WHERE name = ? AND revision < ?"
        count = f"SELECT count(*), total(coalesce(length(value), 0)) {condition}"
        deleted, size = database.execute(count, (name, first)).fetchone()
        if deleted:
            database.execute(f"DELETE {condition}", (name, first))
            if not database.execute("SELECT 1 FROM past WHERE name = ? LIMIT 1", (name,)).fetchone():
                key = database.execute("SELECT key FROM names WHERE id = ?", (name,)).fetchone()
                database.execute("DELETE FROM names WHERE id = ?", (name,))
                self._names.pop(key[0], None)
                self._keyframes.drop_keyframe(name)
        return deleted, int(size) + deleted * _ROW_BYTES


class KeyframeCache:
    """A cache of the last keyframe of each key. Methods raise sqlite3.Error."""

    def __init__(self) -> None:
        # by the key's number: revision of its keyframe, value, number of states that refer to it
        self._frames: dict[int, tuple[int, bytes, int]] = {}
        self._size = 0

    def clear(self) -> None:
        """Drop all cached keyframes, because the database may have others."""
        self._frames.clear()
        self._size = 0

    def pack_value(
        self, database: sqlite3.Connection, name: int, revision: int, value: bytes | None, *, first: bool
    ) -> tuple[int, bytes | None]:
        """Return the revision of a value's keyframe (0 if the value is a keyframe itself), and the value to store.

        first: the object has no keyframe yet.
        """
        if value is None:
            self.drop_keyframe(name)
            return 0, None
        frame = None if first else self._read_frame(database, name)
        if frame is not None and frame[2] < _KEYFRAME_INTERVAL:
            packed = pack_value(value, frame[1])
            if len(packed) * 2 < len(value):
                self._frames[name] = (frame[0], frame[1], frame[2] + 1)
                return frame[0], packed
        self.drop_keyframe(name)
        self._frames[name] = (revision, value, 0)
        self._size += len(value)
        while self._size > _CACHED_BYTES and len(self._frames) > 1:
            self.drop_keyframe(next(iter(self._frames)))
        return 0, pack_value(value)

    def drop_keyframe(self, name: int) -> None:
        """Drop the cached keyframe of a key."""
        frame = self._frames.pop(name, None)
        if frame is not None:
            self._size -= len(frame[1])

    def _read_frame(self, database: sqlite3.Connection, name: int) -> tuple[int, bytes, int] | None:
        frame = self._frames.get(name)
        if frame is not None:
            return frame
        newest = "SELECT revision, base, value IS NULL FROM past WHERE name = ? ORDER BY revision DESC LIMIT 1"
        row = database.execute(newest, (name,)).fetchone()
        if row is None or row[2]:
            return None
        base = row[1] or row[0]
        statement = "SELECT value FROM past WHERE name = ? AND revision = ?"
        since = database.execute("SELECT count(*) FROM past WHERE name = ? AND revision > ?", (name, base)).fetchone()
        value = unpack_value(database.execute(statement, (name, base)).fetchone()[0])
        self._frames[name] = frames = (base, value, since[0])
        self._size += len(value)
        return frames
