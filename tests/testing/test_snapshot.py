"""Going back to a state, on an engine that answers late and that others write to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from podless.apis.core.group import CONFIG_MAPS
from podless.app import App
from podless.cache.cache import Cache
from podless.kinds.conversion import Converter
from podless.kinds.registry import Registry
from podless.meta.errors import Unavailable
from podless.remote import WebhookClient
from podless.store import Operation, StoredValue
from podless.testing import snapshot
from podless.verbs import storage
from podless.verbs.call import API
from tests.store.late import LateStore

KEY = CONFIG_MAPS.key("ns", "a")


@pytest.fixture
async def api() -> AsyncIterator[API]:
    store = LateStore()
    await store.open()
    cache = Cache(store)
    await cache.open()
    yield API(store, cache, Registry(), Converter(WebhookClient()))
    await store.close()


def app(api: API) -> App:
    return cast(App, SimpleNamespace(cluster=SimpleNamespace(store=api.store, api=api)))


def stored(value: str) -> StoredValue:
    data = b'{"metadata":{"name":"a","namespace":"ns","resourceVersion":""},"data":{"a":"%s"}}' % value.encode()
    return StoredValue(data, data.index(b'""}') + 1)


async def overwritten(api: API, value: str) -> None:
    """Write the object as another server does."""
    (record,) = (await api.store.read_range(KEY))[0]
    await api.store.commit([Operation(KEY, stored(value), record.revision)])


async def test_what_is_gone_back_to_is_shown_when_that_is_done(api: API) -> None:
    await storage.put_object(api, CONFIG_MAPS, KEY, stored("1"))
    collection = await api.load_collection(CONFIG_MAPS)
    before = await snapshot.take_snapshot(app(api))
    for value in "23456":
        await overwritten(api, value)
        await snapshot.restore_state(app(api), before)
        entry = collection.get(KEY)
        assert entry is not None
        assert entry.decode()["data"] == {"a": "1"}


async def test_where_others_write_all_the_time_that_is_said(api: API, monkeypatch: pytest.MonkeyPatch) -> None:
    await storage.put_object(api, CONFIG_MAPS, KEY, stored("1"))
    before, commit = await snapshot.take_snapshot(app(api)), api.store.commit

    async def overtaken(operations: Sequence[Operation]) -> int:
        await commit([Operation(operation.key, stored("2"), operation.expect) for operation in operations])
        return await commit(operations)

    await overwritten(api, "3")
    monkeypatch.setattr(api.store, "commit", overtaken)
    with pytest.raises(Unavailable):
        await snapshot.restore_state(app(api), before)
