"""Meters the processor time of a piece of work: loops charge their steps, and end when its time is over.

The meter is found in the context of the work. Work without one may be suspended (runtime/slices.py), and has no limit
of its own. All work of one write shares an allowance: for its work, and for compiling patterns, because RE2 holds the
GIL meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence, Sized
from contextvars import ContextVar
from typing import Final, TypeVar

from podless.runtime.apierror import Timeout

S = TypeVar("S", bound=Sized)
T = TypeVar("T")

_CHECK_STEPS = 4096  # steps between two checks of the clock: one to four milliseconds of most tree walks
_FEW_STEPS = 1024  # the same for sliced work: half a millisecond of most tree walks
MAX_UNCHARGED = 8  # so few items need no charge: the loop over their containers has charged
ONE_CHILD = 1  # nor does a lone child that is walked: only trees whose nodes have more children grow large
PATTERN_TIME: Final = 100_000_000  # nanoseconds, as runtime/patternprice.py estimates them
MIN_TIME: Final = 2.0  # seconds of processor time of a write of a short object
TIME_PER_BYTE: Final = 0.00001  # seconds of processor time for each byte of the object
TIMEOUT_TEXT = "Timeout: request did not complete within the allotted timeout"


class CPUMeter:
    """The limit on the processor time of one piece of work, from now on, on this thread. seconds: the limit.

    steps_left: steps until the next check of the clock.
    """

    __slots__ = ("_until", "steps_left")

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds
        self.steps_left = _CHECK_STEPS

    def check_time(self) -> None:
        """Raise Timeout if the time is over."""
        if time.thread_time() > self._until:
            raise Timeout(TIMEOUT_TEXT, {})
        self.steps_left = _CHECK_STEPS


class _SuspendableMeter(CPUMeter):
    """The meter of all other work. on_look: called at each check of the clock; it may suspend the work.

    clock: returns the processor time of the present work in seconds, from any fixed start; the time while it is
    suspended does not count. Threads share this meter: a lost update of `steps_left` only delays a check.
    """

    __slots__ = ("clock", "on_look")

    def __init__(self) -> None:
        self.steps_left = _FEW_STEPS
        self.on_look: Callable[[], None] | None = None
        self.clock: Callable[[], float] = time.thread_time

    def check_time(self) -> None:
        self.steps_left = _FEW_STEPS
        if self.on_look is not None:
            self.on_look()


DEFAULT: Final = _SuspendableMeter()
_UNLIMITED: Final = CPUMeter(math.inf)  # of work that must not be suspended
METER: ContextVar[CPUMeter] = ContextVar("meter", default=DEFAULT)
_current = METER.get


def work_time() -> float:
    """Return the processor time of the present work, in seconds, for differences within that work."""
    return DEFAULT.clock()


def charge(steps: int) -> None:
    """Charge steps to the present work; call it before the steps. Raises Timeout if its time is over.

    A call takes about 0.1 us.
    """
    meter = _current()
    meter.steps_left = remaining = meter.steps_left - steps
    if remaining < 0:
        meter.check_time()


def run_unsuspended(work: Callable[[], object]) -> None:
    """Run short work that must not be suspended: its caller has begun something that others would disturb."""
    token = METER.set(_UNLIMITED)
    try:
        work()
    finally:
        METER.reset(token)


def each(items: S) -> S:
    """Return the items of a loop, and charge them unless they are few. Raises Timeout if the time is over.

    For loops over values from clients, which nearly always have few items: then it takes half as long as `charge`.
    """
    if len(items) > MAX_UNCHARGED:
        charge(len(items))
    return items


def each_part(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the items in parts, and charge each part first. Raises Timeout if the time is over.

    For quick loops over any number of items: `each` would charge all of them at once, so they would run in one slice.
    """
    if len(items) <= _FEW_STEPS:
        yield each(items)
        return
    for start in range(0, len(items), _FEW_STEPS):
        charge(_FEW_STEPS)
        yield items[start : start + _FEW_STEPS]


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
