"""Pauses Python's garbage collector while work makes or frees many objects without cycles.

The collector would scan the new objects again and again, a second or more for one large object. A process has one
collector, so overlapping pauses of several threads are counted. A pause ends after 30 s of processor time at the
latest, so that overlapping requests cannot keep the collector off for long.
"""

from __future__ import annotations

import _thread
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# seconds of processor time of one pause, more than most requests take; elapsed time would depend on the machine's load
MOST = 30.0
_LOOK = 0.05  # minimum seconds between two checks of a pause


class Pause:
    """Counts the callers that need the collector paused. most: seconds of processor time after which it runs anyway."""

    def __init__(self, most: float = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._wanted = 0  # callers in the present pause
        self._number = 0  # number of the present pause: `end_pause` ignores numbers of earlier ones
        self._ended = threading.Lock()  # held during a pause

    def pause_collector(self) -> int:
        """Pause the collector. Return a number to pass to `end_pause`."""
        with self._lock:
            if not self._wanted:
                if not gc.isenabled():  # the program has switched it off, and it stays off
                    return -1
                gc.disable()
                self._ended = threading.Lock()
                self._ended.acquire()
                # Thread.start would wait until the thread runs
                _thread.start_new_thread(self._watch, (self._number, self._ended))
            self._wanted += 1
            return self._number

    def end_pause(self, number: int) -> None:
        """End the pause of one caller; the collector runs again after the last."""
        with self._lock:
            if number == self._number:
                self._wanted -= 1
                if not self._wanted:
                    self._go_on()

    def _watch(self, number: int, ended: threading.Lock) -> None:
        """Watch a pause on a separate thread, and end it if it takes too long."""
        until = time.process_time() + self._most
        while (left := until - time.process_time()) > 0:
            if ended.acquire(timeout=max(left, min(self._most, _LOOK))):
                return
        with self._lock:
            if number == self._number and self._wanted:
                self._go_on()

    def _go_on(self) -> None:
        self._wanted = 0
        self._number += 1
        gc.enable()
        if self._ended.locked():
            self._ended.release()


PAUSE = Pause()


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the collector within the block."""
    number = PAUSE.pause_collector()
    try:
        yield
    finally:
        PAUSE.end_pause(number)
