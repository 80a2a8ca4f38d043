"""What an input costs, without a clock: the lines of Python that are executed for it, and the steps that are charged.

Work inside of C (a search in a list, a slice) does not show: what is quadratic there has to be seen by reading.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Sequence
from contextvars import copy_context
from types import FrameType
from typing import Any, TypeVar

from podless.meta.errors import Timeout
from podless.runtime.bounded import CACHES
from podless.runtime.meter import METER, TIMEOUT_TEXT, CPUMeter

T = TypeVar("T")
_Refused = tuple[type[Exception], ...]
GROWN = 4  # how many times as long the larger of two inputs is: what grows by a power shows more than for twice
_SLACK = 1.1
_NOISE = 80  # lines that the collector of garbage may run meanwhile
_STEP = 500  # lines that one step may stand for
_ENDLESS = 1 << 62


class Lines:
    """Counts the lines of Python that this thread executes within it: as often as it is entered, together."""

    def __init__(self) -> None:
        number = 0
        self._before: Any = None

        def count(frame: FrameType, event: str, arg: Any) -> None:  # for each line: nothing costs less than a closure
            nonlocal number
            if event == "line":
                number += 1

        self._trace: Any = lambda frame, event, arg: count
        self._number: Callable[[], int] = lambda: number

    @property
    def number(self) -> int:
        return self._number()

    def __enter__(self) -> Lines:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)


class Allowance(CPUMeter):
    """A meter without a clock, for work that may be charged so many steps."""

    __slots__ = ("_steps",)

    def __init__(self, steps: int = _ENDLESS) -> None:
        self.steps_left = self._steps = steps

    @property
    def charged(self) -> int:
        """The steps that were charged."""
        return self._steps - self.steps_left

    def check_time(self) -> None:
        """Raise Timeout: all steps are charged."""
        raise Timeout(TIMEOUT_TEXT, {})


def metered(meter: CPUMeter, work: Callable[[T], object], given: T, refused: _Refused = ()) -> int:
    """The lines of Python that `work(given)` executes on this thread under a meter.

    refused: exceptions that it may end in.
    """
    for cache in CACHES:  # nothing is known from before
        cache.clear()
    count = Lines()

    def run() -> None:
        METER.set(meter)
        with count, contextlib.suppress(*refused):
            work(given)

    copy_context().run(run)
    return count.number


def lines(work: Callable[[T], object], given: T, refused: _Refused = ()) -> int:
    """The lines of Python that `work(given)` executes on this thread. refused: exceptions that it may end in."""
    return metered(Allowance(), work, given, refused)


def assert_linear(
    work: Callable[[T], object],
    make: Callable[[int], T],
    size: int = 150,
    refused: _Refused = (),
    *,
    charged: bool = True,
) -> None:
    """Fails where the lines executed for inputs of n and 4n grow faster than n log n.

    make: gives an input of a size; the sizes must be so large that what is done for each item shows beside the rest.
    charged: fails where they grow faster than the steps that are charged, too.
    """
    for grown in (size, GROWN * size):
        with contextlib.suppress(*refused):
            work(make(grown))  # what is only done once, also if only for a large input
    counts, steps = [], []
    for grown in (size, GROWN * size):
        meter = Allowance()
        counts.append(metered(meter, work, make(grown), refused))
        steps.append(meter.charged)
    assert_growth(counts, size)
    if charged:
        assert_charged(counts, steps)


def assert_charged(counts: Sequence[int], steps: Sequence[int], what: str = "") -> None:
    """Fails where more lines are executed for a larger input, and fewer steps charged than that takes.

    counts, steps: for the smaller and the larger input. what: for whom.
    """
    more, paid = counts[1] - counts[0], steps[1] - steps[0]
    assert more <= max(paid, 0) * _STEP + _NOISE, f"{more} more lines for {GROWN} times as much, {paid} steps {what}"


def assert_growth(counts: Sequence[int], size: int, what: str = "") -> None:
    """Fails where lines grow faster than n log n. counts: for a size, and for GROWN times it. what: for whom."""
    allowed = counts[0] * GROWN * math.log(size * GROWN) / math.log(size) * _SLACK + _NOISE
    assert counts[1] <= allowed, f"{counts} lines for {size} and {GROWN} times as much {what}"


class Stretches(CPUMeter):
    """A meter that is asked after so many steps: the most lines that were executed between two times."""

    __slots__ = ("count", "longest", "steps")

    def __init__(self, steps: int) -> None:
        self.steps_left = self.steps = steps
        self.count = self.longest = 0

    def check_time(self) -> None:
        self.longest = max(self.longest, self.count)
        self.steps_left, self.count = self.steps, 0


def stretch(work: Callable[[], object], steps: int = 0) -> int:
    """The most lines that some work executes between two charges, or while it is charged so many steps."""
    meter = Stretches(steps)

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            meter.count += 1
        return trace

    def run() -> None:
        METER.set(meter)
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(before)
            meter.check_time()

    copy_context().run(run)
    return meter.longest
