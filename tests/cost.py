"""What an input costs, without a clock: the lines of Python that are executed for it, and the steps that are charged.

Work inside of C (a search in a list, a slice) does not show: what is quadratic there has to be seen by reading.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from contextvars import copy_context
from types import FrameType
from typing import Any, TypeVar

from podless.meta.errors import Timeout
from podless.runtime.bounded import CACHES
from podless.runtime.meter import METER, TIMEOUT_TEXT, CPUMeter

T = TypeVar("T")
_Refused = tuple[type[Exception], ...]
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
    """Fails where the lines executed for inputs of n, 2n and 4n grow faster than n log n.

    make: gives an input of a size; the sizes must be so large that what is done for each item shows beside the rest.
    charged: fails where they grow faster than the steps that are charged, too.
    """
    for times in (1, 4):
        with contextlib.suppress(*refused):
            work(make(size * times))  # what is only done once, also if only for a large input
    counts, steps = {}, {}
    for times in (1, 2, 4):
        meter = Allowance()
        counts[times] = metered(meter, work, make(size * times), refused)
        steps[times] = meter.charged
    assert_growth(counts, size)
    if charged:
        assert_charged(counts, steps)


def assert_charged(counts: dict[int, int], steps: dict[int, int], what: str = "") -> None:
    """Fails where more lines are executed for a larger input, and fewer steps charged than that takes.

    counts, steps: by how many times a size they were for. what: for whom.
    """
    for times in (2, 4):
        more, paid = counts[times] - counts[1], steps[times] - steps[1]
        assert more <= max(paid, 0) * _STEP + _NOISE, (
            f"{more} lines more for {times} times the size, and {paid} steps {what}"
        )


def assert_growth(counts: dict[int, int], size: int, what: str = "") -> None:
    """Fails where lines, by how many times a size they were executed for, grow faster than n log n. what: for whom."""
    for times in (2, 4):
        allowed = counts[1] * times * math.log(size * times) / math.log(size) * _SLACK + _NOISE
        assert counts[times] <= allowed, f"{counts} lines for so many times {size} {what}"


class Stretches(CPUMeter):
    """A meter that is asked at each charge: the most lines that were executed between two of them."""

    __slots__ = ("count", "longest")

    def __init__(self) -> None:
        self.steps_left = self.count = self.longest = 0

    def check_time(self) -> None:
        self.longest = max(self.longest, self.count)
        self.steps_left = self.count = 0


def stretch(work: Callable[[], object]) -> int:
    """The most lines that some work executes between two charges."""
    meter = Stretches()

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
