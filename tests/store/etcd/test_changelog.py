"""The change log in etcd, against a model that keeps everything."""

from __future__ import annotations

import asyncio
import itertools
import random
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podless import Server
from podless.apis.layout import key_layout
from podless.app import Settings
from podless.cli.past import settle_past
from podless.store import HistoryCompacted, Operation, StoredValue, keys
from podless.store.contract import AUTHOR, Author
from podless.store.etcd import trimmer
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore
from podless.store.history import HistoryBounds, Keep
from podless.testing.ask import Lines, ask_app
from tests.history.writes import write_and_compare

pytestmark = pytest.mark.slow

KEYS = ["/example.com/gadgets/a/x", "/example.com/gadgets/a/x-y", "/core/services/b/x", "/core/nodes/x"]
PREFIXES = ["/example.com/gadgets/", "/example.com/gadgets/a/", "/core/services/", "/core/nodes/", "/"]
FOREVER = Keep(age=1e9, size=1 << 40, count=1 << 40)
LOG = "/apis/history.podless.dev/v1"
LEASE = "object.resource=leases,object.name=podless-controllers"
_NUMBERS = itertools.count()
FILLER = b'"text":"so long that a state is stored as the difference from the one that replaced it"'


class Event(NamedTuple):
    revision: int
    key: str
    value: bytes | None
    author: Author


def made(etcd: str, prefix: str, bounds: HistoryBounds | None) -> EtcdStore:
    return EtcdStore(Etcd(servers=(etcd,), prefix=prefix), key_layout(prefix), interval=0, bounds=bounds)


async def opened(etcd: str, prefix: str, bounds: HistoryBounds | None) -> EtcdStore:
    store = made(etcd, prefix, bounds)
    await store.open()
    return store


async def trim(store: EtcdStore) -> None:
    assert store.changelog is not None
    with mock.patch.object(trimmer, "_PERIOD", 0.0):
        await store.changelog.trimmer.trim_log()


async def pages(store: EtcdStore, prefix: str, revision: int) -> list[Any]:
    """A state in pages of two."""
    found, after = [], ""
    while True:
        page, after = await store.read_page(revision, after, 2, prefix)
        found += page
        if not after:
            return found


async def check(store: EtcdStore, model: list[Event]) -> None:
    log = store.changelog
    assert log is not None
    for prefix in PREFIXES:
        horizon = log.trimmer.horizons.horizon_of(prefix if prefix.count("/") == 3 else "/")
        for revision in {event.revision for event in model if event.revision >= horizon}:
            expected: dict[str, tuple[int, bytes | None]] = {}
            for event in model:
                if event.revision <= revision and event.key.startswith(prefix):
                    expected[event.key] = (event.revision, event.value)
            present = [(key, *told) for key, told in expected.items() if told[1] is not None]
            for found in (await store.read_range_at(prefix, revision), await pages(store, prefix, revision)):
                assert sorted((one.key, one.revision, one.stored.data) for one in found) == sorted(present)
        told = [
            Event(one.revision, one.key, one.stored and one.stored.data, one.author)
            for one in await log.read_under([prefix])
        ]
        assert told == [one for one in reversed(model) if one.key.startswith(prefix) and one.revision > horizon]
    for key in KEYS:
        own = [one for one in reversed(model) if one.key == key and one.revision > log.trimmer.horizons.default]
        assert [one.revision for one in await log.read_key(key)] == [one.revision for one in own]
        paged, before = [], 0
        while page := await log.read_key(key, before, 0, 2):
            paged += [one.revision for one in page]
            before = page[-1].sequence
        assert paged == [one.revision for one in own]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write"] * 16 + ["delete", "compact", "compact", "trim", "reopen"]),
        st.integers(0, len(KEYS) - 1),
        st.integers(0, 3),
    ),
    min_size=10,
    max_size=60,
)


async def run(etcd: str, steps: list[tuple[str, int, int]], bounds: HistoryBounds) -> None:
    prefix = f"/log{next(_NUMBERS)}"
    store = await opened(etcd, prefix, bounds)
    model: list[Event] = []
    state: dict[str, int] = {}
    for number, (what, place, user) in enumerate(steps):
        key, author = KEYS[place], Author(f"user-{user}", verb="update", audit=bytes([user]) * 16 if user else b"")
        if what == "compact":
            await store.compact(await store.read_revision() - place)
        elif what == "trim":
            await trim(store)
        elif what == "reopen":
            await store.close()
            store = await opened(etcd, prefix, bounds)
        elif what == "write" or key in state:
            value = None if what == "delete" else b'{"metadata":{"resourceVersion":""},"n":%d,%b}' % (number, FILLER)
            AUTHOR.set(author)
            stored = StoredValue(value, 32) if value is not None else None
            revision = await store.commit([Operation(key, stored, state.get(key, 0))])
            model.append(Event(revision, key, value, author))
            if value is None:
                del state[key]
            else:
                state[key] = revision
    await check(store, model)
    await store.close()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, most=st.none() | st.integers(0, 12))
def test_states_and_changes_are_those_that_were_written(
    etcd: str, steps: list[tuple[str, int, int]], most: int | None
) -> None:
    bounds = HistoryBounds(FOREVER if most is None else Keep(age=1e9, size=1 << 40, count=most))
    asyncio.run(run(etcd, steps, bounds))


async def test_what_another_program_wrote_in_between_is_not_told_and_not_made_up(etcd: str) -> None:
    prefix, key = f"/log{next(_NUMBERS)}", KEYS[0]
    store, other = await opened(etcd, prefix, HistoryBounds(FOREVER)), await opened(etcd, prefix, None)
    first = await store.commit([Operation(key, StoredValue(b"1"), 0)])
    foreign = await other.commit([Operation(key, StoredValue(b"2"), first)])
    last = await store.commit([Operation(key, StoredValue(b"3"), foreign)])
    log = store.changelog
    assert log is not None
    assert [one.revision for one in await log.read_key(key)] == [last, first]
    await store.compact(last)
    assert [one.revision for one in await log.read_key(key)] == [last]
    assert [one.stored.data for one in await store.read_range_at(key, foreign)] == [b"2"]
    with pytest.raises(HistoryCompacted):
        await store.read_range_at(key, first)
    for value in (store, other):
        await value.close()


async def test_an_object_that_changed_often_is_known_at_every_revision(etcd: str) -> None:
    store, key = await opened(etcd, f"/log{next(_NUMBERS)}", HistoryBounds(FOREVER)), KEYS[0]
    written: dict[int, bytes] = {}
    for number in range(60):
        value = b'{"metadata":{"resourceVersion":""},"n":%d,%b}' % (number, FILLER)
        written[await store.commit([Operation(key, StoredValue(value, 32), max(written, default=0))])] = value
    log = store.changelog
    assert log is not None
    told, before = [], 0
    while page := await log.read_key(key, before, 0, 1):  # nothing newer is read with it
        told += page
        before = page[-1].sequence
    assert {one.revision: one.stored and one.stored.data for one in told} == written
    await store.compact(max(written))
    for revision, value in written.items():
        assert [one.stored.data for one in await store.read_range_at(key, revision)] == [value]
    await store.close()


async def test_all_changes_of_a_commit_are_told_once_in_their_order(etcd: str) -> None:
    store = await opened(etcd, f"/log{next(_NUMBERS)}", HistoryBounds(FOREVER))
    revision = await store.commit([Operation(key, StoredValue(b"1"), 0) for key in KEYS])
    log = store.changelog
    assert log is not None
    told = await log.read_under(["/"])
    assert [one.key for one in told] == KEYS[::-1]
    assert {one.revision for one in told} == {revision}
    assert await log.read_under(["/"], after=await log.find_sequence(revision)) == []
    assert len(await log.read_under(["/"], after=await log.find_sequence(revision - 1))) == len(KEYS)
    assert await log.list_resources() == sorted({keys.prefix_of(key) for key in KEYS})
    await store.close()


async def test_a_resource_without_bounds_is_not_in_the_log(etcd: str) -> None:
    store = await opened(etcd, f"/log{next(_NUMBERS)}", HistoryBounds(FOREVER, {"/core/nodes/": None}))
    for key in KEYS:
        await store.commit([Operation(key, StoredValue(b"1"), 0)])
    log = store.changelog
    assert log is not None
    assert {one.key for one in await log.read_under(["/"])} == set(KEYS[:3])
    await store.close()


async def test_a_large_object_can_be_written_and_its_state_is_left_out(etcd: str) -> None:
    store, key = await opened(etcd, f"/log{next(_NUMBERS)}", HistoryBounds(FOREVER)), KEYS[0]
    large = random.Random(1).randbytes(1_400_000)
    first = await store.commit([Operation(key, StoredValue(large), 0)])
    last = await store.commit([Operation(key, StoredValue(large + b"2"), first)])
    log = store.changelog
    assert log is not None
    assert [one.revision for one in await log.read_key(key)] == [last, first]
    await store.compact(last)
    with pytest.raises(HistoryCompacted):
        await store.read_range_at(key, first)
    await store.close()


async def test_a_restore_begins_a_new_log(etcd: str) -> None:
    store = await opened(etcd, f"/log{next(_NUMBERS)}", HistoryBounds(FOREVER))
    revision = await store.commit([Operation(KEYS[0], StoredValue(b"1"), 0)])
    await store.advance_revision(revision + 3)
    log = store.changelog
    assert log is not None
    assert await log.read_under(["/"]) == []
    with pytest.raises(HistoryCompacted):
        await store.read_range_at("/", revision)
    await store.close()


async def test_a_server_tells_who_did_what_and_shows_states_of_any_age(etcd: str) -> None:
    prefix = f"/log{next(_NUMBERS)}"
    async with Server(store="etcd", etcd=Etcd(servers=(etcd,), prefix=prefix, compaction=0)) as server:
        lines = await Lines.of(server._get_app(), f"{LOG}/namespaces/default/history", fieldSelector="object.name=one")
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"n": "0"}}
        [first] = await server.client.apply(obj)
        await server.client.apply(obj | {"data": {"n": "1"}})
        await server.client.delete("configmap", "one")
        [lease] = (await ask_app(server._get_app(), "GET", f"{LOG}/history", fieldSelector=LEASE, limit="1"))["items"]
        assert (lease["author"]["user"], lease["author"]["fieldManager"]) == ("system:apiserver", "leader-election")
        events = [await lines.next() for _ in range(3)]
        assert [event and event["object"]["operation"] for event in events] == ["create", "update", "delete"]
        lines.stop()
        changes = await server.client.history("configmap", "one")
        assert [(change.operation, change.verb, [field.after for field in change.fields]) for change in changes] == [
            ("create", "apply", []),
            ("update", "apply", ["1"]),
            ("delete", "delete", []),
        ]
        cluster = server._get_app().cluster
        assert cluster is not None
        store = cluster.store
        assert store is not None
        await store.compact(await store.read_revision())
        at = {"resourceVersion": first["metadata"]["resourceVersion"], "resourceVersionMatch": "Exact"}
        path = "/api/v1/namespaces/default/configmaps"
        assert await ask_app(server._get_app(), "GET", f"{path}/one", **at) == first
        assert (await ask_app(server._get_app(), "GET", path, **at))["items"][0]["data"] == {"n": "0"}


async def test_every_verb_is_told_as_it_was_over_compaction_and_a_restart(etcd: str) -> None:
    options = {"store": "etcd", "etcd": Etcd(servers=(etcd,), prefix=f"/log{next(_NUMBERS)}", compaction=0)}
    await write_and_compare(7, options | {"history_log": FOREVER}, writes=60)


async def test_an_earlier_state_can_be_served_from_a_copy(etcd: str, tmp_path: Path) -> None:
    options: Any = {"store": "etcd", "etcd": Etcd(servers=(etcd,), prefix=f"/log{next(_NUMBERS)}", compaction=0)}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"n": "0"}}
    async with Server(**options) as server:
        [first] = await server.client.apply(obj)
        await server.client.apply(obj | {"data": {"n": "1"}})
        at, store = first["metadata"]["resourceVersion"], server._get_app().cluster.api.store  # type: ignore[union-attr]
        await store.compact(await store.read_revision())
        past = await asyncio.to_thread(settle_past, Settings(**options), at, tmp_path)
    assert (past.store, past.read_only) == ("sqlite", True)
    async with Server(tmp_path) as copy:
        assert await copy.client.get("configmap", "one") == first
