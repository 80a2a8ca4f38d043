"""The clock of a server, which tests can advance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from podless.runtime.clock import Clock


class ServerTime:
    """The clock of a server, for timestamps and for everything that expires.

    call_on_loop: runs a function on the server's loop, and waits for it.
    """

    def __init__(self, clock: Clock, call_on_loop: Callable[[Callable[[], None]], None]) -> None:
        self._clock = clock
        self._call_on_loop = call_on_loop

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.time(), UTC)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Move the clock forward: Events, tokens and history expire, watches get bookmarks or end.

        Raises ValueError for a negative time.
        """
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()
        self._call_on_loop(lambda: self._clock.advance(step))
