"""Long work on a thread beside the event loop, one piece at a time: the loop goes on, at half its speed.

For what is written in Python alone, and touches nothing that others change meanwhile: the interpreter takes turns
between threads every few milliseconds. What takes long inside of C keeps it: a process is the place for that
(http/offload.py). A piece has so many seconds; whose request is next is for `Turns`.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
import traceback
import weakref
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from typing import Any, ParamSpec, TypeVar

from podless.meta import offloop
from podless.meta.codec import in_steps
from podless.meta.errors import Timeout, TooManyRequests, Unavailable
from podless.meta.parts import parts, release
from podless.meta.quiet import REST, quiet
from podless.meta.turns import Turns

P = ParamSpec("P")
R = TypeVar("R")

LONG = 1 << 15  # bytes of an object from which on work on it is long
SECONDS = 10.0  # of processor time that a piece of work has
_STEPS = 8  # backwards, at each of which the interpreter looks for what others want raised
_LOOK = 1.0  # seconds between two looks at how long it has taken
_WAITING = 128  # pieces of work that may wait for the thread
_LATE = "Timeout: request did not complete within the allotted timeout"

_made: ContextVar[list[Any] | None] = ContextVar("made", default=None)  # what was made for the request so far


class _Overdue(BaseException):
    """Raised within work that takes too long."""


class _Piece:
    """A piece of work on its thread. seconds: that it has; `look` ends it when they are over."""

    def __init__(self, seconds: float, work: Callable[[], Any]) -> None:
        self._seconds = seconds
        self._work: Callable[[], Any] | None = work
        self._lock = threading.Lock()
        self._thread = 0  # while it is at work
        self._until = 0.0

    def __call__(self) -> Any:
        """Do it. Raises what the work raises, and Timeout."""
        thread = threading.get_ident()
        work, self._work = self._work, None  # what it is about is not held by who looks on
        assert work is not None
        try:
            with self._lock:
                self._thread, self._until = thread, _spent(thread) + self._seconds
            try:
                with quiet():
                    return work()
            except Exception as error:  # what it was working on goes here, and not where the answer is made
                traceback.clear_frames(error.__traceback__)
                raise
            finally:
                del work
                with self._lock:
                    self._thread = 0
                for _ in range(_STEPS):  # where the interruption came too late, it is raised here
                    pass
        except _Overdue as overdue:  # which the answer is told with, too
            traceback.clear_frames(overdue.__traceback__)
            raise Timeout(_LATE, {}) from None

    def look(self) -> None:
        """End it if its time is over; from another thread."""
        with self._lock:
            if self._thread and _spent(self._thread) > self._until:
                self._until = math.inf  # once is enough
                _interrupt(self._thread)


def _interrupt(thread: int) -> None:
    """Have `_Overdue` raised in a thread, at its next step back.

    It cannot be taken back: the interpreter would look for it for ever, and lose time with each loop and call.
    """
    import ctypes  # which takes its time

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Overdue))


def _spent(thread: int) -> float:
    """Processor time of a thread, in seconds; time itself where the system does not tell."""
    clock = getattr(time, "pthread_getcpuclockid", None)
    return time.clock_gettime(clock(thread)) if clock is not None else time.monotonic()


class Aside:
    """The thread, which is begun when it is first needed, and the turns of long requests. To be closed."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._thread: ThreadPoolExecutor | None = None
        self._waiting = 0
        self._closed = False
        self.turns = Turns()

    @asynccontextmanager
    async def turn(self, user: str, size: int) -> AsyncIterator[None]:
        """A request about so many bytes waits for its turn; what is made for it goes in pieces afterwards.

        Raises TooManyRequests.
        """
        async with self.turns.turn(user, size):
            made: list[Any] = []
            token = _made.set(made)
            rest = REST.begin()
            try:
                yield
            except Exception as error:  # what the request is about goes in pieces, and not where the answer is made
                traceback.clear_frames(error.__traceback__)
                raise
            finally:
                _made.reset(token)
                await self._let_go(made, rest)

    async def run(self, size: int, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """What some work gives, done beside the loop where an object of so many bytes makes it long.

        Raises what the work raises, TooManyRequests, and Timeout where it takes too long.
        """
        if size < LONG:
            return work(*args, **kwargs)
        if self._waiting >= _WAITING:
            raise TooManyRequests("too many requests, please try again later", {"retryAfterSeconds": 1})
        known = copy_context()  # with it the clock, which a test may have moved
        known.run(in_steps.set, True)
        known.run(offloop.begin)
        piece = _Piece(self._seconds, lambda: known.run(work, *args, **kwargs))
        self._waiting += 1
        try:
            found: R = await self._watched(piece)
        finally:
            self._waiting -= 1
        self.keep(found)
        return found

    def keep(self, value: Any) -> None:
        """Something large was made for the request that has its turn: it goes in pieces afterwards."""
        if (made := _made.get()) is not None:
            made.append(value)

    async def _watched(self, piece: _Piece) -> Any:
        loop = asyncio.get_running_loop()
        done = self._executor().submit(piece)
        known = weakref.ref(done)  # which has the result, until that is fetched

        def look() -> None:
            under_way = known()
            if under_way is not None and not under_way.done():  # also where nobody waits for it any more
                piece.look()
                loop.call_later(_LOOK, look)

        loop.call_later(_LOOK, look)
        try:
            return await asyncio.wrap_future(done)
        finally:
            del done  # an error in it knows this frame, and with it all that the request is about

    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            if self._closed:
                raise Unavailable("the server is stopping")
            self._thread = ThreadPoolExecutor(1, "podless-aside")
        return self._thread

    async def _let_go(self, made: list[Any], rest: int) -> None:
        """Take what was made apart; the parts go once nobody else has them, and the collector rests until then."""
        held: list[Any] = []

        def go() -> None:
            release(held)
            REST.end(rest)

        def submit() -> None:
            if self._thread is not None:
                self._thread.submit(go)
            else:
                REST.end(rest)

        loop = asyncio.get_running_loop()
        try:
            if self._thread is not None:
                held = await loop.run_in_executor(self._thread, parts, made)
        finally:
            loop.call_soon(submit)

    def close(self) -> None:
        """End the thread once it has done what it does."""
        self._closed = True
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None
