"""The cache against a plain model: every state of the past, every event once and in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.cache import watchcache as module
from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.store import HistoryCompacted, Operation, ResourceKeys, StoredValue
from podless.store.sqlite import SQLiteStore
from tests.conftest import tries

PREFIX = "/g/things/"
THINGS = ResourceKeys(PREFIX, namespaced=True)
NAMES = ["ns1/a", "ns1/b", "ns2/a", "ns1/c"]


def value(number: int) -> StoredValue:
    """An object with a hole for its revision."""
    head, tail = b'{"metadata":{"labels":{"n":"%d"},"resourceVersion":"' % number, b'"}}'
    return StoredValue(head + tail, len(head))


class World:
    """A store with a cache over it, and the dict that both must agree with."""

    def __init__(self) -> None:
        self.store = SQLiteStore()
        self.cache = Cache(self.store)
        self.history: list[dict[str, int]] = [{}]
        self.seen: list[tuple[str, int, bool, bool]] = []

    async def open(self, *, early: bool) -> WatchCache:
        await self.store.open()
        await self.cache.open()
        collection = self.cache.collection(THINGS)
        if early:
            await collection.load()
            collection.add_event_handler(self._note)
        return collection

    def _note(self, events: Sequence[CacheEvent]) -> None:
        self.seen += [(e.key, e.revision, e.before is not None, e.after is not None) for e in events]

    async def write(self, name: str, number: int | None) -> None:
        state = dict(self.history[-1])
        key = PREFIX + name
        if number is None:
            if key not in state:
                return
            revision = await self.store.commit([Operation(key, None, state.pop(key))])
        else:
            revision = await self.store.commit([Operation(key, value(number), state.get(key, 0))])
            state[key] = revision
        assert revision == len(self.history)
        self.history.append(state)


writes = st.lists(st.tuples(st.sampled_from(NAMES), st.none() | st.integers(0, 9)), max_size=30)


@settings(deadline=None, max_examples=tries(60))
@given(writes=writes, window=st.integers(1, 8), early=st.booleans())
def test_past_states_and_events_are_those_of_the_model(
    writes: list[tuple[str, int | None]], window: int, early: bool
) -> None:
    async def play() -> None:
        world = World()
        collection = await world.open(early=early)
        for name, number in writes:
            await world.write(name, number)
            if early:
                collection.index_label("n")  # followed from the first write on
        await collection.load()
        assert early or collection.oldest == min(world.history[-1].values(), default=len(world.history))
        for revision, state in enumerate(world.history):
            entries = await collection.read_entries_at(PREFIX, revision)
            assert {entry.key: entry.revision for entry in entries} == state
            assert [entry.key for entry in entries] == sorted(state)
            assert all(b'"resourceVersion":"%d"' % entry.revision in entry.body for entry in entries)
            events = await collection.changes_since(revision, 0)
            assert [event.revision for event in events] == list(range(revision + 1, len(world.history)))
            replayed = dict(state)
            for event in events:
                assert (event.before is not None) == (event.key in replayed)
                if event.after is None:
                    del replayed[event.key]
                else:
                    replayed[event.key] = event.after.revision
            assert replayed == world.history[-1]
        assert all(entry.revision >= collection.oldest for entry in collection.entries_under(PREFIX)[0])
        collection.index_label("n")
        for wanted in ("3", "5"):
            held = [entry.key for entry in collection.entries_under(PREFIX)[0] if entry.labels["n"] == wanted]
            assert [entry.key for entry in collection.entries_labelled(PREFIX, "n", [wanted, "-"]) or ()] == held
        if early:
            assert [revision for _, revision, _, _ in world.seen] == list(range(1, len(world.history)))
        await world.store.close()

    kept = module.WINDOW, module.WINDOW_BYTES
    module.WINDOW, module.WINDOW_BYTES = window, 60 * window  # an object has about 60 bytes
    try:
        asyncio.run(play())
    finally:
        module.WINDOW, module.WINDOW_BYTES = kept


async def test_replaced_states_do_not_fill_the_memory() -> None:
    world = World()
    collection = await world.open(early=True)
    big = StoredValue(b'{"metadata":{"resourceVersion":"' + b"x" * (1 << 20), 32)
    revision = 0
    for _ in range(20):
        revision = await world.store.commit([Operation(PREFIX + "ns1/big", big, revision)])
    assert sum(len(event.before.body) for event in collection._window if event.before) <= module.WINDOW_BYTES
    assert [event.revision for event in await collection.changes_since(1, 0)] == list(range(2, 21))
    await world.store.close()


async def test_a_page_starts_after_a_key_and_tells_what_is_left() -> None:
    world = World()
    collection = await world.open(early=True)
    for name in NAMES:
        await world.write(name, 1)
    entries, left = collection.entries_under(PREFIX, limit=2)
    assert ([entry.key for entry in entries], left) == ([PREFIX + "ns1/a", PREFIX + "ns1/b"], 2)
    entries, left = collection.entries_under(PREFIX, PREFIX + "ns1/b\0")
    assert ([entry.key for entry in entries], left) == ([PREFIX + "ns1/c", PREFIX + "ns2/a"], 0)
    assert [entry.name for entry in collection.entries_under(PREFIX + "ns2/")[0]] == ["a"]
    await world.store.close()


async def test_what_a_watcher_is_shown_of_a_deleted_object_is_its_last_state_at_the_new_revision() -> None:
    world = World()
    collection = await world.open(early=True)
    await world.write("ns1/a", 7)
    caught: list[CacheEvent] = []
    leave = collection.add_event_handler(caught.extend)
    await world.write("ns1/a", None)
    before = caught[0].before
    assert before is not None
    last = caught[0].leave_selection(before)
    assert last.body == before.body.replace(b'"1"', b'"2"')
    assert (last.name, last.namespace, last.labels) == ("a", "ns1", {"n": "7"})
    leave()
    await world.write("ns1/a", 1)
    assert len(caught) == 1
    await world.store.close()


async def test_history_from_before_the_resource_is_refused() -> None:
    world = World()
    collection = await world.open(early=True)
    await world.write("ns1/a", 1)
    with pytest.raises(HistoryCompacted):
        await collection.changes_since(0, 1)
    await world.store.close()


async def test_a_state_is_read_in_parts_once_for_all_and_has_what_was_written_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    world = World()
    collection = await world.open(early=False)
    for number in range(7):
        await world.write(f"ns1/n{number}", number)
    page, asked = world.store.read_page, 0

    async def slow(*given: object) -> object:
        nonlocal asked
        asked += 1
        assert world.cache.loading == 1
        if asked == 2:  # what was read already, what was not, and what was not there
            await world.write("ns1/n0", 9)
            await world.write("ns1/n5", None)
            await world.write("ns1/n9", 9)
        return await page(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(world.store, "read_page", slow)
    await asyncio.gather(*(collection.load() for _ in range(5)))
    assert (asked, world.cache.loading, collection.oldest) == (4, 0, 1)
    assert {entry.key: entry.revision for entry in collection.entries_under(PREFIX)[0]} == world.history[-1]
    assert len(await collection.changes_since(7, 0)) == 3
    await world.store.close()


async def test_a_state_that_was_read_before_changes_were_lost_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    collection = await world.open(early=False)
    await world.write("ns1/a", 1)
    page, lost = world.store.read_page, False

    async def overtaken(*given: object) -> object:
        nonlocal lost
        found = await page(*given)  # type: ignore[arg-type]
        if not lost:
            lost = True
            leave, world.store._watches = world.store._watches, []  # of this write nobody is told
            await world.write("ns1/b", 2)
            world.store._watches = leave
            world.cache._reload_after(await world.store.read_revision())
        return found

    monkeypatch.setattr(world.store, "read_page", overtaken)
    await collection.load()
    assert [entry.key for entry in collection.entries_under(PREFIX)[0]] == [f"{PREFIX}ns1/a", f"{PREFIX}ns1/b"]
    await world.store.close()


def test_labels_looked_for_while_the_state_is_read_anew_are_those_of_the_new_state() -> None:
    async def play() -> None:
        world = World()
        collection = await world.open(early=True)
        await world.write("ns1/a", 1)
        read = collection._read_entries

        async def read_late() -> tuple[dict[str, Entry], int]:
            collection.index_label("n")
            await world.write("ns1/a", 2)
            return await read()

        collection._read_entries = read_late  # type: ignore[method-assign]
        await collection.reload_state()
        collection.index_label("n")
        found = [collection.entries_labelled(PREFIX, "n", [value]) or [] for value in ("1", "2")]
        assert [[entry.name for entry in entries] for entries in found] == [[], ["a"]]
        await world.store.close()

    asyncio.run(play())
