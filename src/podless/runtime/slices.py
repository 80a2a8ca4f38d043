"""Runs synchronous work on the event loop in slices, so that no piece of it delays other requests for long.

The work runs in a greenlet. What it calls charges its meter (runtime/meter.py). When the slice is used up, the charge
suspends the greenlet and the loop continues. The next slice starts a few iterations of the loop later, after those of
all other suspended work. Most work ends within its first slice, which costs about a microsecond.

Other requests run between two slices, as they do at an await. So the work must not rely on shared state that it read in
an earlier slice. Nothing is repeated, and the work need not know that it is sliced.

Short work that can begin again, because it changes nothing that others see, needs no greenlet (`SlicedWork.try_work`).
If it takes longer than one slice, a charge ends it, and it begins again in slices.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextvars import Context, copy_context
from types import TracebackType
from typing import Any, Final, Generic, NoReturn, TypeVar, TypeVarTuple

from greenlet import getcurrent, greenlet

from podless.runtime.apierror import Timeout
from podless.runtime.collector import PAUSE, pause_gc
from podless.runtime.meter import ALLOWANCE, DEFAULT, TIMEOUT_TEXT

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

SLICE: Final = 0.001  # seconds of processor time
_SUSPENDED: Final = object()  # returned by a greenlet whose slice is used up
_RAISED: Final = object()
_MAX_IDLE: Final = 8  # idle workers that are kept; making one takes ten times as long as most work
_TURNS: Final = 8  # iterations of the loop between two pieces; an empty one takes about 2 us
_LONG_PIECE: Final = 0.004  # seconds; after a longer piece iterations alone are not enough
_EMPTY_TURNS: Final = 0.0001  # seconds of processor time of all these iterations if they are empty
_ACTIVE: Final = 0.05  # seconds for which other work counts as active after it was last seen


class TurnPauses:
    """The pauses of one kind of long work on the event loop: it continues after other requests had their turn.

    A write takes several iterations of the loop. If long work took part of each, a client that writes every few
    milliseconds would fall behind more and more. So some iterations pass between two pieces of work. After a long
    piece, such as one call in C, this is too short for a client to send its next request. The work then rests as long
    as the piece took, if other work is active.
    """

    __slots__ = ("_active",)

    def __init__(self) -> None:
        self._active = 0.0  # loop time until which other work counts as active

    def call_after_pause(self, took: float, callback: Callable[[], object]) -> None:
        """Call back when the work may continue. took: seconds of the piece that has ended."""
        self._pass_turn(asyncio.get_running_loop(), _TURNS, time.thread_time(), took, callback)

    async def wait_pause(self, took: float) -> None:
        """Wait until the work may continue. took: seconds of the piece that has ended."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.call_after_pause(took, lambda: None if turn.done() else turn.set_result(None))
        await turn

    def _pass_turn(
        self, loop: asyncio.AbstractEventLoop, turns: int, began: float, took: float, callback: Callable[[], object]
    ) -> None:
        if turns:
            loop.call_soon(self._pass_turn, loop, turns - 1, began, took, callback)
            return
        now = loop.time()
        if time.thread_time() - began > _EMPTY_TURNS:
            self._active = now + _ACTIVE
        if took > _LONG_PIECE and now < self._active:
            loop.call_later(took, callback)
        else:
            callback()


class _Cancelled(BaseException):
    """Ends suspended work whose request was cancelled."""


class _TooLong(BaseException):
    """Ends work without slices that takes longer than one. seconds: what it took."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class IncompleteItem(Exception):
    """An item needs another slice."""


class _Worker(greenlet):
    """A greenlet that does one piece of work after the other.

    began: start of the slice by the thread's processor clock, 0 before the first check. Most work ends before it.
    spent: seconds of the earlier slices. took: seconds of the last slice. limit: maximum of seconds for all slices.
    """

    def __init__(self, limit: float) -> None:
        super().__init__()
        self.loop = getcurrent()
        self.work: Callable[..., Any] | None = None
        self.args: tuple[Any, ...] = ()
        self.raised: BaseException | None = None
        self.began = self.spent = self.took = 0.0
        self.limit = limit

    def run(self) -> None:
        """Run work each time the loop switches here, and switch back with its result or _RAISED."""
        switch_back = self.loop.switch
        while True:
            work, args = self.work, self.args
            assert work is not None
            try:
                result = work(*args)
            except BaseException as error:
                self.raised, result = error, _RAISED
            self.work, self.args = None, ()
            del work, args
            switch_back(result)
            del result

    def raise_error(self) -> NoReturn:
        """Raise the exception of the work."""
        assert self.raised is not None
        raise self.raised

    def yield_if_due(self) -> None:
        """Suspend the work if its slice is used up. Raise Timeout if its time is over."""
        now = time.thread_time()
        if not self.began:
            self.began = now
        elif now - self.began > SLICE:
            self.suspend(now)

    def suspend(self, now: float) -> None:
        """Suspend the work. now: by the thread's processor clock. Raise Timeout if its time is over."""
        self.took = now - self.began
        self.spent += self.took
        if self.spent > self.limit:
            raise Timeout(TIMEOUT_TEXT, {})
        if (allowance := ALLOWANCE.get()) is not None:
            allowance.spend_work(self.took)
        self.loop.switch(_SUSPENDED)
        self.began = time.thread_time()

    def work_time(self) -> float:
        """Return the seconds of processor time of the work since its first check of the clock."""
        now = time.thread_time()
        self.began = self.began or now
        return self.spent + now - self.began


_TRIED: Final[dict[greenlet, float]] = {}
"""By the greenlet that runs it (one a thread): when work without slices first checked the clock, 0 before that."""


def give_turn() -> bool:
    """Suspend the present work until other work had its turn. Returns False if it is not sliced."""
    worker = getcurrent()
    if type(worker) is not _Worker:
        return False
    now = time.thread_time()
    worker.began = worker.began or now
    worker.suspend(now)
    return True


def _yield_if_due() -> None:
    worker = getcurrent()
    if type(worker) is _Worker:
        worker.yield_if_due()
    elif (began := _TRIED.get(worker)) is not None:
        now = time.thread_time()
        if not began:
            _TRIED[worker] = now
        elif now - began > SLICE:
            raise _TooLong(now - began)


def _work_time() -> float:
    worker = getcurrent()
    return worker.work_time() if type(worker) is _Worker else time.thread_time()


DEFAULT.on_look = _yield_if_due
DEFAULT.clock = _work_time


class SlicedWork:
    """The sliced work of one event loop. seconds: limit of processor time for one piece of work, in all its slices."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._idle: list[_Worker] = []
        self._waiting: deque[asyncio.Future[None]] = deque()  # waiting for the next slice, oldest first
        self._pauses = TurnPauses()
        self._took = 0.0  # seconds of the longest slice since the last rest
        self._tried = 0.0  # seconds of work that ended and begins again now

    def try_work(self, work: Callable[..., R], *args: Any) -> R | None:
        """Run work that can begin again, and return its result: None if it takes longer than a slice.

        Then call `run` next, which adds the time to that of its work.
        """
        current = getcurrent()
        if type(current) is _Worker or current in _TRIED:
            return work(*args)  # the caller is sliced, or begins again, already
        _TRIED[current] = 0.0
        try:
            return work(*args)
        except _TooLong as ended:
            self._tried = ended.seconds
            return None
        finally:
            del _TRIED[current]

    async def run(self, work: Callable[[*Ts], R], *args: *Ts) -> R:
        """Run work and return its result. Raises the error of the work, and Timeout beyond the limit."""
        if type(getcurrent()) is _Worker:
            return work(*args)  # the caller is sliced already
        worker = self._idle.pop() if self._idle else _Worker(self._seconds)
        worker.work, worker.args = work, args
        worker.began, worker.spent, self._tried = 0.0, self._tried, 0.0
        worker.gr_context = copy_context()
        result = worker.switch()
        if result is _SUSPENDED or result is _RAISED:
            result = await self._run_remaining(worker, result)
        else:
            self._idle.append(worker)
        return result  # type: ignore[no-any-return]

    def slice_coroutine(self, work: Coroutine[Any, Any, R]) -> Coroutine[Any, Any, R]:
        """Return a coroutine that runs each step of another one (the code between two awaits) in slices."""
        return _SlicedCoroutine(self, work, copy_context())

    async def _run_remaining(self, worker: _Worker, result: object) -> Any:
        """Run the remaining slices of suspended work. Returns its result, or raises its error."""
        try:
            if result is _SUSPENDED:
                with pause_gc():
                    while result is _SUSPENDED:
                        await self.request_turn(worker.took)
                        result = worker.switch()
            return result if result is not _RAISED else worker.raise_error()
        finally:
            self.release_worker(worker)

    def take_worker(self, context: Context) -> _Worker:
        """Return a worker for work in a context; give it back with `release_worker` or `keep_worker`."""
        worker = self._idle.pop() if self._idle else _Worker(self._seconds)
        worker.began = worker.spent = 0.0
        worker.gr_context = context
        return worker

    def release_worker(self, worker: _Worker) -> None:
        """Take back a worker. Unfinished work ends with _Cancelled, because its request was cancelled."""
        if worker.work is not None:
            worker.throw(_Cancelled())
            while worker.work is not None:  # cleanup code of the work may be suspended as well
                worker.switch()
        worker.raised = worker.gr_context = None
        if len(self._idle) < _MAX_IDLE:
            self._idle.append(worker)

    def keep_worker(self, worker: _Worker) -> None:
        """Take back a worker whose work ended in its first slice."""
        worker.gr_context = None
        if len(self._idle) < _MAX_IDLE:
            self._idle.append(worker)

    def request_turn(self, took: float) -> asyncio.Future[None]:
        """Return a future that is done when the next slice may start. took: seconds of the slice that has ended."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._pauses.call_after_pause(took, self._wake_next)
        else:
            self._took = max(self._took, took)
        start: asyncio.Future[None] = loop.create_future()
        self._waiting.append(start)
        return start

    def _wake_next(self) -> None:
        """Resume the work that has waited longest."""
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():  # done: its request was cancelled
                waiting.set_result(None)
                break
        if self._waiting:
            took, self._took = self._took, 0.0
            self._pauses.call_after_pause(took, self._wake_next)


class SlicedIterator(Generic[R]):
    """Makes the items of an iterator in slices. Call `next_item` again until an item is complete."""

    __slots__ = ("_slices", "_source", "_worker")

    def __init__(self, slices: SlicedWork, source: Iterator[R]) -> None:
        self._slices = slices
        self._source = source
        self._worker: _Worker | None = None  # kept from the first item to the last

    def next_item(self) -> R | None:
        """Return the next item, None at the end.

        Raises IncompleteItem if it needs another slice: call it later again.
        """
        worker = self._worker
        if worker is None:
            worker = self._worker = self._slices.take_worker(copy_context())
        if worker.work is None:
            worker.began = worker.spent = 0.0
            worker.work, worker.args = next, (self._source, None)
        item: Any = worker.switch()
        if item is _SUSPENDED:
            raise IncompleteItem
        if item is None or item is _RAISED:
            try:
                return None if item is None else worker.raise_error()
            finally:
                self.close()
        return item  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the iteration, and release the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            self._slices.release_worker(worker)


class _SlicedCoroutine(Coroutine[Any, Any, R]):
    """A coroutine whose steps run in slices.

    It has its own context, so that suspended steps see what earlier steps have set. The limit is for all its steps.
    """

    __slots__ = ("_context", "_pause", "_slices", "_spent", "_work", "_worker")

    def __init__(self, slices: SlicedWork, work: Coroutine[Any, Any, R], context: Context) -> None:
        self._slices = slices
        self._work = work
        self._context = context
        self._worker: _Worker | None = None  # set while a step is suspended; the garbage collector is then paused
        self._pause = -1
        self._spent = 0.0  # seconds of earlier steps that took longer than a slice

    def send(self, value: Any) -> Any:
        """Run the next step, or the next slice of one."""
        if self._worker is not None:
            return self._handle_result(self._worker, self._worker.switch())
        return self._run_step(self._work.send, value)

    def __next__(self) -> Any:
        return self.send(None)

    def __iter__(self) -> _SlicedCoroutine[R]:
        return self

    def __await__(self) -> Generator[Any, Any, R]:
        return self  # it implements the generator protocol

    def throw(self, type_: Any, value: BaseException | object = None, traceback: TracebackType | None = None, /) -> Any:
        """Start a step with an exception, or resume a suspended step with it."""
        error: Any = type_ if value is None else value
        if self._worker is not None:
            return self._handle_result(self._worker, self._worker.throw(error))
        return self._run_step(self._work.throw, error)

    def close(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            self._resume_gc()
            self._slices.release_worker(worker)
        self._work.close()

    def _resume_gc(self) -> None:
        if self._pause >= 0:
            pause, self._pause = self._pause, -1
            PAUSE.end_pause(pause)

    def _run_step(self, step: Callable[[Any], Any], value: Any) -> Any:
        if type(getcurrent()) is _Worker:
            return step(value)  # the caller is sliced already
        worker = self._slices.take_worker(self._context)
        worker.spent = self._spent
        worker.work, worker.args = step, (value,)
        return self._handle_result(worker, worker.switch())

    def _handle_result(self, worker: _Worker, result: object) -> Any:
        """Return what the step awaits, or raise its error: StopIteration at the end."""
        if result is _SUSPENDED:
            if self._pause < 0:
                self._pause = PAUSE.pause_collector()
            self._worker = worker
            return next(iter(self._slices.request_turn(worker.took)))
        self._worker = None
        if result is not _RAISED and self._pause < 0:  # most steps end in their first slice
            self._slices.keep_worker(worker)
            return result
        self._spent = worker.spent
        self._resume_gc()
        try:
            return result if result is not _RAISED else worker.raise_error()
        finally:
            self._slices.release_worker(worker)
