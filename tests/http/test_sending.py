"""What goes over the wire beside answers."""

from __future__ import annotations

from email.utils import formatdate

from hypothesis import given
from hypothesis import strategies as st

from podless.http.sending import DatedHeads, format_date
from podless.runtime import clock


@given(st.integers(0, 253_402_300_799))
def test_dates_are_those_that_another_writer_makes(second: int) -> None:
    assert format_date(second) == formatdate(second, usegmt=True)


def test_answers_carry_the_second_that_the_clock_shows_once_it_is_advanced() -> None:
    advanced = clock.Clock()
    outside = clock.CURRENT.set(advanced)
    try:
        lines = DatedHeads()
        lines.make_lines(200, b"")
        advanced.advance(86_400)
        before, told, after = clock.time(), lines.make_lines(200, b""), clock.time()
    finally:
        clock.CURRENT.reset(outside)
    assert any(format_date(second).encode() in told for second in range(int(before), int(after) + 1))
