"""Facts about durations as Go reads them."""

from __future__ import annotations

import pytest

from podless.meta.gotime import duration_fault


@pytest.mark.parametrize("text", ["0", "-0", "5s", "1h30m", "1.5h", "-.5s", "+3µs", "3μs", "-9223372036854775808ns"])
def test_durations(text: str) -> None:
    assert duration_fault(text) == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x", 'time: invalid duration "x"'),
        ("-", 'time: invalid duration "-"'),
        (".s", 'time: invalid duration ".s"'),
        ("5", 'time: missing unit in duration "5"'),
        ("5d", 'time: unknown unit "d" in duration "5d"'),
        ("1s ", 'time: unknown unit "s " in duration "1s "'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
    ],
)
def test_what_is_no_duration(text: str, fault: str) -> None:
    assert duration_fault(text) == fault
