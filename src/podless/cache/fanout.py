"""Watchers hear of changes soon after they come in, a few milliseconds of that in each turn of the event loop.

Changes wait in batches. A batch is told to one watcher after the other, and the next one after that, so each watcher
hears of all changes once and in their order. Whoever must know where it stands catches up by itself.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter as _clock

from podless.cache.events import Batch, Event, EventHandler, call_handler, log_failure

_TURN = 0.002  # seconds in one turn of the loop
# what waits gets more of it, so that writers cannot outrun those who watch: seconds for each byte, and at the most
_HURRY = 0.048 / (16 << 20)
_TURN_MOST = 0.05
# how long watchers rest between deliveries: so many seconds for each of them, so many times as long as a delivery took
# if that is more, and so many seconds at the most. What one takes differs from moment to moment, their number does not
_REST_EACH = 0.00025
_REST = 5.0
_REST_MOST = 0.05
_TOGETHER = 1 << 18  # bytes of a batch, about; it is encrypted for a watcher in one go
_BEHIND = 64 << 20  # bytes that may wait; of more, those who have not heard of the first are cut off
_NEVER = -1
_EVENT = 512  # bytes of an event beside its object


class Deliveries:
    """What collections have to tell their watchers: some of it in each turn of the loop, and each in its turn."""

    __slots__ = ("_due", "_ready")

    def __init__(self) -> None:
        self._ready: deque[Fanout] = deque()
        self._due = False

    def soon(self, fanout: Fanout) -> None:
        """Have a collection go on in a later turn."""
        self._ready.append(fanout)
        self._again()

    def _again(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._due = False
        ready = self._ready
        until = _clock() + _TURN
        while ready:
            fanout = ready.popleft()
            if fanout.go_on(until):
                ready.append(fanout)
            if ready and _clock() > until:
                self._again()
                return


class Follower:
    """One watcher. next: the number of the batch that it hears of next, _NEVER once it has left."""

    __slots__ = ("_fanout", "handler", "next")

    def __init__(self, fanout: Fanout, handler: EventHandler, following: int) -> None:
        self._fanout = fanout
        self.handler = handler
        self.next = following

    def catch_up(self) -> None:
        """Have this watcher hear now of all that it has not."""
        self._fanout.catch_up(self)

    def leave(self) -> None:
        """Hear of nothing more."""
        self._fanout.leave(self)


class Fanout:
    """The watchers of a collection, and what they have not heard of. told: how many events they heard of."""

    __slots__ = (
        "_batches",
        "_deliveries",
        "_followers",
        "_number",
        "_open",
        "_rested",
        "_round",
        "_size",
        "_spent",
        "_under_way",
        "delivered",
    )

    def __init__(self, deliveries: Deliveries) -> None:
        self.delivered = 0
        self._deliveries = deliveries
        self._followers: dict[Follower, None] = {}
        self._batches: deque[Batch] = deque()
        self._number = 0  # of the first batch
        self._open: Batch | None = None  # the last one, while events can join it
        self._size = 0  # bytes of all batches
        self._round: Iterator[Follower] | None = None  # those who have not heard of the first batch
        self._under_way = False
        self._spent = 0.0  # seconds of this delivery
        self._rested = -math.inf  # the loop's time from which on watchers may be told again

    def __len__(self) -> int:
        return len(self._followers)

    def join(self, handler: EventHandler) -> Follower:
        """Have `handler` called with what comes in from now on; what came in shortly before may be among it.

        An empty batch is the end.
        """
        following = self._number + len(self._batches) - (self._open is not None)
        follower = Follower(self, handler, following)
        self._followers[follower] = None
        return follower

    def leave(self, follower: Follower) -> None:
        """Forget a watcher."""
        self._followers.pop(follower, None)
        follower.next = _NEVER

    def publish(self, events: Sequence[Event]) -> None:
        """Tell the watchers soon."""
        if not self._followers:
            return
        for event in events:
            batch = self._open
            if batch is None or batch.size > _TOGETHER:
                batch = self._open = Batch()
                self._batches.append(batch)
            shown = event.after or event.before
            size = len(shown.body) + _EVENT if shown is not None else _EVENT
            batch.append(event)
            batch.size += size
            self._size += size
        if not self._under_way:
            self._begin()
        if self._size > _BEHIND:
            self._cut_off()

    def end(self) -> None:
        """Tell all watchers that there is nothing more to come, and forget them."""
        if self._followers:
            self._batches.append(Batch())
            self._open = None
            if not self._under_way:
                self._begin()

    def catch_up(self, follower: Follower) -> None:
        """Have one watcher hear of all that it has not."""
        self._open = None  # what it has heard of must not grow
        while 0 <= (place := follower.next - self._number) < len(self._batches):
            batch = self._batches[place]
            follower.next += 1
            if not batch:
                self.leave(follower)
            call_handler(follower.handler, batch)

    def go_on(self, until: float) -> bool:
        """Tell watchers until a time. Returns whether that is to go on in the next turn of the loop."""
        until = min(until + self._size * _HURRY, until + _TURN_MOST)
        began = _clock()
        try:
            while self._batches:
                if not self._tell_round(until):
                    return True
                if self._size <= _TOGETHER:
                    break
        finally:
            self._spent += _clock() - began
        self._rest()
        return False

    def _tell_round(self, until: float) -> bool:
        """Have those hear of the first batch who have not. Returns whether all have, rather than the time is over."""
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
                    self.leave(follower)
                try:
                    follower.handler(batch)
                except Exception:
                    log_failure()
                if _clock() > until:
                    return False
        self._pop()
        return True

    def _pop(self) -> None:
        """The first batch is told."""
        batch = self._batches.popleft()
        self._size -= batch.size
        self._number += 1
        self._round = None
        for event in batch:
            event.frames.clear()

    def _begin(self) -> None:
        self._under_way = True
        loop = asyncio.get_running_loop()
        if self._rested <= loop.time():
            self._deliveries.soon(self)
        else:
            loop.call_at(self._rested, self._deliveries.soon, self)

    def _rest(self) -> None:
        """Let writers get their answers: with many watchers, events are then handed over several at a time."""
        self._under_way = False
        spent, self._spent = self._spent, 0.0
        rest = max(len(self._followers) * _REST_EACH, spent * _REST)
        self._rested = asyncio.get_running_loop().time() + min(rest, _REST_MOST)
        if self._batches:
            self._begin()

    def _cut_off(self) -> None:
        """Forget the first batch: those who have not heard of it end, and learn of it when they watch again."""
        for follower in self._followers:
            if follower.next == self._number:
                follower.handler = partial(self._lose, follower, follower.handler)
                follower.next += 1
        if self._open is self._batches[0]:
            self._open = None
        self._pop()

    def _lose(self, follower: Follower, handler: EventHandler, events: Sequence[Event]) -> None:
        """End a watcher that is too far behind, in place of telling it of what came then."""
        self.leave(follower)
        call_handler(handler, ())
