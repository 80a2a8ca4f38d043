"""Events of a resource, and their delivery to the server's own handlers and to watchers.

A handler is called with one batch at a time. A handler that fails does not affect others. Watchers get events soon
after they arrive, in a few milliseconds of each turn of the event loop. A batch is delivered to one watcher after the
other, then the next batch, so each watcher gets all changes once and in order. A watcher that must be up to date calls
`catch_up`.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter as _clock
from typing import Any, TypeVar

from podless.cache.entry import Entry
from podless.runtime.traces import trace_error
from podless.store import StoreChange

log = logging.getLogger("podless")

T = TypeVar("T")

_TURN = 0.002  # seconds in one turn of the loop
# a longer queue gets longer turns, so that writers cannot outrun watchers: seconds per byte, and the maximum
_HURRY = 0.048 / (16 << 20)
_MAX_TURN = 0.05
# the pause between deliveries: seconds per watcher, or this many times the last delivery if that is longer, and the
# maximum. The time of a delivery varies, so the number of watchers sets a lower limit
_PAUSE_PER_WATCHER = 0.00025
_PAUSE_FACTOR = 5.0
_MAX_PAUSE = 0.05
_TOGETHER = 1 << 18  # approximate bytes of a batch, which TLS encrypts for a watcher in one go
_MAX_QUEUED = 64 << 20  # bytes in the queue; beyond them, watchers that lack the first batch are ended
_NO_BATCH = -1
_EVENT = 512  # bytes of an event besides its object


class CacheEvent:
    """One change as watchers see it. after is None for a delete, before is None for a create.

    frames: the event as bytes for each requested form, made once and shared by all watchers. rows: its rows in tables,
    without columns that depend on the time.
    """

    __slots__ = ("_last", "after", "before", "frames", "key", "revision", "rows")

    def __init__(self, key: str, revision: int, before: Entry | None, after: Entry | None) -> None:
        self.key = key
        self.revision = revision
        self.before = before
        self.after = after
        self.frames: dict[Any, bytes] = {}
        self.rows: dict[Any, Any] = {}
        self._last: Entry | None = None

    def leave_selection(self, before: Entry) -> Entry:
        """Return the event for an object that leaves a watcher's selection: the state before, with this revision."""
        if self._last is None:
            self._last = before.at_revision(self.revision)
        return self._last


class Batch(list[CacheEvent]):
    """Events that are delivered together. size: approximate bytes of their objects.

    views: results that several watchers share, computed by the first of them.
    """

    __slots__ = ("size", "views")

    def __init__(self) -> None:
        super().__init__()
        self.size = 0
        self.views: dict[Any, Any] = {}


EventHandler = Callable[[Sequence[CacheEvent]], None]
ChangeHandler = Callable[[Sequence[StoreChange]], None]


def call_handler(handler: Callable[[Sequence[T]], None], events: Sequence[T]) -> None:
    """Call a handler, and log its exception."""
    try:
        handler(events)
    except Exception as error:
        log_failure(error)


def log_failure(error: Exception) -> None:
    """Log the exception of a handler."""
    log.error("cache: an event handler failed: %s", trace_error(error))


def add_handler(handlers: list[T], handler: T) -> Callable[[], None]:
    """Add a handler to a list. Returns a function that removes it."""
    handlers.append(handler)

    def remove_handler() -> None:
        if handler in handlers:
            handlers.remove(handler)

    return remove_handler


class DeliveryQueue:
    """The collections with undelivered batches, which take turns in each turn of the loop.

    pending: the number of collections and watches that still have events to deliver.
    """

    __slots__ = ("_due", "_ready", "pending")

    def __init__(self) -> None:
        self.pending = 0
        self._ready: deque[Fanout] = deque()
        self._due = False

    def schedule_turn(self, fanout: Fanout) -> None:
        """Continue with a collection in a later turn of the loop."""
        self._ready.append(fanout)
        self._call_soon()

    def end_one(self) -> None:
        """Note that one of the pending ones has delivered its events."""
        self.pending -= 1

    def _call_soon(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._run_turn)

    def _run_turn(self) -> None:
        self._due = False
        ready = self._ready
        until = _clock() + _TURN
        while ready:
            fanout = ready.popleft()
            if fanout.deliver_until(until):
                ready.append(fanout)
            if ready and _clock() > until:
                self._call_soon()
                return


class Follower:
    """One watcher. next: the number of the next batch for it, _NO_BATCH after it has left."""

    __slots__ = ("_fanout", "handler", "next")

    def __init__(self, fanout: Fanout, handler: EventHandler, following: int) -> None:
        self._fanout = fanout
        self.handler = handler
        self.next = following

    def catch_up(self) -> None:
        """Deliver all pending batches to this watcher now."""
        self._fanout.catch_up(self)

    def stop_deliveries(self) -> None:
        """End deliveries to this watcher."""
        self._fanout.remove_follower(self)


class Fanout:
    """The watchers of a collection, and its undelivered batches.

    delivered: the number of delivered events.
    """

    __slots__ = (
        "_batches", "_deliveries", "_followers", "_number", "_open", "_rested", "_round", "_size", "_spent",
        "_under_way", "delivered",
    )  # fmt: skip

    def __init__(self, deliveries: DeliveryQueue) -> None:
        self.delivered = 0
        self._deliveries = deliveries
        self._followers: dict[Follower, None] = {}
        self._batches: deque[Batch] = deque()
        self._number = 0  # number of the first batch
        self._open: Batch | None = None  # the last batch, while events can be added to it
        self._size = 0  # bytes of all batches
        self._round: Iterator[Follower] | None = None  # watchers that may lack the first batch
        self._under_way = False
        self._spent = 0.0  # seconds that this delivery took
        self._rested = -math.inf  # loop time of the next allowed delivery

    def __len__(self) -> int:
        return len(self._followers)

    def add_follower(self, handler: EventHandler) -> Follower:
        """Call `handler` with events from now on; a few earlier ones can be included.

        An empty batch marks the end.
        """
        following = self._number + len(self._batches) - (self._open is not None)
        follower = Follower(self, handler, following)
        self._followers[follower] = None
        return follower

    def remove_follower(self, follower: Follower) -> None:
        """Remove a watcher."""
        self._followers.pop(follower, None)
        follower.next = _NO_BATCH

    def queue_events(self, events: Sequence[CacheEvent]) -> None:
        """Queue events for the watchers."""
        if not self._followers:
            return
        for event in events:
            batch = self._open
            if batch is None or batch.size > _TOGETHER:
                batch = self._open = Batch()
                self._batches.append(batch)
            after = event.after or event.before
            size = len(after.body) + _EVENT if after is not None else _EVENT
            batch.append(event)
            batch.size += size
            self._size += size
        if not self._under_way:
            self._begin_delivery()
        if self._size > _MAX_QUEUED:
            self._cut_off()

    def end_followers(self) -> None:
        """Queue the end for all watchers."""
        if self._followers:
            self._batches.append(Batch())
            self._open = None
            if not self._under_way:
                self._begin_delivery()

    def catch_up(self, follower: Follower) -> None:
        """Deliver all pending batches to one watcher."""
        self._open = None  # a batch must not grow after a watcher got it
        while 0 <= (index := follower.next - self._number) < len(self._batches):
            batch = self._batches[index]
            follower.next += 1
            if not batch:
                self.remove_follower(follower)
            call_handler(follower.handler, batch)

    def deliver_until(self, until: float) -> bool:
        """Deliver batches until a deadline. Returns whether to continue in the next turn of the loop."""
        until = min(until + self._size * _HURRY, until + _MAX_TURN)
        began = _clock()
        try:
            while self._batches:
                if not self._tell_round(until):
                    return True
                if self._size <= _TOGETHER:
                    break
        finally:
            self._spent += _clock() - began
        self._pause_for_writers()
        return False

    def _tell_round(self, until: float) -> bool:
        """Deliver the first batch to the watchers that lack it. Returns False if the deadline passed first."""
        batch, number = self._batches[0], self._number
        if self._round is None:
            self._round = iter(list(self._followers))
            self.delivered += len(batch) * len(self._followers)
            if self._open is batch:
                self._open = None
        for follower in self._round:
            if follower.next == number:
                if batch:
                    follower.next = number + 1
                else:
                    self.remove_follower(follower)
                try:
                    follower.handler(batch)
                except Exception as error:
                    log_failure(error)
                if _clock() > until:
                    return False
        self._drop_first_batch()
        return True

    def _drop_first_batch(self) -> None:
        """Remove the first batch, which every watcher has got."""
        batch = self._batches.popleft()
        self._size -= batch.size
        self._number += 1
        self._round = None
        for event in batch:
            event.frames.clear()

    def _begin_delivery(self) -> None:
        self._under_way = True
        self._deliveries.pending += 1
        loop = asyncio.get_running_loop()
        if self._rested <= loop.time():
            self._deliveries.schedule_turn(self)
        else:
            loop.call_at(self._rested, self._deliveries.schedule_turn, self)

    def _pause_for_writers(self) -> None:
        """Pause so that writers get their answers. With many watchers, each delivery then has more events."""
        self._under_way = False
        self._deliveries.end_one()
        spent, self._spent = self._spent, 0.0
        pause = max(len(self._followers) * _PAUSE_PER_WATCHER, spent * _PAUSE_FACTOR)
        self._rested = asyncio.get_running_loop().time() + min(pause, _MAX_PAUSE)
        if self._batches:
            self._begin_delivery()

    def _cut_off(self) -> None:
        """Remove the first batch. Watchers that lack it end, and get 410 when they watch again."""
        for follower in self._followers:
            if follower.next == self._number:
                follower.handler = partial(self._end_slow_follower, follower, follower.handler)
                follower.next += 1
        if self._open is self._batches[0]:
            self._open = None
        self._drop_first_batch()

    def _end_slow_follower(self, follower: Follower, handler: EventHandler, events: Sequence[CacheEvent]) -> None:
        """End a watcher that is too far behind, instead of calling its handler."""
        self.remove_follower(follower)
        call_handler(handler, ())
