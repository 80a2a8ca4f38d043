"""The present state, as admission, verbs and controllers read it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from podless.apis.core.group import CONFIG_MAPS, NAMESPACES
from podless.cache.cache import Cache
from podless.kinds.conversion import Converter
from podless.kinds.registry import Registry
from podless.kinds.state import State
from podless.remote import WebhookClient
from podless.store import Operation, Record, StoredValue
from tests.store.late import LateStore

BLANK = StoredValue(b'{"metadata":{"resourceVersion":""}}', 31)


@pytest.fixture
async def state() -> AsyncIterator[State]:
    """Of a store that tells of its changes late."""
    store = LateStore()
    await store.open()
    cache = Cache(store)
    await cache.open()
    yield State(store, cache, Registry(), Converter(WebhookClient()))
    await store.close()


async def test_objects_are_fresh_once_they_are_loaded(state: State) -> None:
    await state.load_collection(CONFIG_MAPS)
    for name in "abcdefgh":
        key = CONFIG_MAPS.key("ns", name)
        revision = await state.store.commit([Operation(key, BLANK, 0)])
        entry = (await state.load_collection(CONFIG_MAPS)).get(key)
        assert entry is not None
        assert entry.revision == revision


async def test_a_namespace_is_known_once_namespaces_are_loaded(state: State) -> None:
    with pytest.raises(LookupError):
        await state.load_namespace("a")
    assert state.find_namespace("a") is None
    state.registry.put_kind(NAMESPACES)
    await state.store.commit([Operation(NAMESPACES.key("", "a"), BLANK, 0)])
    assert state.find_namespace("a") is None
    entry = await state.load_namespace("a")
    assert entry is not None
    assert state.find_namespace("a") is entry
    assert await state.load_namespace("b") is None


async def test_what_was_written_is_the_cached_state(state: State) -> None:
    key = CONFIG_MAPS.key("ns", "a")
    revision = await state.store.commit([Operation(key, BLANK, 0)])
    record = Record(key, BLANK, revision, revision)
    assert state.find_written(CONFIG_MAPS, record).revision == revision
    cached = (await state.load_collection(CONFIG_MAPS)).get(key)
    assert state.find_written(CONFIG_MAPS, record) is cached
