"""Wait for a fact that background work brings about."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60
"""Seconds, enough for a machine that is busy with other work."""


def until(fact: Callable[[], bool]) -> None:
    """Wait until `fact` is true; a server that cannot be reached makes nothing true.

    Raises:
        AssertionError: It is not true after `PATIENCE` seconds.
    """
    end = time.monotonic() + PATIENCE
    while not _holds(fact):
        assert time.monotonic() < end
        time.sleep(0.005)  # leaves the processor to the server


def _holds(fact: Callable[[], bool]) -> bool:
    try:
        return fact()
    except OSError:
        return False
