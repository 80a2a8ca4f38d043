"""Room for what nests deep: the interpreter's own limit is lower than that of the language."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")
# frames: 250 levels of the grammar, each of a dozen rules, and trees a few times as high
_DEEP = 20_000
_LOCK = threading.Lock()
_limits: list[int] = []  # the limit to go back to, once for each that is at work


def run_with_room(work: Callable[[], R]) -> R:
    """What some work gives, which is begun anew with more room where it comes upon the interpreter's limit.

    The limit is the process's, so it is raised for that long only. Raises RecursionError where that is not enough.
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
