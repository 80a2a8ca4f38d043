"""The log of changes in a SQLite database: the window of whole states, and the packed past before it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from podless.runtime import lazy
from podless.store import keys
from podless.store.contract import Author, HistoryCompacted, LoggedWrite, Record
from podless.store.keys import StoredValue
from podless.store.sqlite import refusals
from podless.store.sqlite.authors import read_author
from podless.store.sqlite.past import PackedHistory
from podless.store.sqlite.rows import COLUMNS, Row, verify_row
from podless.store.sqlite.window import HistoryWindow

if TYPE_CHECKING:
    from podless.store.sqlite import pastreader
    from podless.store.sqlite.pastreader import Place
else:
    pastreader = lazy.LateModule("podless.store.sqlite.pastreader")

_BYTES = 4 << 20  # bytes of values in one read
_SLICE = 0.005  # seconds of reading in one iteration of the loop
_OF_KEY = "SELECT sequence FROM log WHERE key = ? AND sequence < ? AND sequence > ? ORDER BY revision DESC LIMIT ?"
_NEWEST_ROWS = "SELECT sequence FROM log WHERE sequence < ? AND sequence > ? ORDER BY sequence DESC LIMIT ?"
# by the key's index, because few rows of the log are under one prefix
_NEWEST_UNDER = """
SELECT sequence FROM log INDEXED BY log_key WHERE key >= ? AND key < ? AND sequence < ? AND sequence > ?
ORDER BY sequence DESC LIMIT ?
"""
_ROW = f"SELECT {COLUMNS} FROM log WHERE sequence = ?"
_FOLLOWING = ("SELECT min(key) FROM log WHERE key >= ?", "SELECT min(key) FROM names WHERE key >= ?")
_TIME = "SELECT at FROM log WHERE sequence >= ? ORDER BY sequence LIMIT 1"
_COMMIT = 1000  # sequence numbers after a revision that can belong to its commit
_LAST = "SELECT max(sequence) FROM log WHERE sequence >= ? AND sequence < ? AND revision = ?"


class SQLiteChangeLog:
    """Reads the changes of one database, for a few milliseconds at a time. Implements contract.ChangeLog."""

    def __init__(self, database: Callable[[], sqlite3.Connection], past: PackedHistory, window: HistoryWindow) -> None:
        self._database = database
        self._past = past
        self._window = window

    def read_horizon(self, prefix: str) -> int:
        """Return the oldest revision at which states under a prefix can be read."""
        return self._past.find_horizon(prefix, self._window.compacted)

    async def read_key(self, key: str, before: int = 0, after: int = 0, limit: int = 100) -> list[LoggedWrite]:
        """Return the newest changes of one key, newest first. Raises StoreError."""
        bounds = (before or pastreader.END, after)
        try:
            database = self._database()
            places: list[Place] = [(row[0], 0, 0) for row in database.execute(_OF_KEY, (key, *bounds, limit))]
            if len(places) < limit:  # packed changes are older than those in the window
                places += pastreader.find_places_of_key(database, key, *bounds, limit - len(places))
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None
        return await self._read_places(places)

    async def read_under(
        self, prefixes: Sequence[str], before: int = 0, after: int = 0, limit: int = 100
    ) -> list[LoggedWrite]:
        """Return the newest changes of keys under some prefixes, newest first. Raises StoreError."""
        bounds = (before or pastreader.END, after)
        let_go = self._window.hold_history()  # the window does not move while this reads
        try:
            places: list[Place] = []
            for prefix in prefixes:
                database = self._database()
                if prefix == keys.ALL:
                    rows = database.execute(_NEWEST_ROWS, (*bounds, limit))
                else:
                    rows = database.execute(_NEWEST_UNDER, (prefix, keys.prefix_end(prefix), *bounds, limit))
                places += [(row[0], 0, 0) for row in rows]
                packed = pastreader.find_places(database, self._past.active_resources, prefix, *bounds, limit)
                places += await self._merge_places(prefix, *bounds, limit) if packed is None else packed
            return await self._read_places(sorted(places, reverse=True)[:limit])
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None
        finally:
            let_go()

    async def _merge_places(self, prefix: str, before: int, after: int, limit: int) -> list[Place]:
        merging = pastreader.merge_places(self._database(), prefix, before, after, limit)
        while True:
            try:
                next(merging)
            except StopIteration as done:
                places: list[Place] = done.value
                return places
            await asyncio.sleep(0)
            self._database()  # raises if the server was closed meanwhile

    async def find_revision(self, at: int) -> int:
        """Return the newest revision that was written at or before a time in milliseconds since 1970.

        Raises HistoryCompacted.
        """
        try:
            database = self._database()
            revision = self._in_window(database, at) or pastreader.find_revision_at(
                database, self._past.active_resources, at
            )
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None
        if not revision:
            raise HistoryCompacted(self.read_horizon(keys.ALL))
        return revision

    async def find_time(self, revision: int) -> int:
        """Return when the first change at or after a revision was written."""
        try:
            database = self._database()
            is_packed = revision < self._window.compacted
            packed = pastreader.find_time_of(database, self._past.active_resources, revision) if is_packed else 0
            return packed or int((database.execute(_TIME, (revision,)).fetchone() or (0,))[0])
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None

    def list_resources(self) -> list[str]:
        """Return the prefixes of the resources that have changes, such as /core/configmaps/. Raises StoreError."""
        prefixes, key = list[str](), keys.ALL
        try:
            while True:
                following = [self._database().execute(query, (key,)).fetchone()[0] for query in _FOLLOWING]
                if not any(following):
                    return prefixes
                prefix = keys.prefix_of(min(filter(None, following)))
                prefixes += [prefix] if not prefix.startswith(keys.OWN) else []
                key = keys.prefix_end(prefix)
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None

    async def find_sequence(self, revision: int) -> int:
        """Return the last sequence number of a commit. Raises StoreError."""
        try:
            row = self._database().execute(_LAST, (revision, revision + _COMMIT, revision)).fetchone()
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None
        return int(row[0] or revision)

    def use_states(self, find_state: Callable[[str, int], Record | None]) -> None:
        """Do nothing: the log has the states."""

    def _in_window(self, database: sqlite3.Connection, at: int) -> int:
        """Return the newest revision in the window that was written at or before a time, 0 for none."""
        statement = "SELECT sequence, revision, at FROM log WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1"
        return pastreader.search_revision(
            lambda maximum: database.execute(statement, (maximum,)).fetchone(), at, self._window.compacted
        )

    async def read_state(self, prefix: str, revision: int, after: str = "", limit: int = -1) -> tuple[list[Row], str]:
        """Return packed rows that were the newest of their keys at a revision, and the last key that was read.

        after, limit: only so many keys after this one; -1 for all. The last key is "" if there are no more. Raises
        HistoryCompacted, StoreError.
        """
        rows, remaining = list[Row](), limit
        let_go = self._window.hold_history()
        try:
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
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None
        finally:
            let_go()

    async def _read_places(self, places: list[Place]) -> list[LoggedWrite]:
        """Read changes until their values exceed a number of bytes. Raises StoreError."""
        rows, size, end = list[Row](), 0, time.perf_counter() + _SLICE
        let_go = self._window.hold_history()
        try:
            for place in places:
                row = self._read_row(self._database(), place)
                rows.append(row)
                size += len(row[1] or b"")
                if size > _BYTES:
                    break
                if time.perf_counter() > end:
                    await asyncio.sleep(0)
                    end = time.perf_counter() + _SLICE
            return list(self._with_authors(self._database(), rows))
        except sqlite3.Error as error:
            raise refusals.make_read_error(error) from None
        finally:
            let_go()

    def _read_row(self, database: sqlite3.Connection, place: Place) -> Row:
        sequence, name, revision = place
        if name:
            return pastreader.read_row_at(database, name, revision)
        return verify_row(database.execute(_ROW, (sequence,)).fetchone())

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
