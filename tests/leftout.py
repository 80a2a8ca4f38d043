"""Tells at the end of a run what was left out, and why: no run is silently smaller than another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the reasons of skipped tests with their number, whatever -r says."""
    for line in lines(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line)
    if expression := config.option.markexpr:
        terminalreporter.write_line(f"left out by -m {expression!r}: run `make test-all` for all tests")


def lines(skipped: Iterable[Any]) -> list[str]:
    """Return a line for each reason of pytest's reports, the most frequent first; none if nothing was skipped."""
    reasons = Counter(_reason(report.longrepr) for report in skipped)
    if not reasons:
        return []
    return [f"left out: {reasons.total()} tests", *(f"{count:6}  {reason}" for reason, count in reasons.most_common())]


def _reason(told: Any) -> str:
    """Return the reason of a report: the last of file, line and text, or the text itself."""
    text = str(told[2] if isinstance(told, tuple | list) else told)
    return text.removeprefix("Skipped: ")
