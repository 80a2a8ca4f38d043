"""The remaining cost of a piece of work: loops charge it at their heads, and end when its time is over.

The meter belongs to the context that the work runs in. Work without one may be suspended (runtime/slices.py), and has
no limit otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence, Sized
from contextvars import ContextVar
from typing import Final, TypeVar

from podless.runtime.apierror import Timeout

S = TypeVar("S", bound=Sized)
T = TypeVar("T")

_LOOK = 4096  # steps between two looks at the clock: one to four milliseconds of most walks
_FEW_STEPS = 1024  # steps of sliced work between two looks: half a millisecond of most walks
FEW = 8  # items that are not worth a charge: what holds them was charged
LATE = "Timeout: request did not complete within the allotted timeout"


class CPUMeter:
    """The processor time of one piece of work. seconds: of the thread that makes the meter and does the work.

    left: steps until the next look at the clock.
    """

    __slots__ = ("_until", "left")

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds
        self.left = _LOOK

    def check_time(self) -> None:
        """Raise Timeout where the time is over."""
        if time.thread_time() > self._until:
            raise Timeout(LATE, {})
        self.left = _LOOK


class _Default(CPUMeter):
    """The meter of all other work. on_look: called now and then by the work, which may suspend itself there.

    clock: the processor time of the work under way, in seconds from any moment before it; what the thread does while
    the work is suspended does not count. Threads share the meter: a count that one of them loses matters to none.
    """

    __slots__ = ("clock", "on_look")

    def __init__(self) -> None:
        self.left = _FEW_STEPS
        self.on_look: Callable[[], None] | None = None
        self.clock: Callable[[], float] = time.thread_time

    def check_time(self) -> None:
        self.left = _FEW_STEPS
        if self.on_look is not None:
            self.on_look()


DEFAULT: Final = _Default()
METER: ContextVar[CPUMeter] = ContextVar("meter", default=DEFAULT)
_current = METER.get


def work_time() -> float:
    """Return the processor time of the work under way, in seconds, for comparison within that work."""
    return DEFAULT.clock()


def charge(steps: int) -> None:
    """Count steps of the work under way, at the head of the loop that takes them. Raise Timeout if its time is over.

    A call takes about 0.1 us.
    """
    meter = _current()
    meter.left = left = meter.left - steps
    if left < 0:
        meter.check_time()


def each(items: S) -> S:
    """Return the items of a loop, and charge them unless they are few. Raises Timeout if the time is over.

    For loops over values from clients, which nearly always have few items: then it takes half as long as `charge`.
    """
    if len(items) > FEW:
        charge(len(items))
    return items


def each_part(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Return the items in parts, and charge each part before its turn. Raise Timeout if the time is over.

    For loops that are quick for each of an unbounded number of items: `each` would let all of them pass in one slice.
    """
    if len(items) <= _FEW_STEPS:
        yield each(items)
        return
    for start in range(0, len(items), _FEW_STEPS):
        charge(_FEW_STEPS)
        yield items[start : start + _FEW_STEPS]
