"""What a worker of pytest-xdist tells of a test: one report if all is well, for each costs as much as a small test."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

_LONG = 0.5  # seconds of a fixture that --durations is to show


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test; tell neither that it begins or ends nor of fixtures that were quick and right."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > _LONG:
            item.ihook.pytest_runtest_logreport(report=report)
    return True
