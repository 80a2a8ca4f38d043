"""Checkpoints run beside the event loop, keep the log short, and lose nothing."""

from __future__ import annotations

import asyncio
import sqlite3
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from podless.store.sqlite import SQLiteStore, checkpoints, window
from tests.store.contract import put

_LARGE = b"x" * 4096 * checkpoints._CHECKPOINT_PAGES  # enough for a checkpoint to begin


class Gate:
    """Holds each checkpoint of a store until it is let go. length, took: what checkpoints tell."""

    def __init__(
        self,
        store: SQLiteStore,
        patched: pytest.MonkeyPatch,
        length: int = checkpoints._MAX_LOG_PAGES,
        took: float = 0.0,
    ) -> None:
        self._store, self._move, self._told = store, checkpoints._move_log, (length, took)
        self._free = threading.Semaphore(0)
        self._loop, self._queue, self._begun = asyncio.get_running_loop(), asyncio.Queue[None](), 0
        patched.setattr(checkpoints, "_move_log", self._run)

    def _run(self, database: sqlite3.Connection) -> tuple[int, float]:
        if database is not self._store._checkpoints._database:  # of another store, such as that of a server
            return self._move(database)
        self._loop.call_soon_threadsafe(self._queue.put_nowait, None)
        self._free.acquire()
        self._move(database)
        return self._told

    async def begun(self, number: int) -> None:
        while self._begun < number:
            await self._queue.get()
            self._begun += 1
        assert self._queue.empty()

    def let_go(self) -> None:
        self._free.release()


@pytest.fixture
async def store(tmp_path: Path) -> SQLiteStore:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    return store


def count_starts(folder: Path) -> int:
    """Return how often the log has started, from its head."""
    number: int = struct.unpack_from(">I", (folder / "db-wal").read_bytes(), 12)[0]
    return number


async def count_records(folder: Path) -> int:
    again = SQLiteStore(folder / "db")
    await again.open()
    records, _ = await again.read_range("/g/r/")
    await again.close()
    return len(records)


async def wait_for_end(store: SQLiteStore) -> None:
    if store._checkpoints._running is not None:  # a quick one ends before the write that began it
        await asyncio.wait([store._checkpoints._running])
    await turn_loop()


async def turn_loop() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_log_starts_again_while_clients_write_without_a_pause(store: SQLiteStore, tmp_path: Path) -> None:
    await put(store, "/g/r/first", b"1")
    first, written = count_starts(tmp_path), 1
    while count_starts(tmp_path) < first + 2:
        await asyncio.gather(*(put(store, f"/g/r/{written + number}", b"x" * 30_000) for number in range(16)))
        written += 16
    await store.close()
    assert not (tmp_path / "db-wal").exists()
    assert await count_records(tmp_path) == written


async def test_commits_do_not_wait_for_a_checkpoint(store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(store, monkeypatch)
    await put(store, "/g/r/a", _LARGE)
    await gate.begun(1)
    for number in range(20):
        await put(store, f"/g/r/b{number}", b"1")
    assert store._checkpoints.running
    gate.let_go()
    gate.let_go()
    await store.close()


async def test_commits_wait_for_the_last_checkpoint_of_a_long_log(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(store, monkeypatch)
    await put(store, "/g/r/a", _LARGE)
    await gate.begun(1)
    await put(store, "/g/r/b", b"1")
    before = count_starts(tmp_path)
    gate.let_go()
    await gate.begun(2)
    waiting = asyncio.gather(*(put(store, f"/g/r/c{number}", b"1") for number in range(3)))
    await turn_loop()
    assert len((await store.read_range("/g/r/"))[0]) == 2  # reads do not wait
    assert not waiting.done()
    gate.let_go()
    await waiting
    assert count_starts(tmp_path) == before + 1
    await store.close()
    assert await count_records(tmp_path) == 5


async def test_a_log_that_is_short_goes_on(store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(store, monkeypatch, checkpoints._MAX_LOG_PAGES - 1)
    await put(store, "/g/r/a", _LARGE)
    await gate.begun(1)
    await put(store, "/g/r/b", b"1")
    gate.let_go()
    await wait_for_end(store)
    await put(store, "/g/r/c", b"1")
    await gate.begun(1)
    await store.close()


async def test_commits_wait_only_when_checkpoints_are_short_or_repeated(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(store, monkeypatch, took=10.0)
    await put(store, "/g/r/a", _LARGE)
    for number in range(1, checkpoints._MAX_TRIES + 1):
        await gate.begun(number)
        await put(store, f"/g/r/{number}", b"1")
        gate.let_go()
    await gate.begun(checkpoints._MAX_TRIES + 1)
    waiting = asyncio.ensure_future(put(store, "/g/r/b", b"1"))
    await turn_loop()
    assert not waiting.done()
    gate.let_go()
    await waiting
    await store.close()


async def test_a_store_that_closes_commits_what_waits_for_a_checkpoint(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(store, monkeypatch)
    await put(store, "/g/r/a", _LARGE)
    await gate.begun(1)
    await put(store, "/g/r/b", b"1")
    gate.let_go()
    await gate.begun(2)
    waiting = asyncio.ensure_future(put(store, "/g/r/c", b"1"))
    closing = asyncio.ensure_future(store.close())
    await turn_loop()
    assert not waiting.done()
    gate.let_go()
    await asyncio.gather(waiting, closing)
    assert await count_records(tmp_path) == 3


async def test_commits_go_on_after_a_checkpoint_failed(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried = []

    def fail(database: sqlite3.Connection) -> tuple[int, float]:
        if database is store._checkpoints._database:
            tried.append(database)
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(checkpoints, "_move_log", fail)
    for number in range(3):
        await put(store, f"/g/r/{number}", _LARGE)
        await wait_for_end(store)
    assert len(tried) == 3
    await store.close()
    assert await count_records(tmp_path) == 3


async def test_another_process_cannot_read_or_write_an_open_database(store: SQLiteStore, tmp_path: Path) -> None:
    await put(store, "/g/r/a", b"1")
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('SELECT * FROM state')"
    command = (sys.executable, "-c", program, tmp_path / "db")
    found = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert found.stderr.endswith("database is locked\n")
    await put(store, "/g/r/b", b"1")
    await store.close()


async def test_the_file_gets_no_smaller_while_a_checkpoint_runs(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[sqlite3.Connection]()  # other stores of this process, such as those of servers, do the same
    monkeypatch.setattr(window, "shrink_file", lambda database, *, as_much: made.append(database))
    gate = Gate(store, monkeypatch)
    await put(store, "/g/r/a", _LARGE)
    await gate.begun(1)
    store._window.do_step()
    await turn_loop()
    assert store._open_database() not in made
    gate.let_go()
    await wait_for_end(store)
    store._window.do_step()
    await turn_loop()
    assert store._open_database() in made
    await store.close()
