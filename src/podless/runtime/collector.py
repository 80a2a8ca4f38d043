"""Python's garbage collector: long work pauses it, and a server limits what it looks through.

While work makes or frees many objects without cycles, the collector would scan the new objects again and again, a
second or more for one large object. All objects that such work creates are young when the pause ends, and a run over a
million objects blocks the loop for too long: it holds the interpreter for 0.2 to 1 us per object. So the objects of
each run are estimated before it. If they are too many, all objects are exempted from collection, like those of the
start, which takes no time. Exempt objects are freed as usual when nothing refers to them; only unreachable cycles stay.
Requests leave none (tests/http/test_garbage.py). A run over all objects, which cannot be divided, collects those of
anything else: while the loop is idle, and only while there are few objects.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal

MAX: Final = 50_000  # objects that one run looks through while requests may wait
# blocks of memory that are allocated and not freed between two runs over all objects; 100,000 take about 10 MB
_MIN_NEW: Final = 100_000
# maximum of a run over all objects, which takes up to 90 ms for them; a new server has 230,000
_MAX_BLOCKS: Final = 500_000
_OBSERVED: Final = 1.0  # seconds for which the loop is observed to see whether it is idle
_MAX_OBSERVED: Final = 64.0  # the same, if it was busy or the blocks were too many several times in succession
_IDLE_SHARE: Final = 0.05  # share of this time; a loop that works less is idle
# young objects that start a run, and runs that start one of the next generation: the middle one stays small
_THRESHOLDS: Final = 5_000, 4, 100
# seconds of processor time of one pause, more than most requests take; elapsed time would depend on the machine's load
MAX_PAUSE = 30.0


class CollectorPause:
    """Counts the callers that need the collector paused: threads share it, so their pauses overlap.

    max_seconds: seconds of processor time after which it runs anyway. Each caller that begins or ends a pause also ends
    one that has lasted for so long, so overlapping requests cannot keep the collector off for long.
    """

    def __init__(self, max_seconds: float = MAX_PAUSE) -> None:
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self._callers = 0  # callers in the present pause
        self._number = 0  # number of the present pause: `end_pause` ignores numbers of earlier ones
        self._until = 0.0  # processor time at which the present pause ends

    def pause_collector(self) -> int:
        """Pause the collector. Return a number to pass to `end_pause`."""
        with self._lock:
            self._end_if_late()
            if not self._callers:
                if not gc.isenabled():  # the program has switched it off, and it stays off
                    return -1
                gc.disable()
                self._until = time.process_time() + self._max_seconds
            self._callers += 1
            return self._number

    def end_pause(self, number: int) -> None:
        """End the pause of one caller; the collector runs again after the last."""
        with self._lock:
            if number == self._number:
                self._callers -= 1
                if not self._callers:
                    self._resume_collector()
            self._end_if_late()

    def _end_if_late(self) -> None:
        if self._callers and time.process_time() > self._until:
            self._resume_collector()

    def _resume_collector(self) -> None:
        self._callers = 0
        self._number += 1
        gc.enable()


PAUSE = CollectorPause()


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the collector within the block."""
    number = PAUSE.pause_collector()
    try:
        yield
    finally:
        PAUSE.end_pause(number)


class Collector:
    """The collector of a process that serves on one event loop. Call `start` and `stop` on this loop.

    objects: maximum of one run. new: minimum of new blocks for a run over all objects. blocks: its maximum of blocks.
    observed: seconds for which the loop is observed.
    """

    def __init__(
        self, objects: int = MAX, new: int = _MIN_NEW, blocks: int = _MAX_BLOCKS, observed: float = _OBSERVED
    ) -> None:
        self._max_objects = objects
        self._min_new_blocks = new
        self._max_blocks = blocks
        self._min_seconds = self._observed_seconds = observed
        self._second = self._last = 0  # maximum objects of these generations
        self._baseline = 0  # the smallest number of blocks since the last run over all objects
        self._time_before = 0.0  # processor time of the loop's thread when the timer was set
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop

    def start(self) -> None:
        """Exempt the objects of the start, because they live as long as the process, and begin to collect."""
        self._loop = asyncio.get_running_loop()
        gc.freeze()
        self._baseline = sys.getallocatedblocks()
        gc.set_threshold(*_THRESHOLDS)
        gc.callbacks.append(self._before_run)
        gc.enable()

    def stop(self) -> None:
        """Stop limiting the runs. Exempt objects stay exempt."""
        if self._before_run in gc.callbacks:
            gc.callbacks.remove(self._before_run)
        if self._timer is not None:
            self._timer.cancel()

    def _before_run(self, phase: Literal["start", "stop"], info: dict[str, int]) -> None:
        """Exempt all objects if the run would look through too many. Called on any thread, before and after a run."""
        if phase == "stop":
            return
        young, generation = gc.get_count()[0], info["generation"]
        self._second += young
        if generation == 0:
            if young > self._max_objects:
                self._exempt_all()
            return
        if self._second > self._max_objects:
            self._exempt_all()
            return
        self._last += self._second
        self._second = 0
        if generation == 2 and self._last > self._max_objects:
            self._exempt_all()
        elif 2 * self._last > self._max_objects:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._limit_last)

    def _exempt_all(self) -> None:
        gc.freeze()
        self._second = self._last = 0
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._observe_loop)

    def _limit_last(self) -> None:
        """Collect the last generation, and exempt the rest, so that later runs do not look through it again."""
        if 2 * self._last > self._max_objects:  # false if a run since then has reduced the number
            gc.collect()
            self._exempt_all()

    def _observe_loop(self) -> None:
        if self._timer is None:
            self._time_before = time.thread_time()
            self._timer = self._loop.call_later(self._observed_seconds, self._examine_all)

    def _examine_all(self) -> None:
        """Collect among all objects if some memory may be garbage, the objects are few and the loop is idle."""
        self._timer = None
        # before the blocks are counted, which takes 0.1 ms per million of them
        idle = gc.isenabled() and time.thread_time() - self._time_before < self._observed_seconds * _IDLE_SHARE
        blocks = sys.getallocatedblocks()  # to count the exempt objects takes 1,000 times as long
        self._baseline = min(self._baseline, blocks)
        may_be_garbage = blocks - self._baseline > self._min_new_blocks
        if may_be_garbage and (not idle or blocks > self._max_blocks):
            self._observed_seconds = min(2 * self._observed_seconds, _MAX_OBSERVED)
            self._observe_loop()
            return
        self._observed_seconds = self._min_seconds
        if not may_be_garbage:
            return  # the next exemption examines them again
        gc.callbacks.remove(self._before_run)
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        gc.callbacks.append(self._before_run)
        self._second = self._last = 0
        self._baseline = sys.getallocatedblocks()
