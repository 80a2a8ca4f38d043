"""A watch hands over every change once and in order, whenever it begins and however late it is told."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import urllib.request
import uuid
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from podless import Server
from podless.apis.core.group import CONFIG_MAPS
from podless.cache.cache import Cache
from podless.kinds.conversion import Converter
from podless.kinds.registry import Registry
from podless.remote.client import WebhookClient
from podless.runtime.meter import charge
from podless.store import Operation, StoredValue
from podless.store.sqlite import SQLiteStore
from podless.verbs import options
from podless.verbs.call import API, Call
from podless.verbs.watch import Watch, WatcherEvent
from tests.conftest import CRDS, definition, gadget, tries
from tests.conftest import Client as Caller

NAMES = ["a", "b", "c"]
HEAD = b'{"metadata":{"labels":{"n":"%d"},"resourceVersion":"'


class Watcher:
    """What one client knows: the objects by name, each at its revision, from what it was told alone."""

    def __init__(self, api: API, query: dict[str, list[str]]) -> None:
        call = Call(CONFIG_MAPS, CONFIG_MAPS.versions[0], "ns", "", query={"watch": ["1"], **query})
        self.state: dict[str, int] = {}
        self.told: list[int] = []
        self.collection = api.collection(CONFIG_MAPS)
        self.watch = Watch(api, call, options.list_options(call), self.collection)

    async def begin(self, state: dict[str, int]) -> None:
        """state: what the client has listed before."""
        self.state = dict(state)
        await self.watch.prepare_initial()
        for seen in self.watch.initial:
            self.take(seen)

    def start(self) -> None:
        self.watch.start(self.take, lambda: None, lambda error: None)

    def take(self, seen: Sequence[WatcherEvent]) -> None:
        for item in seen:
            if item.event is not None:
                self.told.append(item.event.revision)
            if item.type == "DELETED":
                del self.state[item.entry.name]
                continue
            assert (item.type == "MODIFIED") == (item.entry.name in self.state)
            self.state[item.entry.name] = item.entry.revision


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(NAMES)),
        st.tuples(st.just("delete"), st.sampled_from(NAMES)),
        st.tuples(st.sampled_from(["watch", "list and watch", "start", "turn"]), st.just("")),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=tries(150))
@given(steps)
def test_every_watcher_ends_up_with_the_state_that_there_is(given_steps: list[tuple[str, str]]) -> None:
    async def play() -> None:
        store = SQLiteStore()
        await store.open()
        cache = Cache(store)
        await cache.open()
        api = API(store, cache, Registry(), Converter(WebhookClient()))
        await api.load_collection(CONFIG_MAPS)
        state: dict[str, int] = {}
        watchers: list[Watcher] = []
        waiting: list[Watcher] = []
        for what, name in given_steps:
            key = CONFIG_MAPS.key("ns", name)
            if what == "write":
                head = HEAD % len(state)
                state[name] = await store.commit(
                    [Operation(key, StoredValue(head + b'"}}', len(head)), state.get(name, 0))]
                )
            elif what == "delete" and name in state:
                await store.commit([Operation(key, None, state.pop(name))])
            elif "watch" in what:
                known = what == "list and watch" and cache.revision > 0
                query = {"resourceVersion": [str(cache.revision)]} if known else {}
                watcher = Watcher(api, query)
                await watcher.begin(state if known else {})
                assert watcher.state == state
                waiting.append(watcher)
            elif what == "start" and waiting:
                watchers.append(waiting.pop())
                watchers[-1].start()
            elif what == "turn":
                await asyncio.sleep(0)
        for watcher in waiting:
            watcher.start()
        for watcher in [*watchers, *waiting]:
            assert watcher.watch.revision == cache.revision  # by then it has heard of all
            assert watcher.state == state
            assert watcher.told == sorted(set(watcher.told))
        await store.close()

    asyncio.run(play())


BLANK = StoredValue(b'{"metadata":{"resourceVersion":""}}', 31)


async def test_a_bookmark_never_runs_ahead_of_the_events() -> None:
    store = SQLiteStore()
    await store.open()
    cache = Cache(store)
    await cache.open()
    api = API(store, cache, Registry(), Converter(WebhookClient()))
    await api.load_collection(CONFIG_MAPS)
    watcher = Watcher(api, {})
    await watcher.begin({})
    early = await store.commit([Operation(CONFIG_MAPS.key("ns", "a"), BLANK, 0)])
    assert watcher.watch.revision < early  # the event waits for the watch to start
    watcher.start()
    late = await store.commit([Operation(CONFIG_MAPS.key("ns", "b"), BLANK, 0)])
    assert watcher.watch.revision == late
    assert watcher.told == [early, late]
    await store.close()


async def test_long_objects_are_shown_in_slices_and_in_order() -> None:
    store = SQLiteStore()
    await store.open()
    cache = Cache(store)
    await cache.open()
    api = API(store, cache, Registry(), Converter(WebhookClient()))
    await api.load_collection(CONFIG_MAPS)
    watcher = Watcher(api, {})
    await watcher.begin({})
    slices: list[int] = []

    def show(seen: Sequence[WatcherEvent]) -> None:
        for _ in range(20 if len(seen[0].entry.body) > 1000 else 0):
            before = time.thread_time()
            while time.thread_time() - before < 0.001:
                charge(1000)
            slices.append(turns)
        watcher.take(seen)

    watcher.watch.decodes = True
    watcher.watch.start(show, lambda: None, lambda error: None)
    long = StoredValue(BLANK.data[:31] + b'"},"data":{"a":"' + b"x" * 20_000 + b'"}}', 31)
    revisions = [await store.commit([Operation(CONFIG_MAPS.key("ns", "a"), long, 0)])]
    turns = 0
    while len(watcher.told) < 3:
        if len(revisions) < 3 and slices:
            revisions.append(await store.commit([Operation(CONFIG_MAPS.key("ns", f"b{turns}"), BLANK, 0)]))
            assert watcher.watch.revision < revisions[0]  # a bookmark does not say that it was shown
        turns += 1
        await asyncio.sleep(0)
    assert watcher.told == revisions
    assert len(set(slices)) > 2
    await store.close()


def test_a_watch_ends_when_its_kind_changes_and_not_with_labels(server: Server, client: Caller) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    made = definition(group)
    assert client.post(CRDS, made).status == 201
    place, gadgets = f"{CRDS}/{made['metadata']['name']}", f"/apis/{group}/v1/namespaces/default/gadgets"
    request = urllib.request.Request(f"{server.url}{gadgets}?watch=1&timeoutSeconds=60")
    request.add_header("Authorization", f"Bearer {server.token}")
    with urllib.request.urlopen(request, timeout=60, context=ssl._create_unverified_context()) as lines:
        client.merge(place, {"metadata": {"labels": {"a": "b"}}})
        client.post(gadgets, gadget(group, "a"))
        assert json.loads(lines.readline())["type"] == "ADDED"
        client.merge(place, {"spec": {"names": {"shortNames": ["gd"]}}})
        assert lines.readline() == b""  # within the half minute that reading may take
