"""The time as objects carry it, and as all goes by that expires.

A server's clock is that of the context its work runs in; there is one clock for all who set none. No other module reads
the machine's time of day (`tests/architecture.py`): how long something took is told by `time.monotonic` and its like.
"""

from __future__ import annotations

import time as system
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime

from podless.runtime.bounded import bounded_cache


class Clock:
    """The system's time, and as much more as it was advanced."""

    def __init__(self) -> None:
        self.shift = 0.0
        self._listeners: dict[object, Callable[[float], None]] = {}

    def time(self) -> float:
        """Return what it shows, in seconds since 1970."""
        return system.time() + self.shift

    def listen(self, listener: Callable[[float], None]) -> Callable[[], None]:
        """Call the listener with the seconds whenever the clock is advanced. Returns what ends that."""
        mark = object()
        self._listeners[mark] = listener
        return lambda: self._listeners.pop(mark, None) and None

    def advance(self, seconds: float) -> None:
        """Go forward at once, and have all looked at that may be due by that. Raises ValueError for going back."""
        if seconds < 0:
            raise ValueError("the clock cannot go back")
        self.shift += seconds
        for listener in list(self._listeners.values()):
            listener(seconds)


CURRENT: ContextVar[Clock] = ContextVar("clock", default=Clock())  # noqa: B039 (nobody advances the one of all)
_current = CURRENT.get


def time() -> float:
    """Return the present time, in seconds since 1970."""
    return system.time() + _current().shift


def wall_time() -> float:
    """Return the machine's time, in seconds since 1970: for what others compare with theirs. No test moves it."""
    return system.time()


def utc_now() -> datetime:
    """Return the present time, in UTC."""
    return datetime.fromtimestamp(time(), UTC)


def now(ahead: int = 0) -> str:
    """The present time: RFC 3339, whole seconds, in UTC. ahead: so many seconds later, years at the most."""
    return _moment(int(system.time() + _current().shift) + (min(ahead, _FAR) if ahead else 0))


_FAR = 1 << 32


def format_time(second: int) -> str:
    """A second since 1970 as objects carry it."""
    return _moment(second)


@bounded_cache(4)
def _moment(second: int) -> str:
    return system.strftime("%Y-%m-%dT%H:%M:%SZ", system.gmtime(second))
