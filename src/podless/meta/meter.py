"""What a piece of work may still cost: walks charge it at their loop heads, and end where its time is over.

The meter belongs to the context that the work runs in. Work without a meter is charged nothing and never ends early.
"""

from __future__ import annotations

import math
import time
from contextvars import ContextVar

from podless.meta.errors import Timeout

_LOOK = 4096  # steps between two looks at the clock: one to four milliseconds of most walks
LATE = "Timeout: request did not complete within the allotted timeout"


class Meter:
    """The processor time of one piece of work. seconds: of the thread that makes the meter and does the work.

    left: steps until the next look at the clock.
    """

    __slots__ = ("_until", "left")

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds
        self.left: float = _LOOK

    def look(self) -> None:
        """Raise Timeout where the time is over."""
        if time.thread_time() > self._until:
            raise Timeout(LATE, {})
        self.left = _LOOK


class _Unmetered(Meter):
    """Of work that may take as long as it takes."""

    __slots__ = ()

    def __init__(self) -> None:
        self._until = math.inf
        self.left = math.inf


METER: ContextVar[Meter] = ContextVar("meter", default=_Unmetered())  # noqa: B039 (it never changes: inf - n is inf)
_current = METER.get


def charge(steps: int) -> None:
    """Count steps of the work under way, at the head of the loop that takes them. Raises Timeout."""
    meter = _current()
    meter.left -= steps
    if meter.left < 0:
        meter.look()
