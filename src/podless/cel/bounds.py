"""Limits of one evaluation besides its cost: time, sizes and recursion; and pauses for other requests."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar

from podless.cel.errors import CostExceeded
from podless.runtime.meter import charge, work_time

R = TypeVar("R")
# frames: half as many again as the deepest expressions take, 249 maps in each other. Meanwhile C code of other work may
# recurse as deep, such as json, which takes 130 bytes a level: it must fit into a thread's stack of 1 MiB (with musl).
_RECURSION_LIMIT = 6_000
_LOCK = threading.Lock()
_limits: list[int] = []  # the recursion limits to restore: one for each unfinished call of `run_with_room`

T = TypeVar("T")

# maximum bytes of a value, and maximum parts of values that one operation visits, whatever its cost
MAX_SIZE = 64 << 20
MAX_WORK = 5_000_000
_ITEM_BYTES = 16  # bytes that a list item counts for
COST_PER_CHARGE: Final = 16_384  # cost after which a loop charges the meter
_CHARGE_STEPS = COST_PER_CHARGE >> 4
_ITEMS_PER_CHARGE = 512  # items between two charges
PAUSE_SECONDS: Final = 0.001  # seconds after which calls that cost less than their time charge the meter
MAX_SECONDS: Final = 2.0  # processor time of one evaluation after the first pause, however low its cost
_CLOCK_STEPS = 4097  # steps after which every meter reads its clock


def check_size(size: int) -> None:
    """Raise CostExceeded for a value that is too large. size: bytes."""
    if size > MAX_SIZE:
        raise CostExceeded


def check_list_size(count: int) -> None:
    """Raise CostExceeded for a list with too many items."""
    check_size(count * _ITEM_BYTES)


def afford_work(work: int) -> None:
    """Raise CostExceeded for work on too many parts of values."""
    if work > MAX_WORK:
        raise CostExceeded


def charge_each(items: Collection[T]) -> Iterable[T]:
    """Iterate over items. Many of them charge the meter on the way."""
    return items if len(items) <= _ITEMS_PER_CHARGE else _charge_in_parts(items)


def _charge_in_parts(items: Iterable[T]) -> Iterable[T]:
    for index, item in enumerate(items):
        if not index % _ITEMS_PER_CHARGE:
            charge(_ITEMS_PER_CHARGE)
        yield item


def check_loop_cost(cost: int, limit: int) -> int:
    """Charge the meter for a loop. Return the cost at which to call this again. Raises CostExceeded over the limit."""
    if cost > limit:
        raise CostExceeded
    charge(_CHARGE_STEPS)
    return min(limit, cost + COST_PER_CHARGE)


def pause_work(until: float) -> tuple[float, float]:
    """Charge the meter after some time. Return when to call this again, and the end of the evaluation's time.

    until: as returned before, 0 at the first call. Both are times of the meter's clock (runtime/meter.py), which stops
    while the evaluation is suspended. Raises CostExceeded after the end.
    """
    now = work_time()
    if not until:
        until = now + MAX_SECONDS
    elif now > until:
        raise CostExceeded
    charge(_CLOCK_STEPS)
    return time.perf_counter() + PAUSE_SECONDS, until


def run_with_room(work: Callable[[], R]) -> R:
    """Return the result of `work`. If it exceeds Python's recursion limit, run it again with a higher one.

    The limit applies to the whole process, so it is raised only during that run. Raises RecursionError if the
    higher one is exceeded.
    """
    try:
        return work()
    except RecursionError:
        pass
    with _LOCK:
        _limits.append(_limits[0] if _limits else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_RECURSION_LIMIT, _limits[0]))
    try:
        return work()
    finally:
        with _LOCK:
            previous_limit = _limits.pop()
            if not _limits:
                sys.setrecursionlimit(previous_limit)
