"""What steps read: the objects of served kinds, as they are now."""

from __future__ import annotations

from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.kinds.conversion import Converter
from podless.kinds.kind import Kind
from podless.kinds.registry import Registry


class State:
    """The present state of the server."""

    def __init__(self, cache: Cache, registry: Registry, converter: Converter) -> None:
        self.cache = cache
        self.converter = converter
        self.registry = registry

    async def loaded(self, kind: Kind) -> WatchCache:
        """The kind's objects."""
        collection = self.cache.collection(kind.keys)
        if not collection.loaded:
            await collection.load()
        return collection

    def known_namespace(self, name: str) -> Entry | None:
        """A namespace, or None where there is none, or where it is not known at once."""
        kind = self.registry.get("", "namespaces")
        if kind is None:
            return None
        collection = self.cache.collection(kind.keys)
        return collection.get(kind.key("", name)) if collection.loaded else None

    async def namespace(self, name: str) -> Entry | None:
        """A namespace, or None where there is none. Raises LookupError where namespaces are not served."""
        kind = self.registry.get("", "namespaces")
        if kind is None:
            raise LookupError("namespaces")
        return (await self.loaded(kind)).get(kind.key("", name))
