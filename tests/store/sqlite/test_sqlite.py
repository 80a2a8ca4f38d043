"""The embedded engine keeps the contract, in memory and on disk, and over restarts."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from podless.store import (
    DiskFull,
    HistoryCompacted,
    Operation,
    Record,
    RevisionConflict,
    Store,
    StoreDamaged,
    StoredValue,
    StoreError,
    StoreInUse,
)
from podless.store.history import Keep
from podless.store.sqlite import SQLiteStore
from tests.store.contract import Contract, Follower, delete, put


class TestInMemory(Contract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        store = SQLiteStore()
        await store.open()
        yield store
        await store.close()


class TestOnDisk(Contract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = SQLiteStore(tmp_path / "podless.db")
        await store.open()
        yield store
        await store.close()


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await put(store, "/g/r/a", b"1")
    await delete(store, "/g/r/b", await put(store, "/g/r/b", b"2"))
    await store.commit([Operation(f"/g/r/{name}", StoredValue(b"3"), 0) for name in "cd"])
    current = await store.read_revision()
    await store.close()
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert await again.read_revision() == current
    assert [record.stored.data for record in (await again.read_range("/g/r/"))[0]] == [b"1", b"3", b"3"]
    assert await put(again, "/g/r/e", b"3") > current
    await again.close()


async def test_revisions_do_not_go_back_when_the_newest_writes_were_compacted_away(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    last = await delete(store, "/g/r/a", await put(store, "/g/r/a", b"1"))
    await store.compact(last)
    await store.close()
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert await again.read_revision() == last
    assert await put(again, "/g/r/a", b"1") > last
    await again.close()


async def test_history_is_bounded() -> None:
    store = SQLiteStore(keep=Keep(count=100))
    await store.open()
    revision = 0
    for _ in range(1000):
        revision = await put(store, "/g/r/a", b"x", expect=revision)
    kept = 1000
    for _ in range(6000):
        kept = await store.read_revision() - store.compacted_revision
        if kept < 100 + 500:
            break
        await asyncio.sleep(0.01)  # it is forgotten beside other work
    assert 100 <= kept < 100 + 500
    assert len(await store.read_changes("/g/r/", store.compacted_revision)) == kept
    await store.close()


async def test_history_is_forgotten_after_a_burst_of_writes_or_at_twice_its_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("podless.store.sqlite.window._RATE_PERIOD", 3600.0)
    monkeypatch.setattr("podless.store.sqlite.window._PAUSE_RATIO", 1e9)  # the test takes each step itself
    store = SQLiteStore(keep=Keep(count=100))
    await store.open()
    revision = 0
    for _ in range(150):
        revision = await put(store, "/g/r/a", b"x", expect=revision)
    assert not store.compacted_revision
    store._window._run_step()  # which would be in an hour
    assert not store.compacted_revision
    store._window._run_step()
    assert store.compacted_revision  # for nobody has written since the last look
    for _ in range(99):
        revision = await put(store, "/g/r/a", b"x", expect=revision)
    before = store.compacted_revision
    store._window._run_step()
    assert store.compacted_revision == before
    for _ in range(101):
        revision = await put(store, "/g/r/a", b"x", expect=revision)
    store._window._run_step()
    assert store.compacted_revision > before
    await store.close()


async def test_changes_are_read_in_parts_while_others_write() -> None:
    store = SQLiteStore()
    await store.open()
    revision = 0
    for _ in range(500):
        revision = await put(store, "/g/r/a", b"x" * 100, expect=revision)
    reading = asyncio.ensure_future(store.read_changes("/g/r/", 1))
    turns = 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)
        if turns == 3:
            await put(store, "/g/r/b", b"y")
    found = reading.result()
    assert [one.revision for one in found] == list(range(2, revision + 1))
    assert all(one.before is not None and one.before.revision == one.revision - 1 for one in found)
    assert turns > 4
    reading = asyncio.ensure_future(store.read_changes("/g/r/", 1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await store.compact(revision)
    with pytest.raises(HistoryCompacted):
        await reading
    assert not store._window.holds.count
    await store.close()


async def test_a_page_of_long_objects_ends_early() -> None:
    store = SQLiteStore()
    await store.open()
    for name in "abcde":
        await put(store, f"/g/r/{name}", b"x" * (1 << 20))
    pages: list[list[str]] = []
    after = ""
    while not pages or after:
        records, after = await store.read_page(await store.read_revision(), after, 1000, "/g/r/")
        pages.append([record.key[-1] for record in records])
    assert [*map(len, pages)] == [3, 2]
    assert "".join(map("".join, pages)) == "abcde"
    await store.close()


async def test_a_write_that_waits_is_committed_on_close(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    writing = asyncio.ensure_future(put(store, "/g/r/a", b"1"))
    await asyncio.sleep(0)
    await store.close()
    revision = await writing
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert await again.read_revision() == revision
    await again.close()


async def test_writes_that_wait_together_are_one_transaction() -> None:
    store = SQLiteStore()
    await store.open()
    follower = Follower(store, "/g/", 0)
    await asyncio.gather(*(put(store, f"/g/r/{i}", b"") for i in range(10)))
    for name in ("a", "b"):  # a lone write after a lone one is committed sooner
        await put(store, f"/g/r/{name}", b"")
    await asyncio.gather(*(put(store, f"/g/r/{i}", b"") for i in range(10, 20)))
    assert len(follower.batches) == 4
    await store.close()


async def test_writes_wait_while_each_iteration_brings_more_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds, batches in ((60.0, 1), (0.0, 4)):
        monkeypatch.setattr("podless.store.sqlite.store._MAX_COMMIT_DELAY", seconds)
        store = SQLiteStore()
        await store.open()
        follower = Follower(store, "/g/", 0)
        writing = []
        for name in "abcd":
            writing.append(asyncio.ensure_future(put(store, f"/g/r/{name}", b"")))
            await asyncio.sleep(0)
        await asyncio.gather(*writing)
        assert len(follower.batches) == batches
        await store.close()


async def test_of_writes_that_wait_together_one_that_the_engine_refuses_fails_alone() -> None:
    store = SQLiteStore()
    await store.open()
    follower = Follower(store, "/g/", 0)
    writing = [put(store, key, b"") for key in ("/g/r/a", "/g/r/\ud800", "/g/r/b")]
    first, bad, second = await asyncio.wait_for(asyncio.gather(*writing, return_exceptions=True), 60)
    assert isinstance(bad, StoreError)
    assert [change.revision for change in follower.changes] == [first, second]
    assert [record.key for record in (await store.read_range("/g/r/"))[0]] == ["/g/r/a", "/g/r/b"]
    await store.close()


async def test_a_database_of_the_first_format_is_read_on(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db") as database:
        database.executescript(FIRST_FORMAT)
    database.close()
    for _ in range(2):
        store = SQLiteStore(tmp_path / "db")
        await store.open()
        assert (await store.read_revision(), store.compacted_revision) == (5, 2)
        assert (await store.read_range("/g/"))[0] == [
            Record("/g/r/a", StoredValue(b"13", 1), 4, 1),
            Record("/g/r/c", StoredValue(b"5"), 5, 5),
        ]
        (change,) = (entry for entry in await store.read_changes("/g/", 2) if entry.revision == 4)
        assert change.before == Record("/g/r/a", StoredValue(b"1"), 1, 1)
        await store.close()


FIRST_FORMAT = """
CREATE TABLE log (
    revision INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL, mark INTEGER NOT NULL, value BLOB
);
CREATE INDEX log_key ON log (key, revision);
CREATE TABLE state (floor INTEGER NOT NULL);
INSERT INTO state VALUES (2);
INSERT INTO log VALUES (1, '/g/r/a', 1, 0, x'31'), (2, '/g/r/b', 2, 0, x'32'), (3, '/g/r/b', 2, 0, NULL),
    (4, '/g/r/a', 1, 1, x'3133'), (5, '/g/r/c', 5, 0, x'35');
PRAGMA application_id = 0x706F646C;
PRAGMA user_version = 1;
"""


async def test_a_database_in_use_is_refused(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    with pytest.raises(StoreInUse, match="another process is using this database"):
        await SQLiteStore(tmp_path / "db").open()
    await store.close()


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to look at" * 100, b"\x00" * 4096])
async def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "db").write_bytes(content)
    with pytest.raises(StoreDamaged):
        await SQLiteStore(tmp_path / "db").open()


async def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("CREATE TABLE things (name TEXT)")
    database.close()
    with pytest.raises(StoreDamaged, match="another program"):
        await SQLiteStore(tmp_path / "db").open()


async def test_a_full_disk_takes_deletes_with_the_room_that_was_kept_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    for name in ("a", "b", "c"):
        await put(store, f"/g/r/{name}", b"1")
    write, reserve = store._write_commits, tmp_path / "db-reserve"

    def full(chains: Any) -> Any:  # has room where the reserve was given up
        if reserve.stat().st_size:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return write(chains)

    def none(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "_write_commits", full)
    monkeypatch.setattr(os, "posix_fallocate", none)
    with pytest.raises(DiskFull):
        await put(store, "/g/r/d", b"2")
    assert await store.commit([Operation("/g/r/a", None, 1)]) == 4
    assert await store.commit([Operation("/g/r/b", StoredValue(b"2"), 2, frees=True)]) == 5
    with pytest.raises(DiskFull):  # what is left of the reserve is for deletes
        await put(store, "/g/r/d", b"2")
    with pytest.raises(DiskFull):
        await store.check_health()
    monkeypatch.undo()
    await store.check_health()
    assert await put(store, "/g/r/d", b"2") == 6
    await store.close()


async def test_a_full_disk_forgets_history_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    revision = await put(store, "/g/r/a", b"1")
    assert await store.commit([Operation("/g/r/a", None, revision)]) == 2
    await store.close()

    def none(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", none)
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    while again.compacted_revision < 2:  # noqa: ASYNC110 - the store's own steps are awaited
        await asyncio.sleep(0)
    await again.close()


async def test_a_full_disk_refuses_writes_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await put(store, "/g/r/a", b"1")
    assert store._database is not None
    store._database.execute("PRAGMA max_page_count = 1")  # SQLite's own way to be out of room
    with pytest.raises(DiskFull, match="only deletes are accepted"):
        await put(store, "/g/r/b", b"x" * 1_000_000)
    assert await store.read_revision() == 1
    assert [record.key for record in (await store.read_range("/g/r/"))[0]] == ["/g/r/a"]
    store._database.execute("PRAGMA max_page_count = 1000000")
    assert await put(store, "/g/r/b", b"2") == 2
    with pytest.raises(RevisionConflict):
        await put(store, "/g/r/b", b"2")
    await store.close()
