"""Runs long work in pieces, some in each iteration of the event loop: long answers, long scans of stored objects.

Users take turns, so that long work of one user delays only that user.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TypeVar
from weakref import WeakValueDictionary

from podless.runtime.slices import SlicedIterator, SlicedWork, TurnPauses

T = TypeVar("T")

WHOLE_TURN = 1.0  # seconds; more than one iteration has, so it ends the iteration
_TURN_SECONDS = 0.001  # seconds of work in one iteration of the loop; it ends after the piece that exceeds this
_PIECE_SECONDS = 0.001  # seconds of the caller's work on items of `iterate_slices` before a pause
_MAX_ITEM_SECONDS = 10.0  # seconds of processor time to make one item of a `slice_iterator`
_ITEMS_PER_CHECK = 32  # maximum items between two checks of the clock


class Pace:
    """The pending work of each user, done when the loop has time."""

    __slots__ = ("_due", "_locks", "_pauses", "_queues", "_slices")

    def __init__(self) -> None:
        self._slices = SlicedWork(_MAX_ITEM_SECONDS)
        self._pauses = TurnPauses()
        self._queues: dict[str, deque[Callable[[], float | None]]] = {}  # in order: the first user is next
        self._due = False
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def get_lock(self, user: str) -> asyncio.Lock:
        """Return the lock that serializes memory-intensive work of a user's watches.

        It exists as long as a watch refers to it.
        """
        lock = self._locks.get(user)
        if lock is None:
            lock = self._locks[user] = asyncio.Lock()
        return lock

    def run_soon(self, user: str, work: Callable[[], float | None], *, first: bool = False) -> None:
        """Run work for a user in a later iteration of the loop. It must not raise or exceed a few milliseconds.

        first: before the user's other work, for work that has begun and keeps memory until it ends.
        """
        queue = self._queues.get(user)
        if queue is None:
            queue = self._queues[user] = deque()
        if first:
            queue.appendleft(work)
        else:
            queue.append(work)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._run_turn)

    async def wait_turn(self, user: str) -> None:
        """Wait for this user's next turn, which is enough for some milliseconds of work."""
        turn = asyncio.get_running_loop().create_future()

        def begin_turn() -> float:
            if not turn.done():
                turn.set_result(None)
                return WHOLE_TURN
            return 0.0

        self.run_soon(user, begin_turn)
        await turn

    async def iterate_slices(self, user: str, items: Sequence[T]) -> AsyncIterator[Sequence[T]]:
        """Yield items in slices, with a pause when the caller's work on them has taken a while."""
        until = time.perf_counter() + _PIECE_SECONDS
        start, look = 0, 1
        while start < len(items):
            if time.perf_counter() > until:
                await self.wait_turn(user)
                until, look = time.perf_counter() + _PIECE_SECONDS, max(look // 2, 1)
            else:
                look = min(look * 2, _ITEMS_PER_CHECK)
            yield items[start : start + look]
            start += look

    def slice_iterator(self, source: Iterator[T]) -> SlicedIterator[T]:
        """Return a puller that makes the items of an iterator in slices."""
        return SlicedIterator(self._slices, source)

    def _run_turn(self) -> None:
        self._due = False
        began = time.perf_counter()
        until = began + _TURN_SECONDS
        while self._queues:
            user = next(iter(self._queues))
            queue = self._queues.pop(user)
            work = queue.popleft()
            if queue:
                self._queues[user] = queue
            until -= work() or 0.0
            if time.perf_counter() > until:
                break
        if self._queues and not self._due:
            self._due = True
            self._pauses.call_after_pause(time.perf_counter() - began, self._run_turn)
