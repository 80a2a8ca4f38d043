"""A thread that watches an event loop and finds callbacks that hold it for long.

Requests and controllers measure their steps themselves (runtime/watchdog.py). The heartbeat finds everything else that
a loop calls (timers, deliveries, commits, incoming bytes) from outside, so a callback costs nothing extra. The thread
schedules a callback of its own on the loop (a beat) and checks 50 times a second whether it ran, 5 times a second if
the loop is idle. While a beat is late, it reads the stack of the loop's thread. If two checks in a row see the same
callback, with no beat and no other work in between, that callback has held the loop since the first check. So a
measured time is at most two intervals too short. Callbacks of one function in one iteration of the loop count as one:
they delay clients as much as one.
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

_EVERY = 0.02  # seconds between two checks
_IDLE = 0.2  # seconds between two checks while the loop is idle
_LITTLE = 0.02  # share of the time between two checks; a loop that works less is idle
_RUN = {slices.__file__, watchdog.__file__}  # modules that only run other work
_PACKAGE = Path(__file__).parent.parent
# the frames from which asyncio's own loop calls a callback; uvloop has none
_TURN = (asyncio.base_events.__file__, "_run_once")
_CALL = (asyncio.events.__file__, "_run")

Function = tuple[str, str]
"""The file and the name of a function."""

Times = tuple[float, float]
"""Elapsed time, and the processor time of the loop's thread, in seconds."""


class _Callback:
    """A callback that is running. began, seen: time of its first and last sighting.

    called: the function that the loop called. progress, reported: counters of the watchdog at the first sighting.
    """

    __slots__ = ("began", "called", "progress", "reported", "seen", "work")

    def __init__(self, called: Function, began: Times, watchdog: Watchdog) -> None:
        self.called = called
        self.began = self.seen = began
        self.progress = watchdog.progress
        self.reported = watchdog.reported
        self.work: Work | None = None


class Heartbeat:
    """Watches one event loop between `start` and `stop`."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self._loop: asyncio.AbstractEventLoop
        self._thread: threading.Thread | None = None
        self._ended = threading.Lock()
        # number of frames below the loop's callbacks, and the innermost of these frames
        self._base: tuple[int, Function] | None = None
        self._sent = self._beaten = 0  # numbers of the last beat that was sent, and of the last that ran
        self._callback: _Callback | None = None

    def start(self) -> None:
        """Start to watch the running loop. Call it on the loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._ident = threading.get_ident()
        self._clock = system.find_thread_clock()
        self._stacks = Stacks()
        self._ended.acquire()
        self._send_beat()
        self._thread = threading.Thread(target=self._sample_loop, name="podless-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
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

    def _send_beat(self) -> None:
        self._sent += 1
        self._loop.call_soon_threadsafe(self._record_beat, self._sent)

    def _record_beat(self, number: int) -> None:
        """Record, on the loop, that a beat ran."""
        self._beaten = number
        if self._base is None:
            self._base = _find_base()

    def _sample_loop(self) -> None:
        with _Delay() as delay:
            every, last = _EVERY, self._read_times()
            due = last[0] + every
            while not self._ended.acquire(timeout=every):
                now, waited = self._read_times(), delay.read_delay()
                # this thread is late because it got no processor, or because a long call in C held the GIL: subtract
                # the first
                gil_time = min(now[0] - due - waited, now[1] - last[1])
                with suppress(RuntimeError):  # the loop was closed
                    busy = self._check_once(now, gil_time if gil_time > _EVERY else 0.0)
                    idle = not busy and now[1] - last[1] < _LITTLE * (now[0] - last[0])
                    every = min(every * 2, _IDLE) if idle else _EVERY
                last, due = now, time.perf_counter() + every

    def _read_times(self) -> Times:
        now = time.perf_counter()
        return now, time.clock_gettime(self._clock) if self._clock is not None else now

    def _check_once(self, now: Times, gil_time: float) -> bool:
        """Check the loop once, and return whether a callback runs. gil_time: seconds for which it held the GIL."""
        callback, watchdog = self._callback, self._watchdog
        calls = self._read_calls() if self._beaten != self._sent else []
        called = calls[-1].key if calls else None
        if callback is not None and (callback.called, callback.progress) != (called, watchdog.progress):
            self._callback = None
            self._report_end(callback)
            callback = None
        if self._beaten == self._sent:
            self._send_beat()
        if called is None:
            return False
        if callback is None:
            self._callback = callback = _Callback(called, (now[0] - gil_time, now[1] - gil_time), watchdog)
        callback.seen = now
        if callback.work is None and now[0] - callback.began[0] > watchdog.limit:
            callback.work = _describe_callback(calls)
        return True

    def _report_end(self, callback: _Callback) -> None:
        """Report a callback that has ended, if it held the loop for long."""
        elapsed, processor = (seen - began for seen, began in zip(callback.seen, callback.began, strict=True))
        if callback.work is not None:
            self._loop.call_soon_threadsafe(
                self._watchdog.report_callback, elapsed, processor, callback.work, callback.reported
            )

    def _read_calls(self) -> list[StackFrame]:
        """Return the call stack of the present callback, innermost first; empty while the loop waits."""
        calls = self._stacks.read_stack(self._ident)
        if not is_whole(calls) or self._base is None:
            return calls
        if calls and calls[-1].file == slices.__file__:
            return calls  # sliced work has its own stack
        depth, innermost = self._base
        if len(calls) <= depth or calls[-depth].key != innermost:
            return []  # the thread no longer runs this loop
        del calls[-depth:]
        if calls and calls[-1].key == _TURN:
            if len(calls) < 2 or calls[-2].key != _CALL:
                return []
            del calls[-2:]
        return calls


def _find_base() -> tuple[int, Function]:
    """Count the frames that run the calling loop, and return the innermost of them."""
    frame = sys._getframe(2)
    while (frame.f_code.co_filename, frame.f_code.co_name) in (_CALL, _TURN) and frame.f_back is not None:
        frame = frame.f_back
    base = frame.f_code.co_filename, frame.f_code.co_name
    depth = 1
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth, base


def _describe_callback(calls: list[StackFrame]) -> Work:
    """Return the description of a callback: the first function of podless that it called, and the present line."""
    ours = [call for call in calls if _PACKAGE in Path(call.file).parents and call.file not in _RUN]
    outer, inner = (ours[-1], ours[0]) if ours else (calls[-1], calls[0])
    return Work("callback", f"{_module_of(outer)}.{outer.function}", "", f"at {_module_of(inner)}:{inner.line}")


def _module_of(call: StackFrame) -> str:
    """Return the name of a frame's module, without "podless." for our own."""
    path = Path(call.file)
    path = path.relative_to(_PACKAGE) if _PACKAGE in path.parents else Path(path.name)
    return ".".join(path.with_suffix("").parts)


class _Delay:
    """Measures how long this thread was ready to run without getting a processor."""

    def __init__(self) -> None:
        self._before = 0
        self._file: int | None = None
        with suppress(OSError):  # only Linux reports it
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> _Delay:
        self.read_delay()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def read_delay(self) -> float:
        """Return the seconds since the last call, 0 if the system does not report them."""
        if self._file is None:
            return 0.0
        before, self._before = self._before, int(os.pread(self._file, 64, 0).split()[1])
        return (self._before - before) / 1e9
