"""Limits of one evaluation beside its cost: time, sizes and recursion; and pauses for other requests."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar

from podless.cel.errors import CostExceeded
from podless.runtime.meter import charge, work_time

R = TypeVar("R")
# frames: 250 levels of the grammar, each of a dozen rules, and trees a few times as high
_DEEP = 20_000
_LOCK = threading.Lock()
_limits: list[int] = []  # the limit to go back to, once for each that is at work

T = TypeVar("T")

# no value grows beyond so many bytes, and nothing looks at more parts of values at once, whatever it costs
MAX_SIZE = 64 << 20
MAX_WORK = 5_000_000
_ITEM = 16  # bytes that an item of a list is taken for
UNITS: Final = 16_384  # of cost until a loop charges the meter
_UNITS_STEPS = UNITS >> 4
_PART = 512  # items that are gone through between two charges
PAUSE: Final = 0.001  # seconds of calls whose cost is less than their time, until these charge the meter
SECONDS: Final = 2.0  # of processor time that one evaluation may take after the first pause, however little it costs
_LOOK = 4097  # steps with which every meter looks at its clock


def check_size(size: int) -> None:
    """Reject a value that is too large."""
    if size > MAX_SIZE:
        raise CostExceeded


def bounded_list(count: int) -> None:
    """Reject a list with too many items."""
    check_size(count * _ITEM)


def afford_work(work: int) -> None:
    """Reject work on too many parts of values."""
    if work > MAX_WORK:
        raise CostExceeded


def charge_each(items: Collection[T]) -> Iterable[T]:
    """Return items to iterate over. Many of them charge the meter on the way."""
    return items if len(items) <= _PART else _charged(items)


def _charged(items: Iterable[T]) -> Iterable[T]:
    for place, item in enumerate(items):
        if not place % _PART:
            charge(_PART)
        yield item


def go_on(cost: int, limit: int) -> int:
    """Charge the meter for a loop. Return the cost at which to call this again. Raise CostExceeded beyond the limit."""
    if cost > limit:
        raise CostExceeded
    charge(_UNITS_STEPS)
    return min(limit, cost + UNITS)


def pause_work(until: float) -> tuple[float, float]:
    """Charge the meter after some time. Return when to call this again, and when the evaluation's time is over.

    until: as returned before, by the clock of the work under way (runtime/meter.py), so that it does not matter what
    others take while the evaluation is suspended; 0 at the first call. Raises CostExceeded if the time is over.
    """
    now = work_time()
    if not until:
        until = now + SECONDS
    elif now > until:
        raise CostExceeded
    charge(_LOOK)
    return time.perf_counter() + PAUSE, until


def run_with_room(work: Callable[[], R]) -> R:
    """Return the result of some work, repeated with a higher recursion limit if it exceeds Python's.

    The limit is the process's, so it is raised for that long only. Raises RecursionError if that is not enough.
    """
    try:
        return work()
    except RecursionError:
        pass
    with _LOCK:
        _limits.append(_limits[0] if _limits else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_DEEP, _limits[0]))
    try:
        return work()
    finally:
        with _LOCK:
            before = _limits.pop()
            if not _limits:
                sys.setrecursionlimit(before)
