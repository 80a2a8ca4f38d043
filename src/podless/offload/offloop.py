"""Runs long work on one thread beside the event loop, one piece at a time; the loop then runs at half its speed.

Only for pure Python code on values that nothing changes meanwhile: the interpreter switches between the threads every
few milliseconds. A long call in C holds the GIL; use a process for it (offload/process.py). A piece has a limit in
seconds: the work charges its meter (runtime/meter.py), which raises Timeout beyond the limit. `FairQueue` decides whose
request is next.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from podless.codec.serializer import in_steps
from podless.meta.errors import TooManyRequests, Unavailable
from podless.offload.fairqueue import FairQueue
from podless.offload.process import ParserProcess
from podless.runtime import memo
from podless.runtime.collector import PAUSE, pause_gc
from podless.runtime.meter import ALLOWANCE, METER, CPUMeter, TimeAllowance
from podless.runtime.slices import SlicedWork
from podless.runtime.system import find_thread_clock
from podless.runtime.weigh import collect_containers, release_containers

P = ParamSpec("P")
R = TypeVar("R")

LONG_BYTES = 1 << 15  # bytes: work on objects of at least this length runs off the loop
SECONDS = 10.0  # seconds of processor time for one piece of work
_WAITING = 128  # pieces of work that may wait for the thread
_LOOK = 512  # steps between two checks of the loop: a quarter of a millisecond of most tree walks
_LITTLE = 0.00002  # seconds of processor time; if the loop's thread used less, it was idle
_PAUSE = 0.0005  # seconds of a pause, after which the work checks again
_SHARE = 4.0  # seconds of pauses allowed for each second of work
_MAX_PAUSES = 0.02  # maximum seconds of pauses at one check

# large values made for the request so far
_request_values: ContextVar[list[Any] | None] = ContextVar("made", default=None)


class YieldingMeter(CPUMeter):
    """The limit of `CPUMeter` for work that pauses while the loop is busy. loop: clock id of the loop's thread.

    Threads share the GIL. The loop releases and takes it several times within one request: for each socket, and for
    each statement of SQLite. Each time it waits until the other thread releases it. So the work pauses while the loop's
    thread uses processor time. The pauses are limited to a multiple of the time that the work has run, so that it makes
    progress even if the loop is always busy.
    """

    __slots__ = ("_allowed", "_began", "_loop", "_loop_time")

    def __init__(self, seconds: float, loop: int) -> None:
        super().__init__(seconds)
        self._loop = loop
        self._loop_time = time.clock_gettime(loop)
        self._began = time.thread_time()
        self._allowed = _MAX_PAUSES
        self.steps_left = _LOOK

    def check_time(self) -> None:
        super().check_time()
        self.steps_left = _LOOK
        self.give_way()

    def give_way(self) -> None:
        """Pause while the loop is busy, within the limits."""
        now = time.thread_time()
        self._allowed = min(_MAX_PAUSES, self._allowed + (now - self._began) * _SHARE)
        self._began = now
        loop_time = time.clock_gettime(self._loop)
        while loop_time - self._loop_time > _LITTLE and self._allowed > 0.0:
            self._loop_time = loop_time
            self._allowed -= _PAUSE
            time.sleep(_PAUSE)
            loop_time = time.clock_gettime(self._loop)
        self._loop_time = loop_time


def make_meter(seconds: float, loop: int | None) -> CPUMeter:
    """Return the meter for work on a thread. loop: clock id of the loop's thread, None if the system has none."""
    return CPUMeter(seconds) if loop is None else YieldingMeter(seconds, loop)


def _run_metered(seconds: float, loop: int | None, allowance: TimeAllowance | None, work: Callable[[], R]) -> R:
    """Run a piece of work on its thread, with a meter. Raises what the work raises, and Timeout beyond the limit.

    allowance: of the write that the work belongs to.
    """
    if allowance is not None:
        seconds = min(seconds, allowance.work_time)
    METER.set(make_meter(seconds, loop))
    began = time.thread_time()
    try:
        with pause_gc():
            return work()
    except Exception as error:  # frees the work's values on this thread, not where the error is answered
        traceback.clear_frames(error.__traceback__)
        raise
    finally:
        if allowance is not None:
            allowance.work_time -= time.thread_time() - began
        del work


def _run_drafted(work: Callable[[], R]) -> tuple[R, Callable[[], None]]:
    """Return the result of some work, and a function that publishes the lazy values that it computed."""
    with memo.draft_values() as draft:
        return work(), draft.publish_values


class OffLoop:
    """The thread, started at first use, and the queue of long requests. Call `close` at the end.

    seconds: limit of processor time for a piece of work. worker: the process that parses long texts; closed with this
    object. slices: runs work on the loop in slices.
    """

    def __init__(self, seconds: float = SECONDS, worker: ParserProcess | None = None) -> None:
        self._seconds = seconds
        self.worker = worker or ParserProcess()
        self.slices = SlicedWork(seconds)
        self._thread: ThreadPoolExecutor | None = None
        self._loop: int | None = None  # clock id of the loop's thread
        self._waiting = 0
        self._closed = False
        self.turns = FairQueue()

    @asynccontextmanager
    async def wait_turn(self, user: str, size: int) -> AsyncIterator[None]:
        """Wait until a request of this size (bytes) is admitted. Frees its large values in pieces afterwards."""
        async with self.turns.wait_turn(user, size):
            values: list[Any] = []
            token = _request_values.set(values)
            pause = PAUSE.pause_collector()
            try:
                yield
            except Exception as error:  # drop the request's values from the traceback, so that they are freed in pieces
                traceback.clear_frames(error.__traceback__)
                raise
            finally:
                _request_values.reset(token)
                await self._free_values(values, pause)

    @staticmethod
    def is_long(size: int) -> bool:
        """Return whether work on an object of so many bytes runs off the event loop."""
        return size >= LONG_BYTES

    async def run(self, size: int, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run work on an object of `size` bytes: off the loop if it is long, else on the loop in slices.

        Raises the error of the work, TooManyRequests, and Timeout if it takes too long.
        """
        if size < LONG_BYTES:
            return await self.slices.run(partial(work, *args, **kwargs))
        return await self._run_on_thread(ALLOWANCE.get(), partial(work, *args, **kwargs))

    async def run_on_thread(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run work that no write pays for. Raises as `run`."""
        return await self._run_on_thread(None, partial(work, *args, **kwargs))

    async def _run_on_thread(self, allowance: TimeAllowance | None, piece: Callable[[], R]) -> R:
        if self._waiting >= _WAITING:
            raise TooManyRequests("too many requests, please try again later", {"retryAfterSeconds": 1})
        context = copy_context()  # includes the clock, which a test may have advanced
        context.run(in_steps.set, True)
        context.run(memo.begin_work)
        self._waiting += 1
        try:
            thread = self._get_thread()
            result: R = await asyncio.wrap_future(
                thread.submit(context.run, _run_metered, self._seconds, self._loop, allowance, piece)
            )
        finally:
            del piece
            self._waiting -= 1
        self.free_later(result)
        return result

    async def make_value(self, size: int, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        if size < LONG_BYTES:
            return await self.slices.run(partial(work, *args, **kwargs))
        result, publish = await self.run_on_thread(_run_drafted, partial(work, *args, **kwargs))
        publish()
        return result

    def free_later(self, value: Any) -> None:
        """Record a large value that was made for the current request, so that it is freed in pieces afterwards."""
        if (values := _request_values.get()) is not None:
            values.append(value)

    def _get_thread(self) -> ThreadPoolExecutor:
        if self._thread is None:
            if self._closed:
                raise Unavailable("the server is stopping")
            self._thread = ThreadPoolExecutor(1, "podless-off-loop")
            self._loop = find_thread_clock()
        return self._thread

    async def _free_values(self, values: list[Any], pause: int) -> None:
        """Free values in pieces on the thread. The garbage collector stays paused until then."""
        parts: list[Any] = []

        def free_parts() -> None:
            release_containers(parts)
            PAUSE.end_pause(pause)

        def submit_free() -> None:
            if self._thread is not None:
                self._thread.submit(free_parts)
            else:
                PAUSE.end_pause(pause)

        loop = asyncio.get_running_loop()
        try:
            if self._thread is not None:
                parts = await loop.run_in_executor(self._thread, collect_containers, values)
        finally:
            loop.call_soon(submit_free)

    def close(self) -> None:
        """Stop the thread after its current work, and the worker process."""
        self._closed = True
        self.worker.close()
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None
