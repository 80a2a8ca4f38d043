"""A meter for work on a thread beside the event loop, which pauses the work while the loop is busy.

Threads share the GIL. The loop releases and takes it several times within one request: for each socket, and for each
statement of SQLite. Each time it waits until the other thread releases it. So the work pauses while the loop's thread
uses processor time. The pauses are limited to a multiple of the time that the work has run, so that it makes progress
even if the loop is always busy.
"""

from __future__ import annotations

import time

from podless.runtime.meter import CPUMeter

_LOOK = 512  # steps between two checks of the loop: a quarter of a millisecond of most tree walks
_LITTLE = 0.00002  # seconds of processor time; if the loop's thread used less, it was idle
_PAUSE = 0.0005  # seconds of a pause, after which the work checks again
_SHARE = 4.0  # seconds of pauses allowed for each second of work
_MAX = 0.02  # maximum seconds of pauses at one check


class YieldingMeter(CPUMeter):
    """The limit of `CPUMeter` for work that pauses while the loop is busy. loop: clock id of the loop's thread."""

    __slots__ = ("_allowed", "_began", "_loop", "_loop_time")

    def __init__(self, seconds: float, loop: int) -> None:
        super().__init__(seconds)
        self._loop = loop
        self._loop_time = time.clock_gettime(loop)
        self._began = time.thread_time()
        self._allowed = _MAX
        self.steps_left = _LOOK

    def check_time(self) -> None:
        super().check_time()
        self.steps_left = _LOOK
        self.give_way()

    def give_way(self) -> None:
        """Pause while the loop is busy, within the limits."""
        now = time.thread_time()
        self._allowed = min(_MAX, self._allowed + (now - self._began) * _SHARE)
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
