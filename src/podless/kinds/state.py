"""The present state of a server, which all its layers read."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.kinds.conversion import Converter
from podless.kinds.kind import Kind
from podless.kinds.registry import Registry
from podless.remote import WebhookClient
from podless.runtime.dataclass import dataclass
from podless.store import Record, Store


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The present objects of served kinds.

    store: where they are stored. cache: objects in memory. registry: the served kinds. converter: the server's
    converter.
    """

    store: Store
    cache: Cache
    registry: Registry
    converter: Converter

    @property
    def remote(self) -> WebhookClient:
        """The client that calls webhooks."""
        return self.converter.client

    def collection(self, kind: Kind) -> WatchCache:
        """Return the kind's objects, which may not be loaded yet."""
        return self.cache.collection(kind.keys)

    def load_collection(self, kind: Kind) -> Coroutine[Any, Any, WatchCache]:
        """Load the kind's objects as `Cache.load_collection` does, and wait until they are fresh. Raises StoreError."""
        return self.cache.load_collection(kind.keys)

    def find_written(self, kind: Kind, record: Record) -> Entry:
        """Return the entry of a write, from the cache if it is there, so that its derived forms are made once."""
        collection = self.collection(kind)
        entry = collection.get(record.key)
        if entry is not None and entry.revision == record.revision:
            return entry
        return collection.make_entry(record)

    def find_namespace(self, name: str) -> Entry | None:
        """Return a namespace without waiting; None if it does not exist or namespaces are not loaded yet."""
        kind = self._namespace_kind()
        if kind is None:
            return None
        collection = self.cache.collection(kind.keys)
        return collection.get(kind.keys.key("", name)) if collection.loaded else None

    async def load_namespace(self, name: str) -> Entry | None:
        """Return a namespace, None if it does not exist. Raises LookupError if namespaces are not served."""
        kind = self._namespace_kind()
        if kind is None:
            raise LookupError("namespaces")
        return (await self.load_collection(kind)).get(kind.key("", name))

    def _namespace_kind(self) -> Kind | None:
        return self.registry.get("", "namespaces")
