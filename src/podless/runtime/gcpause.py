"""Pauses Python's garbage collector while work makes or frees many objects without cycles.

The collector would scan the new objects again and again, a second or more for one large object. A process has one
collector, so overlapping pauses of several threads are counted. Each caller that begins or ends a pause also ends one
that has lasted for 30 s of processor time. So overlapping requests cannot keep the collector off for long.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# seconds of processor time of one pause, more than most requests take; elapsed time would depend on the machine's load
MAX_PAUSE = 30.0


class CollectorPause:
    """Counts the callers that need the collector paused.

    max_seconds: seconds of processor time after which it runs anyway.
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
