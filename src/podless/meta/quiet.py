"""The garbage collector rests while something large is made, or goes: for some seconds, whatever happens.

It would look through a large object again and again while that is made, a second and more of the interpreter, and for
half a second when it is there; what JSON becomes has no circles.
"""

from __future__ import annotations

import _thread
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# seconds of processor time in one go, more than most requests take; time itself is longer where others want the machine
MOST = 30.0
_LOOK = 0.05  # seconds between two looks at least


class Rest:
    """When the collector of the process rests. most: seconds of processor time after which it goes on all the same."""

    def __init__(self, most: float = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._wanted = 0  # how many want it to rest
        self._number = 0  # of this rest: who began in another one has no say in this one
        self._ended = threading.Lock()  # held while it rests

    def begin(self) -> int:
        """It rests from now on. Returns what `end` is to be told."""
        with self._lock:
            if not self._wanted:
                if not gc.isenabled():  # by somebody else's wish, which stays as it is
                    return -1
                gc.disable()
                self._ended = threading.Lock()
                self._ended.acquire()
                _thread.start_new_thread(self._watch, (self._number, self._ended))  # others wait until one has begun
            self._wanted += 1
            return self._number

    def end(self, number: int) -> None:
        """One needs it no more; with the last the collector goes on."""
        with self._lock:
            if number == self._number:
                self._wanted -= 1
                if not self._wanted:
                    self._go_on()

    def _watch(self, number: int, ended: threading.Lock) -> None:
        """A thread for as long as it rests."""
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


REST = Rest()  # there is one collector


@contextmanager
def quiet() -> Iterator[None]:
    """Meanwhile the garbage collector rests."""
    number = REST.begin()
    try:
        yield
    finally:
        REST.end(number)
