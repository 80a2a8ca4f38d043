"""A thread that watches an event loop and finds the callbacks that hold it for long.

Requests and controllers measure their steps themselves (runtime/watchdog.py). The heartbeat finds everything else that
a loop calls (timers, deliveries, commits, bytes that come in) from outside, so a callback costs nothing extra. The
thread schedules a callback of its own on the loop (a beat) and checks 50 times a second whether it ran, 5 times a
second if the loop is idle. While a beat is late, it reads the stack of the loop's thread. If two checks in a row see
the same callback, with no beat and no other work in between, that callback has held the loop since the first check. So
a measured time is at most two intervals too short. Callbacks of one function in one turn of the loop count as one:
they keep clients waiting as well as one does.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from podless.runtime import slices, system, watchdog
from podless.runtime.stacks import StackFrame, Stacks, is_whole
from podless.runtime.watchdog import Watchdog, Work

_EVERY = 0.02  # seconds between two looks
_IDLE = 0.2  # the same where the loop has nothing to do
_LITTLE = 0.02  # of the time between two looks; a loop that works for less has nothing to do
_RUN = {slices.__file__, watchdog.__file__}  # what only runs other work
_PACKAGE = Path(__file__).parent.parent
_TURN = (asyncio.base_events.__file__, "_run_once")  # what asyncio's own loop runs a callback with; uvloop's has none
_CALL = (asyncio.events.__file__, "_run")

Function = tuple[str, str]
"""The file and the name of a function."""

Times = tuple[float, float]
"""Elapsed time, and the processor time of the loop's thread, in seconds."""


class _Callback:
    """A callback that is running. began, seen: when it was seen first and last.

    called: the function that the loop called. moved, told: values of the watchdog at that time.
    """

    __slots__ = ("began", "called", "moved", "seen", "told", "work")

    def __init__(self, called: Function, began: Times, watchdog: Watchdog) -> None:
        self.called = called
        self.began = self.seen = began
        self.moved = watchdog.moved
        self.told = watchdog.told
        self.work: Work | None = None


class Heartbeat:
    """Watches one event loop. Call `start` and `stop` on it."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self._loop: asyncio.AbstractEventLoop
        self._thread: threading.Thread | None = None
        self._ended = threading.Lock()
        self._base: tuple[int, Function] | None = None  # how many calls run the loop, and the innermost of them
        self._sent = self._beaten = 0  # beats
        self._callback: _Callback | None = None

    def start(self) -> None:
        """Begin to look at the running loop, on whose thread this is called."""
        self._loop = asyncio.get_running_loop()
        self._ident = threading.get_ident()
        self._clock = system.find_thread_clock()
        self._stacks = Stacks()
        self._ended.acquire()
        self._send()
        self._thread = threading.Thread(target=self._sample_loop, name="podless-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        if self._thread is not None:
            self._ended.release()
            self._thread.join()
            self._thread = self._base = None
            self._stacks.close()

    @property
    def holder(self) -> Work | None:
        """The callback that has held the loop for long and still runs."""
        callback = self._callback
        return callback.work if callback is not None else None

    def _send(self) -> None:
        self._sent += 1
        self._loop.call_soon_threadsafe(self._beat, self._sent)

    def _beat(self, number: int) -> None:
        """Note, on the loop, that a beat has arrived."""
        self._beaten = number
        if self._base is None:
            self._base = _find_base()

    def _sample_loop(self) -> None:
        with _Delay() as delay:
            every, last = _EVERY, self._now()
            due = last[0] + every
            while not self._ended.acquire(timeout=every):
                now, waited = self._now(), delay.read()
                # late for want of a processor, or else of the interpreter, which one long call in C has kept
                kept = min(now[0] - due - waited, now[1] - last[1])
                with suppress(RuntimeError):  # the loop is closed
                    busy = self._check_once(now, kept if kept > _EVERY else 0.0)
                    little = not busy and now[1] - last[1] < _LITTLE * (now[0] - last[0])
                    every = min(every * 2, _IDLE) if little else _EVERY
                last, due = now, time.perf_counter() + every

    def _now(self) -> Times:
        now = time.perf_counter()
        return now, time.clock_gettime(self._clock) if self._clock is not None else now

    def _check_once(self, now: Times, kept: float) -> bool:
        """Look once. kept: seconds for which the loop has kept the interpreter. Returns whether it does something."""
        known, told = self._callback, self._watchdog
        calls = self._read_calls() if self._beaten != self._sent else []
        called = calls[-1].key if calls else None
        if known is not None and (known.called, known.moved) != (called, told.moved):
            self._callback = None
            self._end(known)
            known = None
        if self._beaten == self._sent:
            self._send()
        if called is None:
            return False
        if known is None:
            self._callback = known = _Callback(called, (now[0] - kept, now[1] - kept), told)
        known.seen = now
        if known.work is None and now[0] - known.began[0] > told.long:
            known.work = _name(calls)
        return True

    def _end(self, callback: _Callback) -> None:
        """Report a callback that has ended, if it was long."""
        elapsed, processor = (seen - began for seen, began in zip(callback.seen, callback.began, strict=True))
        if callback.work is not None:
            self._loop.call_soon_threadsafe(
                self._watchdog.tell_callback, elapsed, processor, callback.work, callback.told
            )

    def _read_calls(self) -> list[StackFrame]:
        """Return the present call stack of the loop, innermost first; empty while it waits."""
        calls = self._stacks.read(self._ident)
        if not is_whole(calls) or self._base is None:
            return calls
        if calls and calls[-1].file == slices.__file__:
            return calls  # work in slices has a stack of its own
        depth, innermost = self._base
        if len(calls) <= depth or calls[-depth].key != innermost:
            return []  # the thread does not run the loop
        del calls[-depth:]
        if calls and calls[-1].key == _TURN:
            if len(calls) < 2 or calls[-2].key != _CALL:
                return []
            del calls[-2:]
        return calls


def _find_base() -> tuple[int, Function]:
    """Count the calls that run the loop which calls this, and return the innermost of them."""
    frame = sys._getframe(2)
    while (frame.f_code.co_filename, frame.f_code.co_name) in (_CALL, _TURN) and frame.f_back is not None:
        frame = frame.f_back
    base = frame.f_code.co_filename, frame.f_code.co_name
    depth = 1
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth, base


def _name(calls: list[StackFrame]) -> Work:
    """Return the name of a callback: the first function of podless that it called, and the present one."""
    ours = [call for call in calls if _PACKAGE in Path(call.file).parents and call.file not in _RUN]
    outer, inner = (ours[-1], ours[0]) if ours else (calls[-1], calls[0])
    return Work("callback", f"{_module(outer)}.{outer.function}", "", f"at {_module(inner)}:{inner.line}")


def _module(call: StackFrame) -> str:
    """Return the module of a call, without the package where it is ours."""
    path = Path(call.file)
    path = path.relative_to(_PACKAGE) if _PACKAGE in path.parents else Path(path.name)
    return ".".join(path.with_suffix("").parts)


class _Delay:
    """How long this thread was ready to run without getting a processor."""

    def __init__(self) -> None:
        self._before = 0
        self._file: int | None = None
        with suppress(OSError):  # only Linux tells
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> _Delay:
        self.read()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def read(self) -> float:
        """Return the seconds since it was read last, 0 where the system does not tell."""
        if self._file is None:
            return 0.0
        before, self._before = self._before, int(os.pread(self._file, 64, 0).split()[1])
        return (self._before - before) / 1e9
