"""Measures how long pieces of work hold the event loop, and logs and counts long ones.

While the loop is held, no request is served, so one client can delay all others. Requests and controllers measure their
steps here; runtime/heartbeat.py finds other callbacks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Generator
from time import perf_counter as _clock
from types import TracebackType
from typing import Any, NamedTuple

log = logging.getLogger("podless")

LONG = 0.1  # seconds; work that holds the loop for longer is logged


class Work(NamedTuple):
    """The description of a piece of work.

    sort: such as request, verb: such as list; both have few values. who: its user, what: its object; only for the log.
    """

    sort: str
    verb: str
    who: str
    what: str


class Watchdog:
    """Counts work that held the loop for long. long: the limit in seconds. told: how often it was exceeded.

    level: of the log. busiest: the callback with the longest processor time that `tell_callback` received, and this
    time in seconds. moved: grows with each piece of work that reports itself.
    """

    __slots__ = ("busiest", "counts", "level", "long", "moved", "seconds", "told", "worst")

    def __init__(self, long: float = LONG) -> None:
        self.long = long
        self.level = logging.WARNING
        self.counts: dict[tuple[str, str], int] = {}
        self.seconds: dict[tuple[str, str], float] = {}
        self.worst = 0.0
        self.told = self.moved = 0
        self.busiest: tuple[float, Work | None] = 0.0, None

    def report_block(self, seconds: float, work: Work) -> None:
        """Log and count work that held the loop for long."""
        self._count(seconds, work)
        who = f" of {work.who}" if work.who else ""
        text = "loop: %s %s %s%s held the loop for %d ms"
        log.log(self.level, text, work.sort, work.verb, work.what, who, seconds * 1000)

    def tell_callback(self, seconds: float, processor: float, work: Work, told: int) -> None:
        """Log and count a callback that the heartbeat saw holding the loop. told: `told` when the callback began.

        seconds: elapsed. processor: seconds of the loop's thread, which do not grow on a busy machine. Work that
        reported itself meanwhile is not counted again.
        """
        if processor > self.busiest[0]:
            self.busiest = processor, work
        if told == self.told and seconds > self.long:
            self._count(seconds, work)
            text = "loop: %s %s %s held the loop for %d ms (processor: %d ms)"
            log.log(self.level, text, work.sort, work.verb, work.what, seconds * 1000, processor * 1000)

    def _count(self, seconds: float, work: Work) -> None:
        self.told += 1
        key = work.sort, work.verb
        self.counts[key] = self.counts.get(key, 0) + 1
        self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.worst = max(self.worst, seconds)

    def steps(self, work: Coroutine[Any, Any, Any], about: Callable[[], Work]) -> MeasuredCoroutine:
        """Return the work with each step measured. about: returns its description, called for a long step."""
        return MeasuredCoroutine(work, self, about)


class MeasuredCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are measured."""

    __slots__ = ("_about", "_send", "_watchdog", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], watchdog: Watchdog, about: Callable[[], Work]) -> None:
        self._work = work
        self._send = work.send
        self._watchdog = watchdog
        self._about = about

    def send(self, value: Any) -> Any:
        self._watchdog.moved += 1
        began = _clock()
        try:
            return self._send(value)
        finally:
            if _clock() - began > self._watchdog.long:
                self._watchdog.report_block(_clock() - began, self._about())

    def __next__(self) -> Any:  # not `send(None)`: nearly every step would pay for one more call
        self._watchdog.moved += 1
        began = _clock()
        try:
            return self._send(None)
        finally:
            if _clock() - began > self._watchdog.long:
                self._watchdog.report_block(_clock() - began, self._about())

    def __iter__(self) -> MeasuredCoroutine:
        return self

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # it implements the generator protocol

    def throw(self, type_: Any, value: BaseException | object = None, traceback: TracebackType | None = None, /) -> Any:
        """Start a step with an exception."""
        if value is None and traceback is None:
            return self._work.throw(type_)
        return self._work.throw(type_, value, traceback)

    def close(self) -> None:
        self._work.close()
