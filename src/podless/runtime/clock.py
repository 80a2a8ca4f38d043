"""The clock of a server: the time in its objects, and of everything that expires.

A server's work finds its clock in its context; all contexts without a clock share one. No other module reads the
machine's time of day (`tests/architecture.py`). Durations are measured with `time.monotonic` and similar functions.
"""

from __future__ import annotations

import time as system
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime

from podless.runtime.bounded import bounded_cache


class Clock:
    """The system's time, plus the seconds by which a test has advanced it."""

    def __init__(self) -> None:
        self.shift = 0.0
        self._listeners: dict[object, Callable[[float], None]] = {}

    def time(self) -> float:
        """Return the present time, in seconds since 1970."""
        return system.time() + self.shift

    def add_listener(self, listener: Callable[[float], None]) -> Callable[[], None]:
        """Call the listener with the seconds of each advance of the clock. The returned function ends this."""
        mark = object()
        self._listeners[mark] = listener
        return lambda: self._listeners.pop(mark, None) and None

    def advance(self, seconds: float) -> None:
        """Move the clock forward, and notify listeners whose deadlines may have passed.

        Raises ValueError for a negative step.
        """
        if seconds < 0:
            raise ValueError("the clock cannot go back")
        self.shift += seconds
        for listener in list(self._listeners.values()):
            listener(seconds)


_MAX_AHEAD = 1 << 32
CURRENT: ContextVar[Clock] = ContextVar("clock", default=Clock())  # noqa: B039 (the shared clock never advances)
_current = CURRENT.get


def time() -> float:
    """Return the present time, in seconds since 1970."""
    return system.time() + _current().shift


def wall_time() -> float:
    """Return the machine's time, in seconds since 1970, to compare with other machines. Tests cannot advance it."""
    return system.time()


def utc_now() -> datetime:
    """Return the present time, in UTC."""
    return datetime.fromtimestamp(time(), UTC)


def now(ahead: int = 0) -> str:
    """Return the present time in RFC 3339, whole seconds, in UTC. ahead: seconds to add, at most 2**32."""
    return format_time(int(system.time() + _current().shift) + (min(ahead, _MAX_AHEAD) if ahead else 0))


@bounded_cache(4)
def format_time(second: int) -> str:
    """Return a time, in seconds since 1970, in the form of timestamps in objects."""
    return system.strftime("%Y-%m-%dT%H:%M:%SZ", system.gmtime(second))
