"""What goes over the wire beside answers."""

from __future__ import annotations

from email.utils import formatdate

from hypothesis import given
from hypothesis import strategies as st

from podless.http.sending import date


@given(st.integers(0, 253_402_300_799))
def test_dates_are_those_that_another_writer_makes(second: int) -> None:
    assert date(second) == formatdate(second, usegmt=True)
