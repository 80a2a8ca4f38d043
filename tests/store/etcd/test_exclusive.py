"""Who may read without asking etcd: one server, while every other one has to move it before it writes."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress

import pytest

from podless.store import Operation, Record, RevisionConflict, Store, StoreChange, StoredValue
from podless.store.etcd import exclusive
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore
from tests.faults.linearizable import UNKNOWN, wrong
from tests.faults.linearizable import Operation as Done
from tests.store.contract import Contract, Follower, put

pytestmark = pytest.mark.slow


@pytest.fixture
def prefix(tmp_path: object) -> str:
    return f"/alone-{abs(hash(str(tmp_path)))}"


Make = Callable[..., Awaitable[EtcdStore]]


@pytest.fixture
async def make(etcd: str, prefix: str) -> AsyncIterator[Make]:
    made: list[EtcdStore] = []

    async def one(*, exclusive: bool = True) -> EtcdStore:
        store = EtcdStore(Etcd(servers=(etcd,), prefix=prefix, exclusive=exclusive), interval=0)
        made.append(store)
        await store.open()
        return store

    yield one
    for store in made:
        await store.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """All times are a tenth of what they are."""
    for name in ("_RENEW_INTERVAL", "_TRUST_SECONDS", "_KEY_EXPIRES", "_SHARING_INTERVAL", "_SHARING_EXPIRES"):
        monkeypatch.setattr(exclusive, name, getattr(exclusive, name) / 10)


class TestExclusive(Contract):
    @pytest.fixture
    async def store(self, make: Make) -> Store:
        return await make()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_the_only_server_need_not_ask_once_it_shows_what_it_has_written(make: Make, quick: None) -> None:
    store = await make()
    follower = Follower(store, "/", await store.read_revision())
    await until(lambda: store.has_newest(follower.revision))
    revision = await put(store, "/g/r/a", b"1")
    assert not store.has_newest(revision - 1)
    await until(lambda: store.has_newest(follower.revision))
    writing = asyncio.create_task(put(store, "/g/r/b", b"1"))
    await asyncio.sleep(0)
    assert not store.has_newest(1 << 40)  # another server may have shown it already
    await writing
    assert not (await make(exclusive=False)).has_newest(1 << 40)


async def test_others_write_when_the_holder_has_taken_note(make: Make, quick: None) -> None:
    store, other = await make(), await make(exclusive=False)
    await until(lambda: store.has_newest(1 << 40))
    await put(other, "/g/r/a", b"1")
    assert not store.has_newest(1 << 40)
    await put(store, "/g/r/b", b"1")
    assert (await store.read_range("/g/"))[0] == (await other.read_range("/g/"))[0]
    await other.close()
    await until(lambda: store.has_newest(1 << 40))


async def test_two_servers_share_etcd_until_one_is_gone(make: Make, quick: None) -> None:
    one, other = await make(), await make()
    for number in range(20):
        await put((one, other)[number % 2], f"/g/r/{number}", b"1")
        assert not (one.has_newest(1 << 40) and other.has_newest(1 << 40))
    await one.close()
    await until(lambda: other.has_newest(1 << 40))


async def test_a_holder_that_hangs_counts_on_nothing_when_the_key_is_taken(
    make: Make, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = await make(), await make(exclusive=False)

    async def hang() -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr(store._exclusive_key, "_take_turn", hang)
    await put(other, "/g/r/a", b"1")
    assert not store.has_newest(1 << 40)
    await put(store, "/g/r/b", b"1")
    assert len((await other.read_range("/g/"))[0]) == 2


async def test_the_key_of_one_that_was_killed_is_taken(make: Make, quick: None) -> None:
    store = await make()
    assert store._exclusive_key._task is not None
    store._exclusive_key._task.cancel()
    after = await make()
    await until(lambda: after.has_newest(1 << 40))
    assert not store.has_newest(1 << 40)


async def test_a_write_of_unknown_outcome_ends_it_until_the_key_is_made_anew(make: Make, quick: None) -> None:
    store = await make()
    await until(lambda: store.has_newest(1 << 40))
    before = store._exclusive_key.created_at
    writing = asyncio.create_task(put(store, "/g/r/a", b"1"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing
    assert not store.has_newest(1 << 40)
    await until(lambda: store.has_newest(1 << 40))
    assert store._exclusive_key.created_at > before


class Served:
    """One server over a store: what it shows, some time after it was told."""

    def __init__(self, store: EtcdStore, chance: random.Random, found: tuple[list[Record], int]) -> None:
        records, revision = found
        self.store = store
        self.shown = revision
        self.local = 0
        self._state = {record.key: (record.stored.data.decode(), record.revision) for record in records}
        self._chance = chance
        self._told: asyncio.Queue[tuple[Sequence[StoreChange], int]] = asyncio.Queue()
        self._leave = store.watch("/g/", revision, lambda changes, now: self._told.put_nowait((changes, now)))
        self._task = asyncio.create_task(self._show())

    async def _show(self) -> None:
        while True:
            changes, revision = await self._told.get()
            await asyncio.sleep(self._chance.random() * 0.01)
            for change in changes:
                if change.record is None:
                    self._state.pop(change.key, None)
                else:
                    self._state[change.key] = change.record.stored.data.decode(), change.revision
            self.shown = revision

    async def end(self) -> None:
        self._task.cancel()
        self._leave()
        await asyncio.gather(self._task, return_exceptions=True)

    async def reach(self, revision: int) -> None:
        while self.shown < revision:  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    async def read(self, key: str) -> tuple[str, int]:
        if self.store.has_newest(self.shown):
            self.local += 1
        else:
            await self.reach(await self.store.read_revision())
        return self._state.get(key, ("", 0))

    async def do(self, key: str, value: str) -> Done:
        """Read a key, or write a value where it is as it was read."""
        before = ("", 0) if self._chance.random() < 0.3 else self._state.get(key, ("", 0))
        start, kind = time.monotonic(), "update" if before[1] else "create"
        if self._chance.random() < 0.8:
            found, revision = await self.read(key)
            return Done(key, "get", revision > 0, start, time.monotonic(), found)
        try:
            async with asyncio.timeout(60 if self._chance.random() < 0.9 else 0.002):
                written = await self.store.commit([Operation(key, StoredValue(value.encode()), before[1])])
        except RevisionConflict as conflict:
            absent = conflict.current is None
            return Done(key, kind, False, start, time.monotonic(), value, before[0], absent)
        except TimeoutError:
            return Done(key, kind, True, start, UNKNOWN, value, before[0])
        await self.reach(written)
        return Done(key, kind, True, start, time.monotonic(), value, before[0])


async def test_what_clients_of_several_servers_see_is_linearizable(make: Make, quick: None) -> None:
    chance = random.Random(1)
    servers: list[Served] = []
    history: list[Done] = []

    async def client(number: int, many: int) -> None:
        for count in range(many):
            server = servers[chance.randrange(len(servers))]
            key = f"/g/r/{chance.randrange(3)}"
            history.append(await server.do(key, f"{number}-{len(history)}-{count}"))
            await asyncio.sleep(chance.random() * 0.01)

    async def hang(server: Served) -> None:
        """What is told is shown late, and the key is not put in time."""
        async with server.store._exclusive_key._lock:
            await asyncio.sleep(0.7)

    first = await make()
    servers.append(Served(first, chance, await first.read_range("/g/")))
    for round_ in range(3):  # alone, then with another one, then alone again
        await until(lambda: servers[0].store.has_newest(1 << 40))
        await asyncio.gather(*(client(number, 30) for number in range(6)))
        other = await make(exclusive=bool(round_ % 2))
        servers.append(Served(other, chance, await other.read_range("/g/")))
        hanging = asyncio.create_task(hang(servers[0]))
        await asyncio.gather(*(client(number, 30) for number in range(6)))
        await hanging
        await servers[1].end()
        await servers.pop().store.close()
    assert servers[0].local > 50
    assert wrong(history) == []
    await servers[0].end()
