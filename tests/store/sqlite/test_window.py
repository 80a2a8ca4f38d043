"""What the engine does by itself: history is forgotten, space given back, files looked after, a full disk got over."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from podless.store import StoreError, StoreFull
from podless.store.history import Keep
from podless.store.sqlite import SQLiteStore
from tests.store.contract import put

pytestmark = pytest.mark.slow


async def test_large_updates_leave_a_small_file(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db", keep=Keep(size=4 << 20))
    await store.open()
    revision = 0
    for number in range(200):
        revision = await put(store, "/g/r/a", b"%d" % number * 150_000, expect=revision)
    while store.read_figures()["history"] > 4 << 20 or store.read_figures()["size"] > 12 << 20:
        store._window._run_maintenance()
        await asyncio.sleep(0.001)
    assert (tmp_path / "db-wal").stat().st_size <= 32 << 20
    assert await store.read_range_at("/g/", await store.read_revision())
    await store.close()
    assert (tmp_path / "db").stat().st_size <= 12 << 20
    again = SQLiteStore(tmp_path / "db", keep=Keep(size=4 << 20))
    await again.open()
    assert 0 < again.read_figures()["history"] <= 4 << 20
    await again.close()


async def test_history_that_is_held_stays() -> None:
    store = SQLiteStore(keep=Keep(count=10))
    await store.open()
    hold = store.hold_history()
    revision = await put(store, "/g/r/a", b"1")
    first = revision
    for _ in range(100):
        revision = await put(store, "/g/r/a", b"1", expect=revision)
    assert len(await store.read_range_at("/g/", first)) == 1
    hold.close()
    while store.compacted_revision < first:
        store._window._run_maintenance()
        await asyncio.sleep(0)
    await store.close()


@pytest.mark.parametrize("what", ["deleted", "replaced", "truncated", "log deleted"])
async def test_files_that_are_lost_are_noticed_before_a_write_is_acknowledged(
    tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    revision = await put(store, "/g/r/a", b"1")
    file = tmp_path / ("db-wal" if "log" in what else "db")
    aside = file.with_name("aside")
    size = file.stat().st_size
    if what == "truncated":
        content = file.read_bytes()
        with file.open("r+b") as opened:
            opened.truncate(100)
    else:
        file.rename(aside)
        if what == "replaced":
            file.write_bytes(b"x" * size)
    for refused in (store.check_health(), put(store, "/g/r/b", b"2")):
        with pytest.raises(StoreError, match=r"was truncated|is gone|was replaced"):
            await refused
    assert [record.message for record in caplog.records if "writes are rejected" in record.message]
    if what == "truncated":
        with file.open("r+b") as opened:
            opened.write(content)
    else:
        aside.rename(file)
    await store.check_health()
    assert await put(store, "/g/r/b", b"2") > revision
    await store.close()


async def test_it_is_not_well_while_the_disk_is_full_and_recovers_by_itself(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await put(store, "/g/r/a", b"1")
    await store.check_health()
    assert store._database is not None
    store._database.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StoreFull):
        await put(store, "/g/r/b", b"x" * 1_000_000)
    # a little can still be written, so it is well again; a probe that fails says that it is not
    await store.check_health()
    assert not store._disk.refused
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("podless.store.sqlite.store.probe_write", _full)
        store._disk.refused = "database or disk is full"
        with pytest.raises(StoreFull):
            await store.check_health()
    await store.check_health()
    await store.close()


def _full(database: sqlite3.Connection) -> None:
    made = sqlite3.connect(":memory:")
    made.execute("PRAGMA max_page_count = 1")
    made.execute("CREATE TABLE one (value)")


async def test_revisions_go_on_behind_those_of_another_store(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await put(store, "/g/r/a", b"1")
    await store.advance_revision(5000)
    assert (await store.read_revision(), store.compacted_revision) == (5000, 5000)
    await store.close()
    again = SQLiteStore(tmp_path / "db")
    await again.open()
    assert await put(again, "/g/r/b", b"1") > 5000
    await again.close()
