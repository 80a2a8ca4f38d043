"""Reads packed states. Functions raise sqlite3.Error, and StoreDamaged for a row with a wrong checksum."""

from __future__ import annotations

import asyncio
import heapq
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection

from podless.store import keys
from podless.store.contract import StoreDamaged
from podless.store.history import unpack_value
from podless.store.sqlite.logrows import Row, verify_row
from podless.store.sqlite.past import PastResource

END = 1 << 62  # above all sequence numbers
# the place of a change: (sequence number, key number, revision); both 0 in the log
Place = tuple[int, int, int]

_SLICE_SECONDS = 0.005  # seconds after which reading yields
_SEARCHED_ROWS = 1000  # newest rows of a resource that are searched for those of a namespace
_SEARCHED_NAMES = 500  # keys in one search for states
_SELECT = "SELECT names.key, value, offset, revision, created, sequence, at, author, audit, checksum, base, name"
# both bounds, because a row's revision is never above its sequence number
_OF_NAME = """
SELECT sequence, name, revision FROM past WHERE name = ? AND revision < ? AND sequence < ? AND sequence > ?
ORDER BY revision DESC LIMIT ?
"""
_NEWEST = """
SELECT sequence, name, revision FROM past WHERE resource = ? AND sequence < ? AND sequence > ?
ORDER BY sequence DESC LIMIT ?
"""
_NEWEST_WITHIN = f"""
SELECT sequence, name, revision FROM ({_NEWEST}) JOIN names ON id = name WHERE key >= ? AND key < ?
ORDER BY sequence DESC LIMIT ?
"""


def find_revision_at(database: sqlite3.Connection, resources: Collection[PastResource], at: int) -> int:
    """Return the newest packed revision that was written at or before `at` (ms since 1970), 0 for none."""
    statement = "SELECT sequence, revision, at FROM past WHERE resource = ? AND sequence <= ? "
    statement += "ORDER BY sequence DESC LIMIT 1"

    def search_resource(number: int) -> int:
        return search_revision(lambda maximum: database.execute(statement, (number, maximum)).fetchone(), at)

    return max((search_resource(resource.number) for resource in resources if resource.rows), default=0)


def find_time_of(database: sqlite3.Connection, resources: Collection[PastResource], revision: int) -> int:
    """Return the time (ms since 1970) of the first packed change at or after a revision, 0 if there is none."""
    statement = "SELECT at FROM past WHERE resource = ? AND sequence >= ? ORDER BY sequence LIMIT 1"
    rows = (database.execute(statement, (resource.number, revision)).fetchone() for resource in resources)
    return min((int(row[0]) for row in rows if row is not None), default=0)


def search_revision(read: Callable[[int], tuple[int, int, int] | None], at: int, after: int = 0) -> int:
    """Return the newest revision that was written at or before a time in milliseconds, 0 for none.

    read: returns (sequence number, revision, time) of the row with the highest sequence number up to its argument.
    after: only rows after this sequence number count. Times never decrease along the sequence numbers.
    """
    best, low, high = 0, after, END
    while low < high:
        middle = (low + high + 1) // 2
        row = read(middle)
        if row is None or row[0] <= low:
            low = middle
        elif row[2] <= at:
            best, low = row[1], middle
        else:
            high = row[0] - 1
    return best


def read_state(
    database: sqlite3.Connection, prefix: str, revision: int, after: str = "", limit: int = -1
) -> tuple[list[Row], str, int]:
    """Return packed rows that were the newest of their keys at a revision, for a few milliseconds.

    after, limit: only so many keys after this one. Also returns the last key that was read, "" if there are no more,
    and the number of keys that were read.
    """
    names = "SELECT id, key FROM names WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
    first = max(after + "\0", prefix) if after else prefix
    batch = min(limit, _SEARCHED_NAMES) if limit >= 0 else _SEARCHED_NAMES
    looked = database.execute(names, (first, keys.prefix_end(prefix), batch)).fetchall()
    condition, rows = "past.name = ? AND revision <= ? ORDER BY revision DESC LIMIT 1", list[Row]()
    end = time.perf_counter() + _SLICE_SECONDS
    for number, (name, key) in enumerate(looked, 1):
        rows += _read_rows(database, condition, name, revision)
        if time.perf_counter() > end:
            return rows, key, number
    return rows, looked[-1][1] if len(looked) == batch else "", len(looked)


def find_places_of_key(database: sqlite3.Connection, key: str, before: int, after: int, limit: int) -> list[Place]:
    """Return the places of the newest rows of one key between two sequence numbers, newest first."""
    name = database.execute("SELECT id FROM names WHERE key = ?", (key,)).fetchone()
    return _find_places_of_name(database, name[0], before, after, limit) if name is not None else []


def _find_places_of_name(database: sqlite3.Connection, name: int, before: int, after: int, limit: int) -> list[Place]:
    return database.execute(_OF_NAME, (name, before, before, after, limit)).fetchall()


def find_places(
    database: sqlite3.Connection, resources: Collection[PastResource], prefix: str, before: int, after: int, limit: int
) -> list[Place] | None:
    """Return the places of the newest rows under a prefix between two sequence numbers, newest first.

    None for a namespace that has few of its resource's newest rows; use `merge_places` then.
    """
    resource = keys.prefix_of(prefix)
    chosen = [entry for entry in resources if resource in ("", "/", entry.prefix) and entry.rows]
    if prefix in (resource, "", "/"):
        rows = [row for item in chosen for row in database.execute(_NEWEST, (item.number, before, after, limit))]
        return sorted(rows, reverse=True)[:limit]
    if not chosen:
        return []
    looked = (chosen[0].number, before, after, _SEARCHED_ROWS, prefix, keys.prefix_end(prefix), limit)
    rows = database.execute(_NEWEST_WITHIN, looked).fetchall()
    return rows if len(rows) == limit else None


async def merge_places(
    database: Callable[[], sqlite3.Connection], prefix: str, before: int, after: int, limit: int
) -> list[Place]:
    """Return the same as `find_places`, from the newest rows of each key. Pauses every few milliseconds."""
    bounds = (prefix, keys.prefix_end(prefix))
    heads, end = list[tuple[int, int, int]](), time.perf_counter() + _SLICE_SECONDS
    for (name,) in database().execute("SELECT id FROM names WHERE key >= ? AND key < ?", bounds).fetchall():
        heads += [(-row[0], name, row[2]) for row in _find_places_of_name(database(), name, before, after, 1)]
        if time.perf_counter() > end:
            await asyncio.sleep(0)
            end = time.perf_counter() + _SLICE_SECONDS
    heapq.heapify(heads)
    places: list[Place] = []
    while heads and len(places) < limit:
        sequence, name, revision = heads[0]
        places.append((-sequence, name, revision))
        for row in _find_places_of_name(database(), name, -sequence, after, 1):
            heapq.heapreplace(heads, (-row[0], name, row[2]))
            break
        else:
            heapq.heappop(heads)
    return places


def read_row_at(database: sqlite3.Connection, name: int, revision: int) -> Row:
    """Return one row, with its value whole."""
    return _read_rows(database, "past.name = ? AND revision = ?", name, revision)[0]


def _read_rows(database: sqlite3.Connection, condition: str, *arguments: object) -> list[Row]:
    statement = f"{_SELECT} FROM past JOIN names ON names.id = past.name WHERE {condition}"
    rows = []
    frames: dict[tuple[int, int], bytes] = {}
    for *row, base, name in database.execute(statement, arguments).fetchall():
        if row[1] is not None:
            try:
                row[1] = _inflate_value(database, name, row[3], base, row[1], frames)
            except (zlib.error, TypeError):
                raise StoreDamaged(f"the database is damaged: {row[0]!r} at revision {row[3]} in the past") from None
        rows.append(verify_row(tuple(row)))
    return rows


def _inflate_value(
    database: sqlite3.Connection,
    name: int,
    revision: int,
    base: int,
    value: bytes,
    frames: dict[tuple[int, int], bytes],
) -> bytes:
    if not base:
        return frames.setdefault((name, revision), unpack_value(value))
    frame = frames.get((name, base))
    if frame is None:
        statement = "SELECT value FROM past WHERE name = ? AND revision = ?"
        row = database.execute(statement, (name, base)).fetchone()
        frame = frames[name, base] = unpack_value(row[0] if row is not None else b"")
    return unpack_value(value, frame)
