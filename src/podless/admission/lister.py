"""The current configurations of one kind, each compiled once for each revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from podless.cache.cache import Cache
from podless.cache.watchcache import WatchCache
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object

T = TypeVar("T")


class ConfigurationLister(Generic[T]):
    """All objects of one kind of configuration, sorted by name.

    make: compiles one object; it must be cheap. collection: the objects, with the revision of their last change.
    """

    def __init__(self, cache: Cache, kind: Kind, make: Callable[[Object], T]) -> None:
        self.collection: WatchCache = cache.collection(kind.keys)
        self._prefix = kind.prefix
        self._make = make
        self._compiled: dict[str, tuple[int, T]] = {}
        self._items: list[T] = []
        self._revision = -1

    async def load(self) -> None:
        """Load the objects. Later changes take effect immediately."""
        await self.collection.load()

    def list_items(self) -> list[T]:
        """Return the compiled objects, in key order."""
        while self._revision != self.collection.changed:
            self._compile_changed()
        return self._items

    def _compile_changed(self) -> None:
        """Compile the objects that have changed.

        Decoding can be suspended. Another request can then compile a later state, which must not be replaced.
        """
        revision, compiled = self.collection.changed, dict[str, tuple[int, T]]()
        for entry in self.collection.entries_under(self._prefix)[0]:
            item = self._compiled.get(entry.key)
            if item is None or item[0] != entry.revision:
                item = entry.revision, self._make(entry.decode())
            compiled[entry.key] = item
        if revision == self.collection.changed or revision > self._revision:
            self._compiled, self._revision = compiled, revision
            self._items = [item for _, item in compiled.values()]
