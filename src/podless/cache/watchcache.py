"""One resource in memory: all objects, the window of recent changes, and its watchers.

The state changes only through `apply_change`, which gets durable changes in order. So a read never shows a state that
is undone later, and a watcher gets every change once.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from podless.cache.entry import Entry
from podless.cache.events import CacheEvent, DeliveryQueue, EventHandler, Fanout, Follower, add_handler, call_handler
from podless.cache.index import LabelIndex
from podless.runtime.collector import pause_gc
from podless.runtime.slices import TurnPauses
from podless.store import HistoryCompacted, Record, ResourceKeys, Store, StoreChange, keys

# number of changes, and bytes of their objects, kept in memory for watches that resume and for older pages; older
# changes are read from the store
WINDOW = 4096
WINDOW_BYTES = 4 << 20
_PAGE = 1000  # objects that are read from the store together
_DECODED_PAGE = 16  # the same, if each object must be decoded


class WholeCache(Protocol):
    """The part of the whole cache that a collection uses."""

    read: Callable[[Record], Record] | None  # converts a record, None for no conversion
    replaced: int  # bytes of all replaced or deleted states
    loading: int  # number of resources being read
    lost: int  # changes up to this revision may not have been delivered
    deliveries: DeliveryQueue  # undelivered events

    async def wait_for_revision(self, revision: int) -> None:
        """Wait until a revision is shown. Raises StoreTimeout."""


class WatchCache:
    """The objects under one prefix of the store.

    floor: changes at or before this revision are not in the window. changed: no change is later than this revision.
    oldest: no object was written before this revision.
    decoding: held by the watch that decodes long objects.
    """

    def __init__(self, cache: WholeCache, store: Store, keys: ResourceKeys) -> None:
        self.keys = keys
        self.prefix = keys.prefix
        self.loaded = False
        self.floor = 0
        self.changed = 0
        self.oldest = 0
        self.decoding = asyncio.Lock()
        self._cache = cache
        self._store = store
        self._read_record = cache.read
        self._entries: dict[str, Entry] = {}
        self._keys: list[str] = []
        self._window: deque[CacheEvent] = deque()
        self._window_bytes = 0  # of the states that its events have replaced
        self._handlers: list[EventHandler] = []
        self._labels = LabelIndex()
        self._fanout = Fanout(cache.deliveries)
        self._early_changes: list[StoreChange] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._former: dict[str, Entry] | None = None  # the state before changes were lost

    def make_entry(self, record: Record) -> Entry:
        """Return the entry for a record."""
        return Entry(record if self._read_record is None else self._read_record(record))

    def count_entries(self, prefix: str) -> int:
        """Return the number of objects whose keys start with the prefix."""
        return bisect_left(self._keys, keys.prefix_end(prefix)) - bisect_left(self._keys, prefix)

    @property
    def watchers(self) -> int:
        """The number of handlers and watchers."""
        return len(self._handlers) + len(self._fanout)

    @property
    def delivered(self) -> int:
        """The number of events that were delivered to watchers."""
        return self._fanout.delivered

    async def load(self) -> None:
        """Read the current state from the store, once for all callers. Does nothing if it is loaded."""
        if self.loaded:
            return
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load_state())
            self._loading.add_done_callback(self._finish_loading)
        await asyncio.shield(self._loading)

    def _finish_loading(self, loading: asyncio.Task[None]) -> None:
        self._loading = None
        if not loading.cancelled():
            loading.exception()  # mark it as retrieved: waiting requests get it, if there are any

    async def _load_state(self) -> None:
        self._cache.loading += 1
        try:
            await self._read_state()
        finally:
            self._cache.loading -= 1

    async def _read_state(self) -> None:
        if self._early_changes is None:
            self._early_changes = []
        while True:
            entries, revision = await self._read_entries()
            await self._cache.wait_for_revision(revision)
            if revision >= self._cache.lost:  # else changes since then were lost
                break
        self._keys, self._entries, self._labels = list(entries), entries, LabelIndex()
        self.floor = self.changed = revision
        self.loaded = True
        if self._former is not None:
            former, self._former = self._former, None
            self._tell_difference(former)
        early_changes, self._early_changes = self._early_changes, None
        events = [
            event for change in early_changes if change.revision > revision and (event := self.apply_change(change))
        ]
        if events:
            self.publish_events(events)

    async def _read_entries(self) -> tuple[dict[str, Entry], int]:
        """Return the current state, read in parts to limit time and memory."""
        with self._store.hold_history():
            while True:
                revision = await self._store.read_revision()
                with suppress(HistoryCompacted):  # another server can compact meanwhile
                    return await self._read_at(revision), revision

    async def _read_at(self, revision: int) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        after, self.oldest = "", revision + 1  # of later writes
        page_size = _PAGE if self._read_record is None else _DECODED_PAGE
        pauses = TurnPauses()
        while True:
            began = time.perf_counter()
            records, after = await self._store.read_page(revision, after, page_size, self.prefix)
            with pause_gc():
                for record in records:
                    entries[record.key] = self.make_entry(record)
            self.oldest = min([self.oldest, *(record.revision for record in records)])
            if not after:
                return entries
            await pauses.wait_pause(time.perf_counter() - began)

    async def reload_state(self) -> None:
        """Read the state again after changes were lost. Raises StoreError.

        The server's own handlers get the differences. Watchers cannot get the lost events: they end, and get 410 when
        they watch again.
        """
        if not self.loaded and self._former is None:
            return
        self.loaded = False
        if self._former is None:
            self._former = self._entries
        self._window.clear()
        self._window_bytes = 0
        self._fanout.end_followers()
        await self.load()

    def _tell_difference(self, former: dict[str, Entry]) -> None:
        present, events = self._entries, []
        for key, before in former.items():
            if key not in present:
                events.append(CacheEvent(key, self.changed, before, None))
        for key, after in present.items():
            previous = former.get(key)
            if previous is None or previous.revision != after.revision:
                events.append(CacheEvent(key, after.revision, previous, after))
        events.sort(key=lambda event: event.revision)
        for handler in list(self._handlers):
            call_handler(handler, events)

    def apply_change(self, change: StoreChange) -> CacheEvent | None:
        """Apply one durable change. Returns the event, or None if this collection is not loaded."""
        if not self.loaded:
            if self._early_changes is not None:  # during the initial read, changes are queued and applied after it
                self._early_changes.append(change)
            return None
        key, revision, record, _ = change
        entries = self._entries
        before = entries.get(key)
        after = None
        if record is not None:
            after = entries[key] = Entry(record if self._read_record is None else self._read_record(record))
            if before is None:
                insort(self._keys, key)
        elif before is not None:
            del entries[key]
            del self._keys[bisect_left(self._keys, key)]
        if self._labels.in_use:
            self._labels.update_entry(before, after)
        event = CacheEvent(key, revision, before, after)
        self.changed = revision
        window = self._window
        window.append(event)
        if before is not None:
            size = len(before.body)
            self._window_bytes += size
            self._cache.replaced += size
        while len(window) > WINDOW or self._window_bytes > WINDOW_BYTES:
            oldest = window.popleft()
            self.floor = oldest.revision
            if oldest.before is not None:
                self._window_bytes -= len(oldest.before.body)
        return event

    def publish_events(self, events: Sequence[CacheEvent]) -> None:
        """Call every handler with a batch of events now, and queue it for the watchers."""
        if self._handlers:
            for handler in list(self._handlers):
                call_handler(handler, events)
        self._fanout.queue_events(events)

    def add_event_handler(self, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` with every batch as it arrives. Returns a function that removes it."""
        return add_handler(self._handlers, handler)

    def add_watcher(self, watcher: EventHandler) -> Follower:
        """Call `watcher` with all events soon after they arrive, until it leaves.

        Earlier events can be among them; the caller compares their revision with `changed`.
        """
        return self._fanout.add_follower(watcher)

    def end_watchers(self) -> None:
        """End all handlers and watchers with an empty batch, because the resource was deleted."""
        for handler in self._handlers:
            call_handler(handler, ())
        self._handlers.clear()
        self._fanout.end_followers()

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, key: str) -> Entry | None:
        """Return the object's current state."""
        return self._entries.get(key)

    def entries_under(self, prefix: str, start: str = "", limit: int = 0) -> tuple[list[Entry], int]:
        """Return entries whose keys start with `prefix`, in key order, from the key `start` on.

        limit: the maximum number, 0 for all. Also returns the number of further entries.
        """
        low = bisect_left(self._keys, max(prefix, start))
        high = bisect_left(self._keys, keys.prefix_end(prefix))
        end = min(low + limit, high) if limit else high
        return list(map(self._entries.__getitem__, self._keys[low:end])), max(high - end, 0)

    def list_entries(self, namespace: str = "") -> list[Entry]:
        """Return all entries, or those of a namespace, in key order."""
        return self.entries_under(self.keys.scope(namespace))[0]

    def index_label(self, name: str) -> None:
        """Index a label for `entries_labelled`. The state can change meanwhile, because this can run in slices."""
        self._labels.index_label(name, self._entries.values())

    def is_indexed(self, name: str) -> bool:
        """Return whether a label is indexed."""
        return self._labels.is_indexed(name)

    def entries_labelled(self, prefix: str, name: str, values: Iterable[str], start: str = "") -> list[Entry] | None:
        """Return the entries under a prefix whose label has one of the values; None if the label is not indexed."""
        keys = self._labels.find_keys(name, values)
        if keys is None:
            return None
        return [self._entries[key] for key in keys if key >= start and key.startswith(prefix)]

    def is_loaded_at(self, revision: int) -> bool:
        """Return whether the loaded state is also that of `revision`."""
        return self.loaded and revision >= self.changed

    async def read_entries_at(self, prefix: str, revision: int) -> list[Entry]:
        """Return the entries under `prefix` at `revision`, in key order. Raises HistoryCompacted.

        The collection need not be loaded.
        """
        if self.is_loaded_at(revision):
            return self.entries_under(prefix)[0]
        if not self.loaded or revision < self.floor:
            records = await self._store.read_range_at(prefix, revision)
            return [self.make_entry(record) for record in records]
        earlier: dict[str, Entry | None] = {}
        for event in reversed(self._window):
            if event.revision <= revision:
                break
            if event.key.startswith(prefix):
                earlier[event.key] = event.before
        state = {entry.key: entry for entry in self.entries_under(prefix)[0]}
        for key, before in earlier.items():
            if before is None:
                state.pop(key, None)
            else:
                state[key] = before
        return [state[key] for key in sorted(state)]

    async def page_at(self, prefix: str, revision: int, after: str, limit: int) -> tuple[list[Entry], bool]:
        """Return entries at a revision, in key order, after the key `after` ("": from the start).

        limit: the maximum number; no more are read. Also returns whether there can be more. Raises HistoryCompacted.
        """
        entries: list[Entry] = []
        while True:
            records, after = await self._store.read_page(revision, after, limit - len(entries), prefix)
            entries += map(self.make_entry, records)
            if not after or len(entries) >= limit:
                return entries[:limit], bool(after) or len(entries) > limit

    async def changes_since(self, revision: int, first: int) -> list[CacheEvent]:
        """Return the changes after `revision`, oldest first.

        first: the revision before which this resource did not exist. Raises HistoryCompacted.
        """
        if revision < first:
            raise HistoryCompacted(first)
        if revision >= self.floor:
            return [*_events_after(self._window, revision)][::-1]
        events = []
        for change in await self._store.read_changes(self.prefix, revision):
            before = self.make_entry(change.before) if change.before is not None else None
            after = self.make_entry(change.record) if change.record is not None else None
            events.append(CacheEvent(change.key, change.revision, before, after))
        return events


def _events_after(window: deque[CacheEvent], revision: int) -> Iterator[CacheEvent]:
    for event in reversed(window):
        if event.revision <= revision:
            return
        yield event
