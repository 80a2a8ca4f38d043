"""Facts about times and durations as Go reads them."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec.gotime import normalise_time, parse_duration, parse_instant, parse_span
from tests.cost import assert_linear


@pytest.mark.parametrize("text", ["0", "-0", "5s", "1h30m", "1.5h", "-.5s", "+3µs", "3μs", "-9223372036854775808ns"])
def test_durations(text: str) -> None:
    assert isinstance(parse_duration(text), int)


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
    with pytest.raises(ValueError, match=re.escape(fault)):
        parse_duration(text)


@pytest.mark.parametrize("count", [5000, 100_000])
def test_more_digits_than_python_reads(count: int) -> None:
    digits = "9" * count
    with pytest.raises(ValueError, match=f'time: invalid duration "{digits}s"'):
        parse_duration(f"{digits}s")
    assert parse_duration(f"{'0' * count}1.{digits}s") == 2_000_000_000  # by floats, as in Go
    with pytest.raises(ValueError, match=r"strconv\.Atoi: parsing .*: value out of range"):
        parse_span(f"{digits} days")


HOUR = 3600 * 10**9


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1h30m", 3 * HOUR // 2),
        ("-1.5h", -3 * HOUR // 2),
        ("3 days", 72 * HOUR),
        ("1 Week and 2days", 216 * HOUR),
        ("5 minutes 1 microsecond", HOUR // 12 + 1000),
        ("2 hrs", None),
        ("2 hr", 2 * HOUR),
        ("3 fortnights", None),
        ("days", None),
        ("", None),
        ("99999999999 weeks", 6_817_241_073_913_888_768),
    ],
)
def test_durations_in_words(text: str, nanoseconds: int | None) -> None:
    if nanoseconds is None:
        with pytest.raises(ValueError, match=f"^unable to parse {text} as duration$"):
            parse_span(text)
    else:
        assert parse_span(text) == nanoseconds


def test_moments() -> None:
    assert parse_instant("1970-01-01T01:00:00.5+01:00") == (500_000_000, 3600)
    assert parse_instant("1969-12-31T23:59:59.123456789123Z") == (123_456_789 - 10**9, 0)
    assert parse_instant("0000-02-29T0:00:00Z")[0] == -62_162_121_600 * 10**9
    with pytest.raises(
        ValueError, match=r'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'
    ):
        parse_instant("x")


@given(st.datetimes(), st.integers(-24 * 60, 24 * 60))
def test_a_time_is_the_same_on_all_clocks(time: datetime.datetime, minutes: int) -> None:
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    text = f"{time:%m-%dT%H:%M:%S}.{time.microsecond:06d}{sign}{hours:02d}:{rest:02d}"
    found = parse_instant(f"{time.year:04d}-{text}")
    utc = time - datetime.datetime(1970, 1, 1)
    seconds = utc.days * 86400 + utc.seconds - minutes * 60
    assert found == (seconds * 10**9 + time.microsecond * 1000, minutes * 60)
    try:
        there = time - datetime.timedelta(minutes=minutes)
    except OverflowError:
        return
    shown = f"{there.year:04d}-{there:%m-%dT%H:%M:%S}.{there.microsecond:06d}Z"
    assert normalise_time(f"{time.year:04d}-{text}", 6) == (None if there == datetime.datetime.min else shown)


@pytest.mark.parametrize("part", ["1h", "1 day ", "9", ".", "1 ", "h"])
def test_durations_cost_their_length(part: str) -> None:
    assert_linear(parse_span, lambda size: part * size, refused=(ValueError,))
    assert_linear(parse_duration, lambda size: part * size, refused=(ValueError,))
