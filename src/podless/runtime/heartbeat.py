"""A thread that watches an event loop and finds callbacks that hold it for long.

Requests and controllers measure their steps themselves (runtime/watchdog.py). The heartbeat finds everything else that
a loop calls (timers, deliveries, commits, incoming bytes) from outside, so a callback costs nothing extra. The thread
schedules a callback of its own on the loop (a beat) and checks 25 times a second whether it ran, once a second if
the loop is idle. Only if a beat is late, the thread reads the stack of the loop's thread. When the beat runs, the loop
was held since the beat was sent, or since the last check after which no other measured work began. So a measured time
is at most one interval too short. Callbacks in one iteration of the loop without measured work in between count as one:
they delay clients as much as one.
"""

from __future__ import annotations

import asyncio
import faulthandler
import mmap
import os
import re
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from podless.runtime import slices, system, watchdog
from podless.runtime.lazy import compile_late
from podless.runtime.watchdog import Watchdog, Work

Function = tuple[str, str]  # its file and name
Times = tuple[float, float]  # elapsed time, and the processor time of the loop's thread, in seconds

_INTERVAL = 0.04  # seconds between two checks; each takes the GIL from the loop's thread
_IDLE_INTERVAL = 1.0  # seconds between two checks while the loop is idle; each wakes two threads
_IDLE_SHARE = 0.02  # share of the time between two checks; a loop that works less is idle
_RUNNERS = {slices.__file__, watchdog.__file__}  # modules that only run other work
_PACKAGE = Path(__file__).parent.parent
# the frames from which asyncio's own loop calls a callback; uvloop has none
_TURN = (asyncio.base_events.__file__, "_run_once")
_CALL = (asyncio.events.__file__, "_run")
# in the text of faulthandler: the stack of a thread, and one of its calls
_STACK = compile_late(rb"^(?:Current thread|Thread) 0x([0-9a-f]+)[^\n]*\n((?:  [^\n]*\n)*)", re.MULTILINE)
_LINE = compile_late(rb'^  File "([^\n]*)", line (\d+|\?\?\?) in ([^\n]*)$', re.MULTILINE)
_DEEPEST = 100  # calls that faulthandler writes of a stack, the innermost
_MAX = 1 << 21  # bytes of the file that can be read; faulthandler writes up to 100 calls of each thread
_REWIND = 1 << 16  # bytes of stacks after which the file is written from its start again


class StackFrame(NamedTuple):
    """A called function, and its present line."""

    file: str
    line: int
    function: str

    @property
    def function_key(self) -> tuple[str, str]:
        """The file and the name of the function."""
        return self.file, self.function


class Stacks:
    """Reads stacks of other threads without touching their frames. Call `close` at the end.

    `sys._current_frames` returns frame objects of running code, and CPython 3.11 crashes if they are followed at the
    wrong moment. `faulthandler` writes the same stack as text while it holds the GIL, and makes no object. Its file is
    in memory and mapped, because each system call of `os` releases the GIL. Getting it back from a busy thread takes a
    switch of threads, which costs that thread more than the stack.
    """

    def __init__(self) -> None:
        self._file = _open_file()
        self._text: mmap.mmap | None = None
        with suppress(OSError):  # a limit of the size of files holds in memory, too: then no stack is found
            os.truncate(self._file, _MAX)
            self._text = mmap.mmap(self._file, _MAX)
        self._end = 0  # where faulthandler writes next; only zeros follow

    def close(self) -> None:
        """Free the file."""
        if self._text is not None:
            self._text.close()
        os.close(self._file)

    def read_stack(self, thread: int) -> list[StackFrame]:
        """Return the calls of a thread by its identifier, innermost first, at most 100. Empty for an unknown thread."""
        text = self._text
        if text is None:
            return []
        if self._end > _REWIND:
            os.lseek(self._file, 0, os.SEEK_SET)
            text[: self._end] = bytes(self._end)
            self._end = 0
        start = self._end
        faulthandler.dump_traceback(self._file)
        end = text.find(b"\0", start)
        self._end = end if end >= 0 else _MAX
        for match in _STACK.finditer(text[start : self._end]):
            if int(match[1], 16) == thread:
                return [
                    StackFrame(os.fsdecode(file), int(line) if line.isdigit() else 0, function.decode(errors="replace"))
                    for file, line, function in _LINE.findall(match[2])
                ]
        return []


def is_whole(calls: list[StackFrame]) -> bool:
    """Return whether a stack includes its outermost calls."""
    return len(calls) < _DEEPEST


def _open_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("podless-stacks")
    import tempfile  # imported late: only systems without files in memory need it

    descriptor, name = tempfile.mkstemp()
    os.unlink(name)
    return descriptor


class _Beat:
    """A callback on the loop that has not run yet. work: what holds the loop meanwhile, if that is known.

    began, seen: time since which the loop has been held, and of the last check. latest, reported: those of the
    watchdog at the first of these times.
    """

    __slots__ = ("began", "latest", "reported", "seen", "work")

    def __init__(self, now: Times, watchdog: Watchdog) -> None:
        self.begin(now, watchdog)

    def begin(self, now: Times, watchdog: Watchdog) -> None:
        """Measure from now on."""
        self.began = self.seen = now
        self.latest = watchdog.latest
        self.reported = watchdog.reported
        self.work: Work | None = None

    def measure_beat(self) -> tuple[float, float, Work, int]:
        """Return the arguments of `Watchdog.report_callback`."""
        assert self.work is not None
        return self.seen[0] - self.began[0], self.seen[1] - self.began[1], self.work, self.reported


class Heartbeat:
    """Watches one event loop between `start` and `stop`."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self._loop: asyncio.AbstractEventLoop
        self._thread: threading.Thread | None = None
        self._ended = threading.Lock()
        # number of frames below the loop's callbacks, and the innermost of these frames
        self._base: tuple[int, Function] | None = None
        self._beat: _Beat | None = None
        self.holder: Work | None = None  # the callback that has held the loop for long and still runs

    def start(self) -> None:
        """Start to watch the running loop. Call it on the loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._ident = threading.get_ident()
        self._clock = system.find_thread_clock()
        self._stacks = Stacks()
        self._ended.acquire()
        self._send_beat(self._read_times())
        self._thread = threading.Thread(target=self._sample_loop, name="podless-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        if self._thread is not None:
            self._ended.release()
            self._thread.join()
            self._thread = self._base = None
            self._stacks.close()

    def _send_beat(self, now: Times) -> None:
        self._beat = _Beat(now, self._watchdog)
        self._loop.call_soon_threadsafe(self._end_beat, self._beat)

    def _end_beat(self, beat: _Beat) -> None:
        """Run a beat on the loop: whatever held the loop until now has ended."""
        self._beat = self.holder = None
        if self._base is None:
            self._base = _find_base()
        if beat.work is not None:
            if beat.latest == self._watchdog.latest:
                beat.seen = self._read_times()
            self._watchdog.report_callback(*beat.measure_beat())

    def _sample_loop(self) -> None:
        interval, last = _INTERVAL, self._read_times()
        while not self._ended.acquire(timeout=interval):
            now = self._read_times()
            with suppress(RuntimeError):  # the loop was closed
                is_late = self._check_once(now)
                idle = not is_late and now[1] - last[1] < _IDLE_SHARE * (now[0] - last[0])
                interval = min(interval * 2, _IDLE_INTERVAL) if idle else _INTERVAL
            last = now

    def _read_times(self) -> Times:
        now = time.perf_counter()
        return now, time.clock_gettime(self._clock) if self._clock is not None else now

    def _check_once(self, now: Times) -> bool:
        """Check the loop once, and return whether the beat is late."""
        beat, limit = self._beat, self._watchdog.limit
        if beat is None:
            self._send_beat(now)
            return False
        if beat.latest != self._watchdog.latest:  # other work has begun: only that may still hold the loop
            if beat.work is not None:
                self._loop.call_soon_threadsafe(self._watchdog.report_callback, *beat.measure_beat())
            beat.begin(now, self._watchdog)
        elif beat.work is None and now[0] - beat.began[0] > limit / 2:
            if calls := self._read_calls():
                beat.work = _describe_callback(calls)
            else:
                beat.began = now
        beat.seen = now
        self.holder = beat.work if now[0] - beat.began[0] > limit else None
        return True

    def _read_calls(self) -> list[StackFrame]:
        """Return the call stack of the present callback, innermost first; empty while the loop waits."""
        calls = self._stacks.read_stack(self._ident)
        if not is_whole(calls) or self._base is None:
            return calls
        if calls and calls[-1].file == slices.__file__:
            return calls  # sliced work has its own stack
        depth, innermost = self._base
        if len(calls) <= depth or calls[-depth].function_key != innermost:
            return []  # the thread no longer runs this loop
        del calls[-depth:]
        if calls and calls[-1].function_key == _TURN:
            if len(calls) < 2 or calls[-2].function_key != _CALL:
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
    own_calls = [call for call in calls if _PACKAGE in Path(call.file).parents and call.file not in _RUNNERS]
    outermost, innermost = (own_calls[-1], own_calls[0]) if own_calls else (calls[-1], calls[0])
    line = f"at {_module_of(innermost)}:{innermost.line}"
    return Work("callback", f"{_module_of(outermost)}.{outermost.function}", "", line)


def _module_of(call: StackFrame) -> str:
    """Return the name of a frame's module, without "podless." for our own."""
    path = Path(call.file)
    path = path.relative_to(_PACKAGE) if _PACKAGE in path.parents else Path(path.name)
    return ".".join(path.with_suffix("").parts)
