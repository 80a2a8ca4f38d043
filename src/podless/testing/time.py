"""The clock of a server, which a test may move."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from podless.runtime.clock import Clock


class ServerTime:
    """What a server takes for the time: for what it writes into objects, and for all that expires.

    there: does something on the server's loop, and returns when it is done.
    """

    def __init__(self, clock: Clock, there: Callable[[Callable[[], None]], None]) -> None:
        self._clock = clock
        self._there = there

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.time(), UTC)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Go forward: events, tokens and history expire by that, and watches get their bookmarks, or end.

        Raises ValueError for going back.
        """
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()
        self._there(lambda: self._clock.advance(step))
