"""The embedded engine keeps the contract, in memory and on disk, and over restarts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from podless.store import Conflicted, Damaged, Store, StoreError, Write
from podless.store.sqlite import SQLiteStore
from tests.store.contract import Contract, put


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
    await put(store, "/g/r/b", b"2")
    await store.commit(Write("/g/r/b", None, 0, 2))
    await store.close()
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert again.revision == 3
    assert [record.value for record in (await again.range("/g/r/"))[0]] == [b"1"]
    assert await put(again, "/g/r/c", b"3") == 4
    await again.close()


async def test_revisions_do_not_go_back_when_the_newest_writes_were_compacted_away(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await put(store, "/g/r/a", b"1")
    await store.commit(Write("/g/r/a", None, 0, 1))
    await store.compact(2)
    await store.close()
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert again.revision == 2
    assert await put(again, "/g/r/a", b"1") == 3
    await again.close()


async def test_history_is_bounded() -> None:
    store = SQLiteStore(retain=100)
    await store.open()
    revision = 0
    for _ in range(1000):
        revision = await put(store, "/g/r/a", b"x", expect=revision)
    assert 100 <= store.revision - store.floor < 100 + 500
    assert len(await store.changes("/g/r/", store.floor)) == store.revision - store.floor
    await store.close()


async def test_a_write_that_waits_is_committed_on_close(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    writing = asyncio.ensure_future(put(store, "/g/r/a", b"1"))
    await asyncio.sleep(0)
    await store.close()
    assert await writing == 1
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert again.revision == 1
    await again.close()


async def test_a_cancelled_writer_does_not_hinder_others() -> None:
    store = SQLiteStore()
    await store.open()
    given_up = asyncio.ensure_future(put(store, "/g/r/a", b"1"))
    other = asyncio.ensure_future(put(store, "/g/r/b", b"2"))
    await asyncio.sleep(0)
    given_up.cancel()
    assert await other == 2
    await store.close()


async def test_a_database_in_use_is_refused(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    with pytest.raises(StoreError, match="another process is using this database"):
        await SQLiteStore(tmp_path / "db").open()
    await store.close()


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to look at" * 100, b"\x00" * 4096])
async def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "db").write_bytes(content)
    with pytest.raises(Damaged):
        await SQLiteStore(tmp_path / "db").open()


async def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("CREATE TABLE things (name TEXT)")
    database.close()
    with pytest.raises(Damaged, match="another program"):
        await SQLiteStore(tmp_path / "db").open()


async def test_a_full_disk_refuses_writes_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await put(store, "/g/r/a", b"1")
    assert store._database is not None
    store._database.execute("PRAGMA max_page_count = 1")  # SQLite's own way to be out of room
    with pytest.raises(StoreError, match="full"):
        await put(store, "/g/r/b", b"x" * 1_000_000)
    assert store.revision == 1
    assert [record.key for record in (await store.range("/g/r/"))[0]] == ["/g/r/a"]
    store._database.execute("PRAGMA max_page_count = 1000000")
    assert await put(store, "/g/r/b", b"2") == 2
    with pytest.raises(Conflicted):
        await put(store, "/g/r/b", b"2")
    await store.close()
