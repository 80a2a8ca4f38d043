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

LONG_STEP = 0.1  # seconds; work that holds the loop for longer is logged


class Work(NamedTuple):
    """The description of a piece of work.

    kind: such as request, verb: such as list; both have few values. user, target: only for the log.
    """

    kind: str
    verb: str
    user: str
    target: str


class Watchdog:
    """Counts work that held the loop for long. limit: in seconds. reported: how often it was exceeded.

    level: of the log. busiest: the callback with the longest processor time that `report_callback` received, and this
    time in seconds. latest: when the last piece of work that reports itself began, by the performance counter.
    """

    __slots__ = ("busiest", "counts", "latest", "level", "limit", "reported", "seconds", "worst")

    def __init__(self, limit: float = LONG_STEP) -> None:
        self.limit = limit
        self.level = logging.WARNING
        self.counts: dict[tuple[str, str], int] = {}
        self.seconds: dict[tuple[str, str], float] = {}
        self.worst = 0.0
        self.reported = 0
        self.latest = 0.0
        self.busiest: tuple[float, Work | None] = 0.0, None

    def report_block(self, seconds: float, work: Work) -> None:
        """Log and count work that held the loop for long."""
        self._count_block(seconds, work)
        of_user = f" of {work.user}" if work.user else ""
        text = "loop: %s %s %s%s held the loop for %d ms"
        log.log(self.level, text, work.kind, work.verb, work.target, of_user, seconds * 1000)

    def report_callback(self, seconds: float, processor: float, work: Work, reported: int) -> None:
        """Log and count a callback that the heartbeat saw holding the loop.

        reported: the counter when the callback began. seconds: elapsed. processor: seconds of the loop's thread, which
        do not grow on a busy machine. Work that reported itself meanwhile is not counted again.
        """
        if processor > self.busiest[0]:
            self.busiest = processor, work
        if reported == self.reported and seconds > self.limit:
            self._count_block(seconds, work)
            text = "loop: %s %s %s held the loop for %d ms (processor: %d ms)"
            log.log(self.level, text, work.kind, work.verb, work.target, seconds * 1000, processor * 1000)

    def _count_block(self, seconds: float, work: Work) -> None:
        self.reported += 1
        key = work.kind, work.verb
        self.counts[key] = self.counts.get(key, 0) + 1
        self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.worst = max(self.worst, seconds)


class MeasuredCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are measured. describe: returns its description, called for a long step."""

    __slots__ = ("_describe", "_send", "_watchdog", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], watchdog: Watchdog, describe: Callable[[], Work]) -> None:
        self._work = work
        self._send = work.send
        self._watchdog = watchdog
        self._describe = describe

    def send(self, value: Any) -> Any:
        watchdog = self._watchdog
        watchdog.latest = began = _clock()
        try:
            return self._send(value)
        finally:
            if _clock() - began > watchdog.limit:
                watchdog.report_block(_clock() - began, self._describe())

    def __next__(self) -> Any:  # not `send(None)`: nearly every step would pay for one more call
        watchdog = self._watchdog
        watchdog.latest = began = _clock()
        try:
            return self._send(None)
        finally:
            if _clock() - began > watchdog.limit:
                watchdog.report_block(_clock() - began, self._describe())

    def __iter__(self) -> MeasuredCoroutine:
        return self

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # it implements the generator protocol

    def throw(self, type_: Any, value: BaseException | object = None, traceback: TracebackType | None = None, /) -> Any:
        try:
            if value is None and traceback is None:
                return self._work.throw(type_)
            return self._work.throw(type_, value, traceback)
        finally:
            del type_, value  # the traceback of the exception refers to this frame

    def close(self) -> None:
        self._work.close()
