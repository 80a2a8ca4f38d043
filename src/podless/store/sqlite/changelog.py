"""The log of changes in a SQLite database: the window of whole states, and the packed past before it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from podless.runtime import lazy
from podless.store import keys
from podless.store.contract import Author, ChangeLog, HistoryCompacted, LoggedWrite, Record
from podless.store.keys import StoredValue
from podless.store.sqlite import refusals
from podless.store.sqlite.logrows import COLUMNS, Row, read_author, verify_row
from podless.store.sqlite.past import PackedHistory
from podless.store.sqlite.window import HistoryWindow

if TYPE_CHECKING:
    from podless.store.sqlite import pastreader
    from podless.store.sqlite.pastreader import Place
else:
    pastreader = lazy.LateModule("podless.store.sqlite.pastreader")

_READ_BYTES = 4 << 20  # bytes of values in one read
_SLICE_SECONDS = 0.005  # seconds of reading in one iteration of the loop
_OF_KEY = "SELECT sequence FROM log WHERE key = ? AND sequence < ? AND sequence > ? ORDER BY revision DESC LIMIT ?"
_NEWEST_ROWS = "SELECT sequence FROM log WHERE sequence < ? AND sequence > ? ORDER BY sequence DESC LIMIT ?"
# by the key's index, because few rows of the log are under one prefix
_NEWEST_UNDER = """
SELECT sequence FROM log INDEXED BY log_key WHERE key >= ? AND key < ? AND sequence < ? AND sequence > ?
ORDER BY sequence DESC LIMIT ?
"""
_ROW = f"SELECT {COLUMNS} FROM log WHERE sequence = ?"
_FOLLOWING = ("SELECT min(key) FROM log WHERE key >= ?", "SELECT min(key) FROM names WHERE key >= ?")
_UP_TO = "SELECT sequence, revision, at FROM log WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1"
_TIME = "SELECT at FROM log WHERE sequence >= ? ORDER BY sequence LIMIT 1"
_COMMIT_ROWS = 1000  # sequence numbers after a revision that can belong to its commit
_LAST = "SELECT max(sequence) FROM log WHERE sequence >= ? AND sequence < ? AND revision = ?"


class SQLiteChangeLog(ChangeLog):
    """Reads the changes of one database, for a few milliseconds at a time."""

    def __init__(self, database: Callable[[], sqlite3.Connection], past: PackedHistory, window: HistoryWindow) -> None:
        self._database = database
        self._past = past
        self._window = window

    def read_horizon(self, prefix: str) -> int:
        return self._past.find_horizon(prefix, self._window.compacted)

    async def read_key(self, key: str, before: int = 0, after: int = 0, limit: int = 100) -> list[LoggedWrite]:
        bounds = (before or pastreader.END, after)
        with refusals.convert_read_errors():
            database = self._database()
            places: list[Place] = [(row[0], 0, 0) for row in database.execute(_OF_KEY, (key, *bounds, limit))]
            if len(places) < limit:  # packed changes are older than those in the window
                places += pastreader.find_places_of_key(database, key, *bounds, limit - len(places))
        return await self._read_places(places)

    async def read_under(
        self, prefixes: Sequence[str], before: int = 0, after: int = 0, limit: int = 100
    ) -> list[LoggedWrite]:
        bounds = (before or pastreader.END, after)
        # the window does not move while this reads
        with refusals.convert_read_errors(), self._window.holds.add():
            places: list[Place] = []
            for prefix in prefixes:
                database = self._database()
                if prefix == keys.ALL:
                    rows = database.execute(_NEWEST_ROWS, (*bounds, limit))
                else:
                    rows = database.execute(_NEWEST_UNDER, (prefix, keys.prefix_end(prefix), *bounds, limit))
                places += [(row[0], 0, 0) for row in rows]
                packed = pastreader.find_places(database, self._past.active_resources, prefix, *bounds, limit)
                if packed is None:
                    packed = await pastreader.merge_places(self._database, prefix, *bounds, limit)
                places += packed
            return await self._read_places(sorted(places, reverse=True)[:limit])

    async def find_revision(self, at: int) -> int:
        with refusals.convert_read_errors():
            database = self._database()
            revision = pastreader.search_revision(
                lambda maximum: database.execute(_UP_TO, (maximum,)).fetchone(), at, self._window.compacted
            ) or pastreader.find_revision_at(database, self._past.active_resources, at)
        if not revision:
            raise HistoryCompacted(self.read_horizon(keys.ALL))
        return revision

    async def find_time(self, revision: int) -> int:
        with refusals.convert_read_errors():
            database = self._database()
            is_packed = revision < self._window.compacted
            packed = pastreader.find_time_of(database, self._past.active_resources, revision) if is_packed else 0
            return packed or int((database.execute(_TIME, (revision,)).fetchone() or (0,))[0])

    async def list_resources(self) -> list[str]:
        prefixes, key = list[str](), keys.ALL
        with refusals.convert_read_errors():
            while True:
                following = [self._database().execute(query, (key,)).fetchone()[0] for query in _FOLLOWING]
                if not any(following):
                    return prefixes
                prefix = keys.prefix_of(min(filter(None, following)))
                prefixes += [prefix] if not prefix.startswith(keys.OWN) else []
                key = keys.prefix_end(prefix)

    async def find_sequence(self, revision: int) -> int:
        with refusals.convert_read_errors():
            row = self._database().execute(_LAST, (revision, revision + _COMMIT_ROWS, revision)).fetchone()
        return int(row[0] or revision)

    def use_states(self, find_state: Callable[[str, int], Record | None]) -> None:
        """Do nothing: the log has the states."""

    async def read_state(self, prefix: str, revision: int, after: str = "", limit: int = -1) -> tuple[list[Row], str]:
        """Return packed rows that were the newest of their keys at a revision, and the last key that was read.

        after, limit: only so many keys after this one; -1 for all. The last key is "" if there are no more. Raises
        HistoryCompacted, StoreError.
        """
        rows, remaining = list[Row](), limit
        with refusals.convert_read_errors(), self._window.holds.add():
            while True:
                horizon = self.read_horizon(prefix)
                if revision < horizon:
                    raise HistoryCompacted(horizon)
                packed, after, looked = pastreader.read_state(self._database(), prefix, revision, after, remaining)
                rows += packed
                remaining -= looked if limit >= 0 else 0
                if not after or not remaining:
                    return rows, after
                await asyncio.sleep(0)

    async def _read_places(self, places: list[Place]) -> list[LoggedWrite]:
        """Read changes until their values exceed a number of bytes. Raises StoreError."""
        rows, size, end = list[Row](), 0, time.perf_counter() + _SLICE_SECONDS
        with refusals.convert_read_errors(), self._window.holds.add():
            for sequence, name, revision in places:
                database = self._database()
                if name:
                    row = pastreader.read_row_at(database, name, revision)
                else:
                    row = verify_row(database.execute(_ROW, (sequence,)).fetchone())
                rows.append(row)
                size += len(row[1] or b"")
                if size > _READ_BYTES:
                    break
                if time.perf_counter() > end:
                    await asyncio.sleep(0)
                    end = time.perf_counter() + _SLICE_SECONDS
            return list(self._with_authors(self._database(), rows))

    def _with_authors(self, database: sqlite3.Connection, rows: Iterable[Row]) -> Iterable[LoggedWrite]:
        authors: dict[int, Author] = {}
        for key, value, offset, revision, created, sequence, at, number, audit, _ in rows:
            author = authors.get(number)
            if author is None:
                author = authors[number] = read_author(database, number)
            if audit:
                author = author._replace(audit=audit)
            stored = None if value is None else StoredValue(value, offset)
            yield LoggedWrite(key, revision, sequence, at, author, stored, created)
