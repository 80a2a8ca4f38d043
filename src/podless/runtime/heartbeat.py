"""A thread that looks at the thread of an event loop, and finds the callbacks that hold it for long.

Requests and controllers measure their steps themselves (runtime/watchdog.py). Everything else that a loop calls
(timers, deliveries, commits, bytes that come in) is found from outside, so nothing is paid for a callback. The thread
looks at the loop's frames and its processor time 50 times a second, and 5 times where the loop has nothing to do. It
has the loop call it back too (a beat). A callback that is there at two looks, with no beat and no other work begun in
between, has held the loop since the first. So what is measured is at most an interval short. Callbacks of one function
in one turn of the loop count as one: they keep clients waiting as well as one does.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextlib import suppress
from types import CodeType, FrameType

from podless.runtime import slices, watchdog
from podless.runtime.gcpause import PAUSE
from podless.runtime.watchdog import Watchdog, Work

_EVERY = 0.02  # seconds between two looks
_IDLE = 0.2  # the same where the loop has nothing to do
_LITTLE = 0.02  # of the time between two looks; a loop that works for less has nothing to do
_RUN = {slices.__file__, watchdog.__file__}  # what only runs other work
_PACKAGE = __name__.partition(".")[0] + "."
# what asyncio's own loop runs a callback with; uvloop's has no frames
_TURN = getattr(asyncio.BaseEventLoop, "_run_once").__code__  # noqa: B009
_CALL = getattr(asyncio.Handle, "_run").__code__  # noqa: B009


class _Callback:
    """A callback that is under way. began, seen: when it was seen first and last, in elapsed and processor time.

    beat: the last one that was sent before. moved, told: those of the watchdog by then.
    """

    __slots__ = ("beat", "began", "frame", "moved", "seen", "told", "work")

    def __init__(
        self, frame: tuple[int, CodeType], began: tuple[float, float], beat: int, moved: int, told: int
    ) -> None:
        self.frame = frame
        self.began = self.seen = began
        self.beat = beat
        self.moved = moved
        self.told = told
        self.work: Work | None = None


class Heartbeat:
    """Looks at one event loop. `start` and `stop` it there."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog
        self._loop: asyncio.AbstractEventLoop
        self._thread: threading.Thread | None = None
        self._ended = threading.Lock()
        self._base: FrameType | None = None  # the frame that runs the loop
        self._sent = self._beaten = 0  # beats
        self._callback: _Callback | None = None

    def start(self) -> None:
        """Begin to look at the running loop, on whose thread this is called."""
        self._loop = asyncio.get_running_loop()
        self._ident = threading.get_ident()
        self._clock: int | None = None
        if hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(self._ident)
        self._ended.acquire()
        self._send()
        self._thread = threading.Thread(target=self._run, name="podless-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        if self._thread is not None:
            self._ended.release()
            self._thread.join()
            self._thread = self._base = None

    def _send(self) -> None:
        self._sent += 1
        self._loop.call_soon_threadsafe(self._beat, self._sent)

    def _beat(self, number: int) -> None:
        """On the loop: it has got here."""
        self._beaten = number
        frame = sys._getframe().f_back
        while frame is not None and frame.f_code in (_CALL, _TURN):
            frame = frame.f_back
        self._base = frame

    def _run(self) -> None:
        with _Delay() as delay:
            every, last = _EVERY, self._now()
            due = last[0] + every
            while not self._ended.acquire(timeout=every):
                now, waited = self._now(), delay.read()
                # late for want of a processor, or else of the interpreter, which one long call in C has kept
                kept = min(now[0] - due - waited, now[1] - last[1])
                with suppress(RuntimeError):  # the loop is closed
                    busy = self._look(now, kept if kept > _EVERY else 0.0)
                    little = not busy and now[1] - last[1] < _LITTLE * (now[0] - last[0])
                    every = min(every * 2, _IDLE) if little else _EVERY
                last, due = now, time.perf_counter() + every

    def _now(self) -> tuple[float, float]:
        """Elapsed time, and the processor time of the loop's thread."""
        now = time.perf_counter()
        return now, time.clock_gettime(self._clock) if self._clock is not None else now

    def _look(self, now: tuple[float, float], kept: float) -> bool:
        """Look once. kept: seconds for which the loop has kept the interpreter. Returns whether it does something."""
        frame = self._outermost()
        found = (id(frame), frame.f_code) if frame is not None else None
        known, told = self._callback, self._watchdog
        if known is not None and (known.beat < self._beaten or (known.frame, known.moved) != (found, told.moved)):
            self._callback = None
            self._end(known)
            known = None
        if found is None:
            return False
        if known is None:
            began = now[0] - kept, now[1] - kept
            self._callback = known = _Callback(found, began, self._sent, told.moved, told.told)
            self._send()
        known.seen = now
        if known.work is None and now[0] - known.began[0] > told.long:
            known.work = _name(self._frames())
        return True

    def _end(self, callback: _Callback) -> None:
        """A callback is over, or another one has begun."""
        elapsed, processor = (seen - began for seen, began in zip(callback.seen, callback.began, strict=True))
        if callback.work is not None:
            self._loop.call_soon_threadsafe(
                self._watchdog.tell_callback, elapsed, processor, callback.work, callback.told
            )

    def _frames(self) -> list[FrameType]:
        """What the loop calls at present, the innermost first; none while it waits."""
        # it holds a lock of the interpreter, and a collection meanwhile can end in a deadlock (CPython before 3.12.2)
        frame = PAUSE.run(sys._current_frames).get(self._ident)
        frames: list[FrameType] = []
        while frame is not None and frame is not self._base:
            frames.append(frame)
            frame = frame.f_back
        if frame is None and not (frames and frames[-1].f_code.co_filename == slices.__file__):
            return []  # the thread does not run the loop; work in slices has frames of its own
        if frames and frames[-1].f_code is _TURN:
            if len(frames) < 2 or frames[-2].f_code is not _CALL:
                return []
            del frames[-2:]
        return frames

    def _outermost(self) -> FrameType | None:
        frames = self._frames()
        return frames[-1] if frames else None


def _name(frames: list[FrameType]) -> Work:
    """What a callback is: the first function of podless that it called, and where it is now."""
    ours = [frame for frame in frames if _module(frame).startswith(_PACKAGE) and frame.f_code.co_filename not in _RUN]
    if not ours:
        ours = frames or [sys._getframe()]
    outer, inner = ours[-1], ours[0]
    name = f"{_module(outer)}.{outer.f_code.co_qualname}"
    return Work("callback", name.removeprefix(_PACKAGE), "", f"at {_module(inner)}:{inner.f_lineno}")


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


class _Delay:
    """How long this thread was ready to run and had no processor."""

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
