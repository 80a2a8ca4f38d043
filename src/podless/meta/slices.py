"""Run synchronous work on the event loop in slices, so that no piece of it keeps other requests waiting for long.

The work runs in a greenlet. What it calls charges its meter (meta/meter.py); where the charge finds that the slice is
used up, the greenlet is suspended there and the loop goes on. The next slice begins one iteration of the loop later,
after those of all other suspended work. Most work ends within its first slice, which costs about a microsecond.

Other requests run between two slices, as they do at an await. So the work must not rely on shared state that it read in
an earlier slice. Nothing is begun again, and the work need not know that it is sliced.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Final, TypeVar

from greenlet import getcurrent, greenlet

from podless.meta.apierror import Timeout
from podless.meta.gcpause import paused
from podless.meta.meter import DEFAULT, LATE

R = TypeVar("R")

SLICE: Final = 0.004  # seconds of processor time until the work is suspended
_SUSPENDED: Final = object()  # what a greenlet gives when its slice is used up
_RAISED: Final = object()
_KEPT: Final = 8  # idle workers; making one takes ten times as long as a slice of most work


class _Cut(BaseException):
    """Ends suspended work whose request is gone."""


class _Worker(greenlet):
    """A greenlet that does one piece of work after the other.

    began: when the slice did, by the clock of the thread; 0 until the first look, as most work never looks. spent:
    seconds of the earlier slices. most: seconds that they may take.
    """

    def __init__(self, most: float) -> None:
        super().__init__()
        self.loop = getcurrent()
        self.work: Callable[..., Any] | None = None
        self.about: tuple[Any, ...] = ()
        self.raised: BaseException | None = None
        self.began = self.spent = 0.0
        self.most = most

    def run(self) -> None:
        """Do what is there to do whenever the loop switches here, and give its outcome."""
        give = self.loop.switch
        while True:
            work, about = self.work, self.about
            assert work is not None
            try:
                found = work(*about)
            except BaseException as error:
                self.raised, found = error, _RAISED
            self.work, self.about = None, ()
            del work, about
            give(found)
            del found

    def look(self) -> None:
        """Suspend the work if its slice is used up. Raise Timeout if its time is over."""
        now = time.thread_time()
        if not self.began:
            self.began = now
        elif now - self.began > SLICE:
            self.spent += now - self.began
            if self.spent > self.most:
                raise Timeout(LATE, {})
            self.loop.switch(_SUSPENDED)
            self.began = time.thread_time()


def _look() -> None:
    worker = getcurrent()
    if type(worker) is _Worker:
        worker.look()


DEFAULT.on_look = _look


class Slices:
    """The sliced work of one event loop. seconds: of processor time for one piece of work, in all its slices."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._idle: list[_Worker] = []
        self._suspended: deque[tuple[_Worker, asyncio.Future[Any]]] = deque()

    async def run(self, work: Callable[..., R], *about: Any) -> R:
        """Return what the work returns. Raise what it raises, and Timeout where it takes too long."""
        worker = self._idle.pop() if self._idle else _Worker(self._seconds)
        worker.work, worker.about = work, about
        worker.began = 0.0
        worker.gr_context = copy_context()
        found = worker.switch()
        if found is _SUSPENDED or found is _RAISED:
            found = await self._finish(worker, found)
        else:
            self._idle.append(worker)
        return found  # type: ignore[no-any-return]

    async def _finish(self, worker: _Worker, found: object) -> Any:
        """Wait until all slices of suspended work are done. Return what the last one gave, or raise what it raised."""
        try:
            if found is _SUSPENDED:
                with paused():
                    found = await self._others(worker)
            if found is not _RAISED:
                return found
            assert worker.raised is not None
            raise worker.raised
        finally:
            self._release(worker)

    async def _others(self, worker: _Worker) -> object:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[object] = loop.create_future()
        if not self._suspended:
            loop.call_soon(self._next_slice)
        self._suspended.append((worker, done))
        return await done

    def _release(self, worker: _Worker) -> None:
        """Make a worker free for other work. Its work is ended where it is, if its request is gone."""
        if worker.work is not None:
            self._suspended = deque(one for one in self._suspended if one[0] is not worker)
            worker.throw(_Cut())
            while worker.work is not None:  # what it does in the end may be suspended as well
                worker.switch()
        worker.raised = worker.gr_context = None
        worker.spent = 0.0
        if len(self._idle) < _KEPT:
            self._idle.append(worker)

    def _next_slice(self) -> None:
        """Run one slice of the work that has been suspended for the longest time."""
        if not self._suspended:
            return  # it was cut
        worker, done = self._suspended.popleft()
        found = worker.switch()
        if found is _SUSPENDED:
            self._suspended.append((worker, done))
        elif not done.done():
            done.set_result(found)
        if self._suspended:
            asyncio.get_running_loop().call_soon(self._next_slice)
