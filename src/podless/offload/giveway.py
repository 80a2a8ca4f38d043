"""A meter for work on a thread beside the event loop, which gives way while the loop has something to do.

The interpreter is shared. The loop gives it up and takes it again several times within one request: for each socket,
and for each statement of SQLite. Each time it waits until the other thread gives it back. So the work pauses while the
loop's thread uses processor time. The pauses are limited to a multiple of the time that the work has run, so that it
goes on when the loop always has something to do.
"""

from __future__ import annotations

import time

from podless.runtime.meter import CPUMeter

_LOOK = 512  # steps between two looks at the loop: a quarter of a millisecond of most walks
_LITTLE = 0.00002  # seconds of processor time of the loop's thread that are no work: it found nothing to do
_PAUSE = 0.0005  # seconds of a pause, after which the work looks again
_SHARE = 4.0  # times as long as it has run the work may pause
_MOST = 0.02  # seconds that it may pause in one go


class GivingMeter(CPUMeter):
    """The processor time of work that gives way. seconds: as of `CPUMeter`. loop: the clock of the loop's thread."""

    __slots__ = ("_allowed", "_began", "_loop", "_seen")

    def __init__(self, seconds: float, loop: int) -> None:
        super().__init__(seconds)
        self._loop = loop
        self._seen = time.clock_gettime(loop)
        self._began = time.thread_time()
        self._allowed = _MOST
        self.left = _LOOK

    def check_time(self) -> None:
        super().check_time()
        self.left = _LOOK
        self.give_way()

    def give_way(self) -> None:
        """Pause while the loop is at work, as long as the work may."""
        now = time.thread_time()
        self._allowed = min(_MOST, self._allowed + (now - self._began) * _SHARE)
        self._began = now
        seen = time.clock_gettime(self._loop)
        while seen - self._seen > _LITTLE and self._allowed > 0.0:
            self._seen = seen
            self._allowed -= _PAUSE
            time.sleep(_PAUSE)
            seen = time.clock_gettime(self._loop)
        self._seen = seen


def make_meter(seconds: float, loop: int | None) -> CPUMeter:
    """Return the meter for work on a thread. loop: the clock of the loop's thread, None if there is none."""
    return CPUMeter(seconds) if loop is None else GivingMeter(seconds, loop)
