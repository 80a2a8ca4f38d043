"""The engine on etcd keeps the contract."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable

import pytest

from podless.store import Operation, Store, StoredValue, StoreTimeout, StoreUnreachable, ValueTooLarge
from podless.store.etcd import channel as rpc
from podless.store.etcd import client
from podless.store.etcd.channel import ChannelError
from podless.store.etcd.layout import KeyLayout
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore
from tests.store.contract import Contract, Follower, put

pytestmark = pytest.mark.slow

_NUMBERS = itertools.count()


def made(etcd: str, prefix: str = "", **more: object) -> EtcdStore:
    """A store below a prefix that nobody else uses."""
    return EtcdStore(Etcd(servers=(etcd,), prefix=prefix or f"/test{next(_NUMBERS)}"), **more)  # type: ignore[arg-type]


@pytest.fixture
async def store(etcd: str) -> AsyncIterator[EtcdStore]:
    store = made(etcd)
    await store.open()
    yield store
    await store.close()


class TestEtcd(Contract):
    @pytest.fixture
    async def store(self, etcd: str) -> AsyncIterator[Store]:
        store = made(etcd)
        await store.open()
        yield store
        await store.close()


async def test_writes_elsewhere_in_the_cluster_are_caught_up_with(etcd: str, store: EtcdStore) -> None:
    other = made(etcd)
    await other.open()
    follower = Follower(store, "/", await store.read_revision())
    await put(other, "/g/r/a", b"1")
    current = await store.read_revision()
    await asyncio.wait_for(follower.reach(current), 60)
    assert follower.changes == []
    await other.close()


@pytest.mark.parametrize("answer", [ChannelError(rpc.UNAVAILABLE, "away"), b"no message", b""])
async def test_a_question_without_a_fit_answer_is_asked_again(
    store: EtcdStore, answer: ChannelError | bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(name: str, message: bytes, told: Callable[[bytes | ChannelError], None]) -> bool:
        told(answer)
        return True

    revision = await put(store, "/g/r/a", b"1")
    monkeypatch.setattr(store._client, "send_request", begin)
    assert await store.read_revision() >= revision


async def test_a_question_that_is_asked_again_has_no_more_time(
    store: EtcdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(name: str, message: bytes, told: Callable[[bytes | ChannelError], None]) -> bool:
        asyncio.get_running_loop().call_later(0.05, told, ChannelError(rpc.DEADLINE, "late"))
        return True

    monkeypatch.setattr(store._client, "send_request", begin)
    monkeypatch.setattr(client, "_CALL_TIMEOUT", 0.01)
    with pytest.raises(StoreTimeout):
        await store.read_revision()


async def test_a_question_that_is_asked_again_for_somebody_who_is_gone(
    store: EtcdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(name: str, message: bytes, told: Callable[[bytes | ChannelError], None]) -> bool:
        told(ChannelError(rpc.UNAVAILABLE, "away"))
        return True

    wrong: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
    monkeypatch.setattr(store._client, "send_request", begin)
    asyncio.ensure_future(store.read_revision()).cancel()
    await asyncio.gather(*store._asking)
    await asyncio.sleep(0)
    assert wrong == []


async def test_two_servers_see_the_same(etcd: str) -> None:
    one, other = made(etcd, "/shared"), made(etcd, "/shared")
    await one.open()
    await other.open()
    follower = Follower(other, "/g/", await other.read_revision())
    revision = await put(one, "/g/r/a", b"1")
    assert await other.read_revision() >= revision
    await asyncio.wait_for(follower.reach(revision), 60)
    assert [change.key for change in follower.changes] == ["/g/r/a"]
    assert (await other.read_range("/g/"))[0] == (await one.read_range("/g/"))[0]
    await one.close()
    await other.close()


async def test_what_has_a_time_goes_by_itself(etcd: str) -> None:
    store = made(etcd, times={"/core/events/": 1.0})
    await store.open()
    after = await store.read_revision()
    follower = Follower(store, "/core/events/", after)
    await put(store, "/core/events/a/b", b"1")
    await put(store, "/core/pods/a/b", b"1")
    while len(follower.changes) < 2:
        await asyncio.wait_for(follower.reach(follower.revision + 1), 60)
    assert [change.record is None for change in follower.changes] == [False, True]
    assert (await store.read_range("/core/events/"))[0] == []
    assert len((await store.read_range("/core/pods/"))[0]) == 1
    await store.close()


async def test_a_request_that_is_too_large_is_refused_in_etcds_words(store: EtcdStore) -> None:
    with pytest.raises(ValueTooLarge, match="etcdserver: request is too large"):
        await put(store, "/g/r/a", b"x" * (2 << 20))
    assert (await store.read_range("/g/"))[0] == []


async def test_pages_have_all(store: EtcdStore) -> None:
    await store.commit([Operation(f"/g/r/{number}", StoredValue(b""), 0) for number in range(7)])
    revision, after, found = await store.read_revision(), "", []
    while True:
        records, after = await store.read_page(revision, after, 3)
        found += [record.key for record in records]
        if not after:
            break
    assert found == [f"/g/r/{number}" for number in range(7)]


async def test_revisions_can_be_moved_on(store: EtcdStore) -> None:
    wanted = await store.read_revision() + 100
    await store.advance_revision(wanted)
    assert await put(store, "/g/r/a", b"1") > wanted
    assert store.compacted_revision >= wanted


async def test_compaction_by_others_under_a_watch_is_told(etcd: str, store: EtcdStore) -> None:
    first = await put(store, "/g/r/a", b"1")
    await put(store, "/g/r/a", b"2", expect=first)
    other = made(etcd, store._layout.root)
    await other.open()
    newest = await put(other, "/g/r/b", b"1")
    await other.compact(newest)
    lost: asyncio.Queue[int] = asyncio.Queue()
    store.watch("/g/", first - 1, lambda changes, revision: None, lost.put_nowait)
    assert await asyncio.wait_for(lost.get(), 60) >= newest
    assert store.compacted_revision == newest
    await other.close()


async def test_one_server_compacts_for_all(etcd: str) -> None:
    stores = [made(etcd, "/shared", interval=3600) for _ in range(3)]
    for store in stores:
        await store.open()
        await store._compactor.stop()
    first = await put(stores[0], "/compacted/r/a", b"1")
    for _ in range(3):
        for store in stores:
            await store._compactor.take_turn()
    # whose turn it was not knows it as well, and since when history is there
    assert all(store.compacted_revision >= first for store in stores)
    assert all(0 < store.read_figures()["oldest"] <= time.time() for store in stores)
    for store in stores:
        await store.close()


async def test_a_cluster_that_is_not_there_is_said_so() -> None:
    store = made("http://127.0.0.1:1")
    with pytest.raises(StoreUnreachable):
        await asyncio.wait_for(store.open(), 20)
    await store.close()


class TestLayout:
    LAYOUT = KeyLayout("/registry", {"/core/pods/": "pods", "/core/services/": "services/specs"})

    @pytest.mark.parametrize(
        ("here", "there"),
        [
            ("/core/pods/a/b", "/registry/pods/a/b"),
            ("/core/services/a/b", "/registry/services/specs/a/b"),
            ("/example.com/gadgets/a/b", "/registry/example.com/gadgets/a/b"),
            ("/example.com/gadgets/b", "/registry/example.com/gadgets/b"),
            ("/podless/keys/accounts", "/registry/podless/keys/accounts"),
            ("/podless/restoring", "/registry/podless/restoring"),
            ("/core/pods/", "/registry/pods/"),
        ],
    )
    def test_keys(self, here: str, there: str) -> None:
        assert self.LAYOUT.encode_key(here) == there.encode()
        assert self.LAYOUT.decode_key(there.encode()) == here

    def test_values_are_plain_json(self) -> None:
        data = b'{"apiVersion":"v1","metadata":{"name":"a","resourceVersion":"","uid":"1"}}'
        stored = StoredValue(data, data.index(b'","uid"'))
        assert self.LAYOUT.encode_value(stored) == data
        assert self.LAYOUT.decode_value("/core/pods/a/b", data) == stored

    @pytest.mark.parametrize("data", [b"", b"1", b"{}", b'{"a":1}', b"podless\0x", b'{"a":1}\n', b"\xff\0", b"k8s\0x"])
    @pytest.mark.parametrize("offset", [0, 1])
    def test_any_value_comes_back(self, data: bytes, offset: int) -> None:
        stored = StoredValue(data, min(offset, len(data)))
        assert self.LAYOUT.decode_value("/g/r/a", self.LAYOUT.encode_value(stored)) == stored

    def test_a_label_of_that_name_is_no_place_for_a_revision(self) -> None:
        data = b'{"metadata":{"labels":{"resourceVersion":""},"resourceVersion":"","uid":"1"}}'
        stored = StoredValue(data, data.index(b'","uid"'))
        assert self.LAYOUT.decode_value("/g/r/a", self.LAYOUT.encode_value(stored)) == stored

    def test_what_another_server_wrote_gets_its_revision(self) -> None:
        written = b'{"apiVersion":"example.com/v1","data":{"resourceVersion":""},"metadata":{"name":"a","uid":"1"}}\n'
        shown = self.LAYOUT.decode_value("/g/r/a", written).with_revision(7)
        assert shown == (
            b'{"apiVersion":"example.com/v1","data":{"resourceVersion":""},'
            b'"metadata":{"name":"a","resourceVersion":"7","uid":"1"}}'
        )
