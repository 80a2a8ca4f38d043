"""watch: sends changes of the objects of a list, from now or from a revision."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from podless.cache.entry import Entry
from podless.cache.events import Batch, CacheEvent, Follower
from podless.cache.watchcache import WatchCache
from podless.codec import gotext
from podless.kinds import conversion, view
from podless.meta.errors import APIError, Expired, Internal
from podless.store import HistoryCompacted
from podless.verbs.call import API, Call
from podless.verbs.list import Match, make_selector, needs_decoding
from podless.verbs.options import ListOptions, make_revision_error

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class WatcherEvent(NamedTuple):
    """One event as a watcher sees it. event: its source, None in the initial state."""

    type: str
    entry: Entry
    event: CacheEvent | None = None


class WatcherEvents(list[WatcherEvent]):
    """The events of a batch, shared by all watchers with the same scope and selectors. frames: encoded events, by form.

    options: those of the first watcher. They keep its selectors alive, because the view is found by their id().
    """

    __slots__ = ("frames", "options")

    def __init__(self, events: Iterable[WatcherEvent], options: ListOptions) -> None:
        super().__init__(events)
        self.frames: dict[Any, bytes] = {}
        self.options = options


Receive = Callable[[Sequence[WatcherEvent]], object]

# events that wait for a conversion webhook; a watch with more of them ends, as it does if a client does not read
_MAX_WAITING = 4096
_WAITING_BYTES = 8 << 20  # bytes of the objects of these events
_SLICED_EVENTS = 1 << 14  # bytes of objects of a batch; longer ones are decoded in slices
_PIECE_ITEMS = 256  # objects in a piece of the initial state
_PIECE_BYTES = 1 << 18  # bytes of objects that a selector examines for one piece
_VIEWS = 64  # views with selectors that one batch caches
_END_DELAY = 1.0  # seconds that a watch continues after its kind has changed; a real server takes about as long


class Watch:
    """One watch. Call `prepare_initial`, then `start`; `stop` ends it.

    decodes: objects must be decoded, in slices if they are long. initial: pieces of the initial state, made on demand.
    bookmark_after: send a bookmark at the end of the initial state. begun: the client has, or gets with `initial`, all
    changes up to this revision.
    """

    def __init__(self, api: API, call: Call, options: ListOptions, collection: WatchCache) -> None:
        self.call = call
        self.options = options
        self.initial: Iterator[Sequence[WatcherEvent]] = iter(())
        self.bookmark_after = False
        self.decodes = needs_decoding(options)
        self.begun = 0
        self._api = api
        self._collection = collection
        self._match = make_selector(call, options, keep=True)
        self._delivered = 0  # revision of the last delivered batch
        self._pending: list[CacheEvent] | None = []
        self._receive: Receive | None = None
        self._follower: Follower | None = None
        self._removed = False  # the resource was removed before `start`
        self._ended: Callable[[], None] | None = None
        self._failed: Callable[[APIError], None] | None = None
        # batches that are delivered after the conversion of earlier ones; an empty batch ends the watch
        self._waiting: deque[Sequence[CacheEvent]] = deque()
        self._work: asyncio.Task[None] | None = None
        self._turn = api.pace.get_lock(call.user.name)
        self._kind = call.kind  # the kind at the start of the watch
        self._scope = call.scope
        self._view: Any = self._make_view_key()
        self._generation = -1  # the registry's generation at the last lookup of the kind
        self._unheard: Callable[[], None] | None = None
        self._expiry: asyncio.TimerHandle | None = None

    @property
    def revision(self) -> int:
        """The revision of a bookmark now: all earlier events have been delivered."""
        if self._pending is not None:
            return self.begun
        if self._follower is not None:
            self._follower.catch_up()
        if self._waiting and self._waiting[0]:
            return max(self.begun, self._delivered)
        return self._api.cache.revision

    async def prepare_initial(self) -> None:
        """Find the initial events. Raises Internal for an invalid revision, Expired for a compacted one."""
        revision = self._parse_revision()
        self._follower = self._collection.add_watcher(self._take_events)
        self.begun = self._api.cache.revision
        options = self.options
        if options.initial is not False and (options.initial or not revision):
            entries = self._collection.entries_under(self._scope)[0]
            await self._convert_entries(entries)
            self.initial = self._select_entries(entries, make_selector(self.call, options))
            self.bookmark_after = bool(options.initial) and options.bookmarks
            return
        if not revision:
            return
        try:
            events = await self._collection.changes_since(revision, self.call.kind.created)
        except HistoryCompacted as error:
            self.stop()
            raise Expired(f"too old resource version: {revision} ({error.revision})") from None
        # _pending has the events that arrived while the history was read
        events = [event for event in events if event.revision <= self.begun]
        await self._convert_entries(self._list_involved(events))
        self.initial = (
            self._select_events(events[start : start + _PIECE_ITEMS]) for start in range(0, len(events), _PIECE_ITEMS)
        )

    def _select_entries(self, entries: Sequence[Entry], match: Match | None) -> Iterator[Sequence[WatcherEvent]]:
        """Yield the selected objects of a state as ADDED, in bounded pieces."""
        if match is None:
            for start in range(0, len(entries), _PIECE_ITEMS):
                yield [WatcherEvent(ADDED, entry) for entry in entries[start : start + _PIECE_ITEMS]]
            return
        events: list[WatcherEvent] = []
        size = 0
        for count, entry in enumerate(entries, 1):
            if match(entry):
                events.append(WatcherEvent(ADDED, entry))
            size += len(entry.body)
            if size > _PIECE_BYTES or not count % _PIECE_ITEMS:
                yield events
                events, size = [], 0
        yield events

    def _parse_revision(self) -> int:
        revision = self.options.revision
        try:
            return gotext.parse_uint(revision) if revision else 0
        except ValueError as error:
            raise Internal(make_revision_error(revision, error)) from None

    def start(self, receive: Receive, ended: Callable[[], None], failed: Callable[[APIError], None]) -> None:
        """Deliver every batch of events to `receive` from now on.

        `ended` is called when the resource is removed, `failed` if objects cannot be converted.
        """
        self._receive, self._ended, self._failed = receive, ended, failed
        if self._kind.custom:
            self._unheard = self._api.registry.add_listener(self._end_if_changed)
            self._end_if_changed()
        missed, self._pending = self._pending or [], None
        if missed:
            self._take_events(missed)
        if self._removed:
            self._take_events(())

    def _end_if_changed(self) -> None:
        """End the watch soon if its kind has changed, so that the client lists and watches again."""
        kind = self._api.registry.get(self._kind.group, self._kind.plural)
        if kind is not None and kind is not self._kind and self._expiry is None:
            self._expiry = asyncio.get_running_loop().call_later(_END_DELAY, self._end_watch)

    def _end_watch(self) -> None:
        if self._ended is not None:
            self._ended()

    def stop(self) -> None:
        """Deliver no more events."""
        if self._unheard is not None:
            self._unheard()
            self._unheard = None
        if self._expiry is not None:
            self._expiry.cancel()
        if self._follower is not None:
            self._follower.stop_deliveries()
            self._follower = None
        self._receive = self._ended = self._failed = None
        self._waiting.clear()
        if self._work is not None and self._work is not asyncio.current_task():
            self._work.cancel()

    def _take_events(self, events: Sequence[CacheEvent]) -> None:
        if self._pending is not None:
            self._pending.extend(events)
            self._removed = self._removed or not events
            return
        if events and events[0].revision <= self.begun:
            events = [event for event in events if event.revision > self.begun]
            if not events:
                return
        if self._generation != self._api.registry.generation:
            self._refresh_kind()
        call = self.call
        unready = call.kind.webhook is not None and conversion.needs_webhook(
            call.kind, call.version, self._list_involved(events)
        )
        if (
            self._work is None
            and not unready
            and (self._try_unsliced(events) if self.decodes else self._deliver_events(events))
        ):
            return
        self._waiting.append(events)
        if len(self._waiting) > 1 and self._is_behind():
            self._end_watch()
        elif self._work is None:
            self._work = asyncio.get_running_loop().create_task(self._deliver_waiting())
            deliveries = self._api.cache.deliveries
            deliveries.pending += 1
            self._work.add_done_callback(lambda task: deliveries.end_one())

    def _refresh_kind(self) -> None:
        call, registry = self.call, self._api.registry
        if self._generation == registry.generation:
            return
        self._generation = registry.generation
        route = registry.find_route(call.kind.group, call.version.name, call.kind.plural)
        if route is not None:
            call.kind, call.version = route
            self._scope = call.scope
            self._view = self._make_view_key()
        if call.version.name != call.kind.storage_version or not call.kind.reads_as_stored:
            self.decodes = True

    def _is_behind(self) -> bool:
        return sum(map(len, self._waiting)) > _MAX_WAITING or sum(map(_sum_sizes, self._waiting)) > _WAITING_BYTES

    async def _deliver_waiting(self) -> None:
        try:
            while self._waiting:
                events = self._waiting[0]
                self._refresh_kind()
                await self._convert_entries(self._list_involved(events))
                # one watch of a user at a time, because a decoded object takes 20 times its bytes; one of a collection,
                # because the next one reuses the decoded objects
                async with self._turn, self._collection.decoding:
                    if self._waiting:  # `stop` clears it
                        await self._api.off_loop.slices.run(self._deliver_events, events)
                if self._waiting:
                    self._waiting.popleft()
        except APIError as error:
            if self._failed is not None:
                self._failed(error)
        finally:
            self._work = None

    async def _convert_entries(self, entries: Sequence[Entry]) -> None:
        await self._api.converter.prepare_entries(self.call.kind, self.call.version, entries)

    def _list_involved(self, events: Sequence[CacheEvent]) -> list[Entry]:
        """Return the entries to convert to the version of the watch."""
        if self.call.kind.webhook is None:
            return []
        scope, with_selector = self._scope, self._match is not None
        involved: list[Entry] = []
        for event in events:
            if event.key.startswith(scope):
                if event.before is not None and (with_selector or event.after is None):
                    involved.append(event.before)
                if event.after is not None:
                    involved.append(event.after)
        return involved

    def _try_unsliced(self, events: Sequence[CacheEvent]) -> bool:
        """Deliver events whose objects must be decoded. Returns False if that takes longer than a slice."""
        small = _sum_sizes(events) <= _SLICED_EVENTS
        return small and self._api.off_loop.slices.try_work(self._deliver_events, events) is not None

    def _deliver_events(self, events: Sequence[CacheEvent]) -> bool:
        if not events:  # the resource was removed
            self._end_watch()
            return True
        is_shared = isinstance(events, Batch) and self.call.kind.webhook is None
        seen = self._share_view(events) if is_shared else self._select_events(events)  # type: ignore[arg-type]
        if seen and self._receive is not None:
            self._receive(seen)
        self._delivered = events[-1].revision
        return True

    def _make_view_key(self) -> Any:
        """Return the key of the watch's view. Equal selectors are mostly one object, so ids are compared."""
        if self._match is None:
            return self._scope
        call, options = self.call, self.options
        return self._scope, call.version.name, call.kind.changed, id(options.labels), id(options.fields)

    def _share_view(self, batch: Batch) -> Sequence[WatcherEvent]:
        """Return the view of a batch, cached for all watchers with the same view."""
        seen: WatcherEvents | None = batch.views.get(self._view)
        if seen is not None:
            return seen
        if len(batch.views) > _VIEWS and self._match is not None:
            return self._select_events(batch)
        seen = batch.views[self._view] = WatcherEvents(self._select_events(batch), self.options)
        return seen

    def _select_events(self, events: Sequence[CacheEvent]) -> list[WatcherEvent]:
        """Return the events of this watch: ADDED if an object enters its selection, DELETED if it leaves."""
        scope, match = self._scope, self._match
        seen = []
        for event in events:
            if not event.key.startswith(scope):
                continue
            before, after = event.before, event.after
            matched_before = before is not None and (match is None or match(before))
            matches = after is not None and (match is None or match(after))
            if matches and after is not None:
                seen.append(WatcherEvent(MODIFIED if matched_before else ADDED, after, event))
            elif matched_before and before is not None:
                last = event.leave_selection(before)
                if self.call.kind.webhook is not None:
                    view.carry_bodies(self.call.kind, self.call.version, before, last)
                seen.append(WatcherEvent(DELETED, last, event))
        return seen


def _sum_sizes(events: Sequence[CacheEvent]) -> int:
    if isinstance(events, Batch):
        return events.size
    return sum(len(after.body) for event in events if (after := event.after or event.before) is not None)
