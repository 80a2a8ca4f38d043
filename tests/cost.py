"""What an input costs, without a clock: the lines of Python that are executed for it.

Work inside of C (a search in a list, a slice) does not show: what is quadratic there has to be seen by reading.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from podless.meta.bounded import caches

T = TypeVar("T")
_Refused = tuple[type[Exception], ...]
_SLACK = 1.1
_NOISE = 50  # lines that the collector of garbage may run meanwhile


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

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._trace)

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)


def lines(work: Callable[[T], object], given: T, refused: _Refused = ()) -> int:
    """The lines of Python that `work(given)` executes on this thread. refused: exceptions that it may end in."""
    for cache in caches():  # nothing is known from before
        cache.clear()
    count = Lines()
    with count, contextlib.suppress(*refused):
        work(given)
    return count.number


def assert_linear(
    work: Callable[[T], object], make: Callable[[int], T], size: int = 150, refused: _Refused = ()
) -> None:
    """Fails where the lines executed for inputs of n, 2n and 4n grow faster than n log n.

    make: gives an input of a size; the sizes must be so large that what is done for each item shows beside the rest.
    """
    with contextlib.suppress(*refused):
        work(make(size))  # what is only done once
    assert_growth({times: lines(work, make(size * times), refused) for times in (1, 2, 4)}, size)


def assert_growth(counts: dict[int, int], size: int, what: str = "") -> None:
    """Fails where lines, by how many times a size they were executed for, grow faster than n log n. what: for whom."""
    for times in (2, 4):
        allowed = counts[1] * times * math.log(size * times) / math.log(size) * _SLACK + _NOISE
        assert counts[times] <= allowed, f"{counts} lines for so many times {size} {what}"
