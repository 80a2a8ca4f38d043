"""The one way into the store, on an engine on which everything is written by others, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from podless.apis.core.group import CONFIG_MAPS
from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.kinds.conversion import Converter
from podless.kinds.registry import Registry
from podless.meta.errors import Unavailable
from podless.remote import WebhookClient
from podless.runtime.jsonobject import Object
from podless.store import Operation, RevisionConflict, StoredValue
from podless.store.sqlite import SQLiteStore
from podless.verbs import storage
from podless.verbs.call import API
from podless.verbs.storage import AttemptOutcome, NewState
from tests.store.late import LateStore

KEY = CONFIG_MAPS.key("ns", "a")


def blank(**data: str) -> Object:
    head = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "ns"}}
    return head | ({"data": data} if data else {})


@pytest.fixture(params=range(4))
async def api(request: pytest.FixtureRequest) -> AsyncIterator[API]:
    store = LateStore(seed=request.param, disturbed=("/",))
    await store.open()
    cache = Cache(store)
    await cache.open()
    yield API(store, cache, Registry(), Converter(WebhookClient()))
    await store.close()


async def test_of_many_changes_at_once_none_is_lost(api: API) -> None:
    await storage.store_new(api, CONFIG_MAPS, KEY, blank())

    async def count(name: str) -> None:
        async def attempt(entry: Entry | None) -> NewState | AttemptOutcome:
            assert entry is not None
            obj = entry.decode()
            return NewState(blank(**{**obj.get("data", {}), name: "x"}))

        written = await storage.update_stored(api, CONFIG_MAPS, KEY, attempt)
        assert written.entry is not None
        assert written.revision == written.entry.revision <= api.cache.revision

    names = [f"n{number}" for number in range(12)]
    await asyncio.gather(*map(count, names))
    entry = (await api.load_collection(CONFIG_MAPS)).get(KEY)
    assert entry is not None
    assert sorted(entry.decode()["data"]) == sorted(names)


async def test_what_changes_nothing_is_not_written(api: API) -> None:
    made = await storage.store_new(api, CONFIG_MAPS, KEY, blank(a="1"))

    async def attempt(entry: Entry | None) -> NewState | AttemptOutcome:
        return NewState(blank(a="1"))

    written = await storage.update_stored(api, CONFIG_MAPS, KEY, attempt)
    assert written.entry is not None
    assert (written.entry.revision, written.revision) == (made.revision, 0)


async def test_of_creations_at_once_one_wins_and_the_others_know_it(api: API) -> None:
    making = (storage.store_new(api, CONFIG_MAPS, KEY, blank(a=str(place))) for place in range(5))
    outcomes = await asyncio.gather(*making, return_exceptions=True)
    (won,) = (outcome for outcome in outcomes if isinstance(outcome, Entry))
    lost = [outcome for outcome in outcomes if isinstance(outcome, RevisionConflict)]
    assert [one.current.revision for one in lost if one.current is not None] == [won.revision] * 4


async def test_a_write_that_is_always_overtaken_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    store = SQLiteStore()
    await store.open()
    cache = Cache(store)
    await cache.open()
    api = API(store, cache, Registry(), Converter(WebhookClient()))
    tried = []
    really = store.commit

    async def commit(operations: list[Operation]) -> int:
        tried.append(operations[0].expect)
        await really([Operation(KEY, StoredValue(b'{"metadata":{"resourceVersion":""}}', 33), tried[-1])])
        return await really(operations)

    async def attempt(entry: Entry | None) -> NewState | AttemptOutcome:
        return NewState(blank(a="1"))

    monkeypatch.setattr(store, "commit", commit)
    with pytest.raises(Unavailable):
        await storage.update_stored(api, CONFIG_MAPS, KEY, attempt)
    assert len(tried) == 50
    await store.close()


async def test_reads_that_wait_together_ask_once_and_never_take_an_older_answer(api: API) -> None:
    store, asked = api.store, asyncio.Queue[int]()
    current = store.read_revision
    answer = asyncio.Event()

    async def counted() -> int:
        revision = await current()
        asked.put_nowait(revision)
        await answer.wait()
        return revision

    store.read_revision = counted  # type: ignore[method-assign]
    early = asyncio.gather(*(api.cache.refresh() for _ in range(10)))
    await asked.get()
    revision = await store.commit([Operation("/g/r/a", StoredValue(b""), 0)])
    late = asyncio.gather(*(api.cache.refresh() for _ in range(10)))
    answer.set()
    await early
    await late
    assert api.cache.revision >= revision
    assert asked.qsize() == 1
