"""How long the event loop is held by one piece of work: what holds it for long is told in the log, and counted.

While the loop is held nobody is served, so this is what one client can take from all others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Generator
from time import perf_counter as _clock
from types import TracebackType
from typing import Any, NamedTuple

log = logging.getLogger("podless")

LONG = 0.1  # seconds; what holds the loop for longer is told


class Work(NamedTuple):
    """What was done. sort: such as request, verb: such as list; both are few. who, what: for the log."""

    sort: str
    verb: str
    who: str
    what: str


class Watchdog:
    """Counts what held the loop for long. long: from so many seconds on."""

    __slots__ = ("counts", "long", "seconds", "worst")

    def __init__(self, long: float = LONG) -> None:
        self.long = long
        self.counts: dict[tuple[str, str], int] = {}
        self.seconds: dict[tuple[str, str], float] = {}
        self.worst = 0.0

    def tell(self, seconds: float, work: Work) -> None:
        """Something held the loop for long."""
        key = work.sort, work.verb
        self.counts[key] = self.counts.get(key, 0) + 1
        self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.worst = max(self.worst, seconds)
        who = f" of {work.who}" if work.who else ""
        log.warning("%s %s %s%s held the loop for %d ms", work.sort, work.verb, work.what, who, seconds * 1000)

    def steps(self, work: Coroutine[Any, Any, Any], about: Callable[[], Work]) -> Steps:
        """The same work, with an eye on each of its steps. about: what it is, asked where one is long."""
        return Steps(work, self, about)


class Steps(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are measured."""

    __slots__ = ("_about", "_send", "_watchdog", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], watchdog: Watchdog, about: Callable[[], Work]) -> None:
        self._work = work
        self._send = work.send
        self._watchdog = watchdog
        self._about = about

    def send(self, value: Any) -> Any:
        """One step."""
        began = _clock()
        try:
            return self._send(value)
        finally:
            if _clock() - began > self._watchdog.long:
                self._watchdog.tell(_clock() - began, self._about())

    def __next__(self) -> Any:  # as `send`, which nearly every step would call
        began = _clock()
        try:
            return self._send(None)
        finally:
            if _clock() - began > self._watchdog.long:
                self._watchdog.tell(_clock() - began, self._about())

    def __iter__(self) -> Steps:
        return self

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # it has all of one

    def throw(self, type_: Any, value: BaseException | object = None, traceback: TracebackType | None = None, /) -> Any:
        """One step that begins with an exception."""
        if value is None and traceback is None:
            return self._work.throw(type_)
        return self._work.throw(type_, value, traceback)

    def close(self) -> None:
        """End it."""
        self._work.close()
