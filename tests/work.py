"""How much work a function does: tests state that it grows with the length of its input, and never measure time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines(function: Callable[[], object]) -> int:
    """How many lines of Python a call executes."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def grows_with(function: Callable[[int], object], size: int) -> bool:
    """Whether an input twice and four times as long makes about twice and four times the work, and not its square."""
    one, two, four = (lines(lambda n=n: function(n)) for n in (size, 2 * size, 4 * size))  # type: ignore[misc]
    return two <= 2.5 * one + 100 and four <= 2.5 * two + 100
