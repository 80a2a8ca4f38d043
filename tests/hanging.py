"""A test that hangs ends its process, with the stack of every thread: by a timer in C, the cheapest for each test."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator

import pytest

_ERRORS = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_ERRORS] = os.dup(2)  # what tests write there is captured later


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End a test that takes too long with its fixtures, unless it is debugged. Slow ones may take longer."""
    if item.config.option.usepdb or item.config.option.trace:
        return (yield)
    own = item.get_closest_marker("hangs_after")
    seconds = own.args[0] if own else 400 if item.get_closest_marker("slow") else 120
    faulthandler.dump_traceback_later(seconds, exit=True, file=item.config.stash[_ERRORS])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
