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
        """Return all compiled objects."""
        if self._revision != self.collection.changed:
            self._compile_changed()
        return self._items

    def _compile_changed(self) -> None:
        known, self._compiled = self._compiled, {}
        for entry in self.collection.entries_under(self._prefix)[0]:
            made = known.get(entry.key)
            if made is None or made[0] != entry.revision:
                made = entry.revision, self._make(entry.decode())
            self._compiled[entry.key] = made
        self._items = [made for _, made in self._compiled.values()]
        self._revision = self.collection.changed
