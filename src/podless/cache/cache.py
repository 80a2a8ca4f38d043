"""All collections of a store in memory, updated by one watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from podless.cache import newestrevision
from podless.cache.events import CacheEvent, ChangeHandler, DeliveryQueue, add_handler, log_failure
from podless.cache.watchcache import WatchCache
from podless.store import Record, ResourceKeys, Store, StoreChange, StoreError, StoreTimeout, keys

_PATIENCE = 10.0  # seconds to wait until a known revision is shown here
_RETRY_DELAY = 0.2  # seconds before a failed read is retried


class Cache:
    """All collections of a store, created at first use and updated by one watch.

    Call `open` first. read: converts each record, None for no conversion. revision: the newest that is shown here,
    which lists return as resourceVersion. replaced: total bytes of replaced or deleted states. loading: the number of
    resources that are being read.
    """

    def __init__(self, store: Store, read: Callable[[Record], Record] | None = None) -> None:
        self.read = read
        self.revision = 0
        self.replaced = self.loading = 0
        self.lost = 0  # changes up to this revision may not have been delivered
        self.deliveries = DeliveryQueue()
        self._store = store
        self._collections: dict[str, WatchCache] = {}
        self._handlers: list[ChangeHandler] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._question = newestrevision.RevisionReader(
            lambda: store.read_revision(), lambda: self.revision, self.wait_for_revision
        )
        self._renewal: asyncio.Task[None] | None = None
        self._lost_changes = False  # changes were lost since the last complete read

    @property
    def is_fresh(self) -> bool:
        """Whether this cache shows every state that a client can have seen; otherwise call `refresh` before a read."""
        return self._renewal is None and self._store.has_newest(self.revision)

    async def open(self) -> None:
        """Follow the store from now on."""
        self.revision = await self._store.read_revision()
        self._store.watch(keys.ALL, self.revision, self._take_changes, self._reload_after)
        if self._store.changelog is not None:
            self._store.changelog.use_states(self._read_state)

    def _read_state(self, key: str, revision: int) -> Record | None:
        """Return the state of a key, if this cache shows it at that revision."""
        collection = self._collections.get(keys.prefix_of(key))
        entry = collection.get(key) if collection is not None else None
        if entry is None or entry.revision != revision:
            return None
        return Record(key, entry.stored, revision, entry.created)

    def _reload_after(self, revision: int) -> None:
        """Read everything again, because changes up to a revision will not be delivered."""
        self._lost_changes = True
        self.lost = revision
        if self._renewal is None:
            self._renewal = asyncio.get_running_loop().create_task(self._reload_collections())
        self._take_changes((), revision)

    async def _reload_collections(self) -> None:
        while self._lost_changes:  # again if more changes were lost meanwhile
            self._lost_changes = False
            remaining = list(self._collections.values())
            while remaining and not self._lost_changes:
                try:
                    await remaining[-1].reload_state()
                    remaining.pop()
                except StoreError:
                    await asyncio.sleep(_RETRY_DELAY)
        self._renewal = None

    def collection(self, keys: ResourceKeys) -> WatchCache:
        """Return the collection of a resource; it may not be loaded yet."""
        result = self._collections.get(keys.prefix)
        if result is None:
            result = self._collections[keys.prefix] = WatchCache(self, self._store, keys)
        return result

    async def load_collection(self, keys: ResourceKeys) -> WatchCache:
        """Return the collection of a resource, loaded and fresh. Raises StoreError.

        It shows every change that a client can have seen before this call (within a request: before the request).
        """
        collection = self.collection(keys)
        if not collection.loaded:
            await collection.load()
        if not self.is_fresh:
            await self.refresh_once()
        return collection

    def find_collection(self, prefix: str) -> WatchCache | None:
        """Return the collection of a prefix, None if `collection` was never called for it."""
        return self._collections.get(prefix)

    def drop_collection(self, prefix: str) -> None:
        """Remove the collection of a deleted resource, and end its watches."""
        collection = self._collections.pop(prefix, None)
        if collection is not None:
            collection.end_watchers()

    def add_change_handler(self, handler: ChangeHandler) -> Callable[[], None]:
        """Call `handler` with all changes of the store as they arrive. Returns a function that removes it."""
        return add_handler(self._handlers, handler)

    async def refresh(self) -> None:
        """Wait until the cache shows every state that a client can have seen before this call. Raises StoreError."""
        if not self.is_fresh:
            await self._question.wait_until_current()
            if self._renewal is not None:
                await asyncio.shield(self._renewal)

    def call_when_current(self, go: newestrevision.Go) -> None:
        """Call `go` when `refresh` would return. Does not wait while the state is read again (`is_reloading`)."""
        self._question.call_when_current(go)

    @property
    def is_reloading(self) -> bool:
        """Whether the state is being read again, because changes were lost."""
        return self._renewal is not None

    async def refresh_once(self) -> None:
        if not self.is_fresh and (self._renewal is not None or not newestrevision.has_waited()):
            await self.refresh()

    async def wait_for_revision(self, revision: int) -> None:
        """Wait until a revision is shown here. Raises StoreTimeout."""
        if self.revision < revision:
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            self._waiting.append((revision, future))
            timeout = loop.call_later(_PATIENCE, _fail_overdue, future)
            try:
                await future
            finally:
                timeout.cancel()

    def _take_changes(self, changes: Sequence[StoreChange], revision: int) -> None:
        batches: dict[WatchCache, list[CacheEvent]] = {}
        collections = self._collections
        collection: WatchCache | None = None
        for change in changes:
            if collection is None or not change[0].startswith(collection.prefix):  # most are of the same as the last
                collection = collections.get(keys.prefix_of(change[0]))
            if collection is not None and (event := collection.apply_change(change)) is not None:
                if collection in batches:
                    batches[collection].append(event)
                else:
                    batches[collection] = [event]
        self.revision = revision
        for collection, events in batches.items():
            collection.publish_events(events)
        for handler in self._handlers:
            try:
                handler(changes)
            except Exception as error:
                log_failure(error)
        if self._waiting:
            self._wake_waiting()

    def _wake_waiting(self) -> None:
        """Wake callers that wait for a revision that is shown now."""
        waiting, self._waiting = self._waiting, []
        for revision, future in waiting:
            if revision > self.revision:
                self._waiting.append((revision, future))
            elif not future.done():
                future.set_result(None)


def _fail_overdue(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_exception(StoreTimeout())
