"""Limits the time of one write: for its work, and for compiling patterns, because RE2 holds the GIL meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, TypeVar

from podless.runtime.apierror import Timeout
from podless.runtime.meter import TIMEOUT_TEXT

T = TypeVar("T")

PATTERN_TIME: Final = 100_000_000  # nanoseconds, as runtime/patternprice.py estimates them
MIN_TIME: Final = 2.0  # seconds of processor time of a write of a short object
TIME_PER_BYTE: Final = 0.00001  # seconds of processor time for each byte of the object


class TimeAllowance:
    """The remaining time of one write. size: bytes of its object, infinite if it writes any number of objects.

    pattern_time: for compiling patterns, in nanoseconds. work_time: seconds of processor time. Work that ends within a
    slice does not count, nor does `make_shared`.
    """

    __slots__ = ("pattern_time", "work_time")

    def __init__(self, size: float = 0) -> None:
        self.pattern_time = PATTERN_TIME
        self.work_time = MIN_TIME + size * TIME_PER_BYTE

    def spend(self, price: float) -> bool:
        """Spend some time for patterns. Returns False, and spends nothing, if less is left."""
        if price > self.pattern_time:
            return False
        self.pattern_time -= int(price)
        return True

    def spend_work(self, seconds: float) -> None:
        """Spend time of work. Raises Timeout if more was spent than allowed."""
        self.work_time -= seconds
        if self.work_time < 0:
            raise Timeout(TIMEOUT_TEXT, {})


# the allowance of the present write; None for other work
ALLOWANCE: ContextVar[TimeAllowance | None] = ContextVar("allowance", default=None)


def make_shared(make: Callable[[], T]) -> T:
    """Return a value for later requests, too, such as a compiled schema. The present write is not charged for it."""
    token = ALLOWANCE.set(None)
    try:
        return make()
    finally:
        ALLOWANCE.reset(token)
