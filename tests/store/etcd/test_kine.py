"""The engine on kine, over SQLite and over PostgreSQL: the contract, but for what one transaction cannot be there."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest

from podless.store import KEPT, HistoryCompacted, Operation, RevisionConflict, Store, StoredValue, StoreError
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore
from podless.store.history import HistoryBounds, Keep
from tests.store.contract import Contract, Follower, delete, put
from tests.store.etcd.kine import DATABASES, shared

pytestmark = pytest.mark.kine

_NUMBERS = itertools.count()


@pytest.fixture(params=DATABASES)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[EtcdStore]:
    store = made(request.param)
    await store.open()
    yield store
    await store.close()


def made(database: str, prefix: str = "", *, exclusive: bool = False, needs_log: bool = False) -> EtcdStore:
    etcd = Etcd(servers=(shared(database).url,), prefix=prefix or f"/test{next(_NUMBERS)}", exclusive=exclusive)
    return EtcdStore(etcd, bounds=HistoryBounds(Keep()), needs_log=needs_log)


class TestKine(Contract):
    async def test_an_update_of_nothing_fails(self, store: Store) -> None:
        """Of a key that was there: kine takes any revision for one that never was."""
        first = await put(store, "/g/r/a", b"1")
        await delete(store, "/g/r/a", first)
        with pytest.raises(RevisionConflict) as caught:
            await put(store, "/g/r/a", b"3", expect=first)
        assert caught.value.current is None

    async def test_several_keys_share_one_revision(self, store: Store) -> None:
        """They do not: the first has that of the commit, the others follow."""
        assert not store.atomic
        first = await put(store, "/g/r/a", b"1")
        follower = Follower(store, "/g/", first)
        operations = [
            Operation("/g/r/a", StoredValue(b"2"), first),
            Operation("/g/s/a", StoredValue(b"1"), 0),
            Operation("/g/r/b", StoredValue(b"2"), 0),
        ]
        revision = await store.commit(operations)
        later = await put(store, "/g/r/c", b"3")
        await follower.reach(later)
        assert [change.key for change in follower.changes] == ["/g/r/a", "/g/s/a", "/g/r/b", "/g/r/c"]
        assert follower.changes[0].revision == revision
        assert revision < follower.changes[1].revision < follower.changes[2].revision < later

    async def test_history_between_the_keys_of_a_commit_is_not_cut(self, store: Store) -> None:
        """As long as nothing is compacted: kine forgets replaced states with the revision that they had."""
        await store.commit([Operation(f"/g/r/{name}", StoredValue(b"1"), 0) for name in "abcd"])
        records, revision = await store.read_range("/g/r/")
        for record in records:
            await delete(store, record.key, record.revision)
        for after in range(revision, await store.read_revision()):
            known = {record.key for record in await store.read_range_at("/g/r/", after)}
            assert known <= {change.key for change in await store.read_changes("/g/r/", after)}

    async def test_what_a_later_delete_took_away_survives_compaction_up_to_then(self, store: Store) -> None:
        """It does not, so that such a delete cannot be told of."""
        first = await put(store, "/g/r/a", b"1")
        second = await put(store, "/g/r/b", b"2")
        last = await delete(store, "/g/r/a", first)
        await store.compact(second)
        with pytest.raises(HistoryCompacted) as caught:
            await store.read_changes("/g/r/", second)
        assert caught.value.revision == last


async def test_servers_that_choose_at_once_choose_one_after_the_other(store: EtcdStore) -> None:
    """What allocations need: of commits that take the same key along, each has seen those before it."""
    database = DATABASES[0] if shared(DATABASES[0]).url in store._client._settings.servers else DATABASES[1]
    others = [store, made(database, store._layout.root)]
    await others[1].open()

    async def choose(number: int) -> None:
        server = others[number % 2]
        while True:
            found, _ = await server.read_range("/g/")
            taken = {one.key: one for one in found if one.key.startswith("/g/taken/")}
            along = next((one.revision for one in found if one.key == "/g/along/a"), 0)
            free = f"/g/taken/{len(taken):02}"
            try:
                await server.commit(
                    [Operation(free, StoredValue(b"%d" % number), 0), Operation("/g/along/a", StoredValue(b""), along)]
                )
            except RevisionConflict:
                continue
            return

    await asyncio.gather(*map(choose, range(8)))
    found, _ = await store.read_range("/g/taken/")
    assert [one.key for one in found] == [f"/g/taken/{number:02}" for number in range(8)]
    assert {one.stored.data for one in found} == {b"%d" % number for number in range(8)}
    await others[1].close()


async def test_a_condition_alone_stops_a_write(store: EtcdStore) -> None:
    guard = await put(store, "/g/r/guard", b"1")
    await put(store, "/g/r/guard", b"2", expect=guard)
    with pytest.raises(RevisionConflict) as caught:
        await store.commit([Operation("/g/r/a", StoredValue(b""), 0), Operation("/g/r/guard", KEPT, guard)])
    assert caught.value.key == "/g/r/guard"
    assert (await store.read_range("/g/r/a"))[0] == []


@pytest.mark.parametrize("database", DATABASES)
async def test_one_server_alone_is_refused(database: str) -> None:
    alone = made(database, exclusive=True)
    with pytest.raises(StoreError, match="--etcd-exclusive requires transactions of several keys"):
        await alone.open()
    await alone.close()


@pytest.mark.parametrize("database", DATABASES)
async def test_a_log_is_refused_if_it_is_asked_for(database: str) -> None:
    store = made(database, needs_log=True)
    with pytest.raises(StoreError, match="--history-log and --history-for require transactions of several keys"):
        await store.open()
    await store.close()


async def test_a_log_that_nobody_asked_for_is_left_out(store: EtcdStore) -> None:
    assert store.changelog is None
