"""Times as Go parses and formats them: the layouts of metav1.Time and MicroTime, and the errors of time.Parse.

Go accepts more than RFC 3339: one-digit hours, a comma before fractions, offsets of 24 hours.
"""

from __future__ import annotations

import datetime
import re

from podless.codec import gotext
from podless.codec.gotext import MAX_INT64
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

LOCAL = "2006-01-02T15:04:05"
LAYOUTS = {0: f"{LOCAL}Z07:00", 6: f"{LOCAL}.000000Z07:00"}
_ZERO = (1, (1, 1, 0, 0, 0), 0)

# the form of most times, which need no change and no further check
_PLAIN = {
    0: re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ"),
    6: re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z"),
}
_TWO_DIGITS = compile_late("[0-9]{2}")
# the elements of a layout up to the second: what precedes each, its form, and the name and range of its number
_ELEMENTS = (
    ("2006", "", compile_late("[0-9]{4}"), "year", 0, 9999),
    ("01", "-", _TWO_DIGITS, "month", 1, 12),
    ("02", "-", _TWO_DIGITS, "day", 0, 99),  # Go checks the day at the end, when it knows the month
    ("15", "T", compile_late("[0-9]{1,2}"), "hour", 0, 23),
    ("04", ":", _TWO_DIGITS, "minute", 0, 59),
    ("05", ":", _TWO_DIGITS, "second", 0, 59),
)
_FRACTIONS = {0: compile_late("(?:[.,][0-9]+)?"), 6: compile_late("[.,][0-9]{6}")}
_ZONE = compile_late("Z|(.)([0-9]{2}):([0-9]{2})", re.DOTALL)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")
_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CYCLE = 146097  # days in 400 years

_NUMBER_AND_UNIT = re.compile(r"([0-9]*+)(?:(\.)([0-9]*+))?([^0-9.]*+)")
_NANOS = {"ns": 1, "us": 10**3, "\N{MICRO SIGN}s": 10**3, "\N{GREEK SMALL LETTER MU}s": 10**3, "ms": 10**6}
_NANOS |= {"s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LARGEST = MAX_INT64 + 1  # nanoseconds: the maximum of a negative duration
# the word is optional, so that the pattern reads no digit twice
_WORDS = compile_late(r"([0-9]++)(?:[\t\n\f\r ]*+([A-Za-z\xb5]++))?")
_UNITS = (
    (("ns", "nano"), 1),
    (("us", "\N{MICRO SIGN}s", "micro"), 10**3),
    (("ms", "milli"), 10**6),
    (("s", "sec"), 10**9),
    (("m", "min"), 60 * 10**9),
    (("h", "hr", "hour"), 3600 * 10**9),
    (("d", "day"), 24 * 3600 * 10**9),
    (("w", "wk", "week"), 7 * 24 * 3600 * 10**9),
)

_LONGEST = MAX_INT64 / 1e9  # seconds: the maximum of a Go duration
# minimum seconds, the larger unit in seconds, and the smaller unit shown with it (0: none)
_HUMAN_SPANS = (
    (365 * 86400 * 8, 365 * 86400, 0),
    (365 * 86400 * 2, 365 * 86400, 86400),
    (86400 * 8, 86400, 0),
    (3600 * 48, 86400, 3600),
    (3600 * 8, 3600, 0),
    (60 * 180, 3600, 60),
    (60 * 10, 60, 0),
    (120, 60, 1),
)
_UNIT_NAMES = {365 * 86400: "y", 86400: "d", 3600: "h", 60: "m", 1: "s"}


def normalise_time(text: str, digits: int = 0) -> str | None:
    """Return the time in UTC with `digits` (0 or 6) digits of the second; None for Go's zero time.

    With digits=6 the text must have six digits, too; with 0 a fraction is cut off. Raises ValueError with Go's message.
    """
    if _PLAIN[digits].fullmatch(text):
        return text
    (year, month, day, hour, minute, second), nanos, offset = _parse_time(text, LAYOUTS[digits], digits)
    # the calendar repeats after 400 years, and datetime overflows in the first and the last year
    years = -400 if year < 1000 else 400 if year > 9000 else 0
    moment = datetime.datetime(year - years, month, day, hour, minute, second, nanos // 1000)
    moment -= datetime.timedelta(seconds=offset)
    if (moment.year + years, moment.timetuple()[1:6], moment.microsecond) == _ZERO:
        return None
    fraction = f".{moment.microsecond:06d}" if digits else ""
    return f"{moment.year + years:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def parse_instant(text: str, layout: str = LAYOUTS[0]) -> tuple[int, int]:
    """Return nanoseconds since 1970 and the UTC offset in seconds of a time (LOCAL: in UTC). Raises ValueError."""
    (year, month, day, hour, minute, second), nanos, offset = _parse_time(text, layout)
    days = datetime.date(year or 400, month, day).toordinal() - (0 if year else _CYCLE) - _EPOCH
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return seconds * 10**9 + nanos, offset


def _parse_time(text: str, layout: str, digits: int = 0) -> tuple[list[int], int, int]:
    """Return the numbers from year to second, the nanoseconds and the UTC offset. Raises ValueError as time.Parse."""
    reader = _LayoutReader(text, layout)
    numbers: list[int] = []
    for element, prefix, form, name, minimum, maximum in _ELEMENTS:
        number = int(reader.take_element(element, form, prefix)[0])
        if not minimum <= number <= maximum:
            raise reader.make_error(f"{name} out of range")
        numbers.append(number)
    fraction = reader.take_element("." + "0" * digits, _FRACTIONS[digits])[0]
    offset = reader.take_zone() if layout != LOCAL else 0
    if reader.rest:
        raise reader.make_error(f"extra text: {_quote_text(reader.rest)}")
    if not _has_day(*numbers[:3]):
        raise reader.make_error("day out of range")
    return numbers, int(fraction[1:10].ljust(9, "0")), offset  # nine digits count


class _LayoutReader:
    """Reads a text element by element of a layout. rest: the text that is left."""

    def __init__(self, text: str, layout: str) -> None:
        self.text = self.rest = text
        self.layout = layout

    def take_element(self, element: str, form: re.Pattern[str], prefix: str = "") -> re.Match[str]:
        """Return the match of an element, which follows its prefix. Raises ValueError."""
        if not self.rest.startswith(prefix):
            raise self.make_mismatch(self.rest, prefix)
        self.rest = self.rest.removeprefix(prefix)
        match = form.match(self.rest)
        if match is None:
            raise self.make_mismatch(self.rest, element)
        self.rest = self.rest[match.end() :]
        return match

    def take_zone(self) -> int:
        """Return the UTC offset of the zone in seconds."""
        match = self.take_element("Z07:00", _ZONE)
        sign, hours, minutes = match.groups("0")
        if int(minutes) > 60:
            raise self.make_error("time zone offset minute out of range")
        if int(hours) > 24:
            raise self.make_error("time zone offset hour out of range")
        if match[1] and sign not in "+-":
            raise self.make_mismatch(match.string, "Z07:00")
        return (int(hours) * 60 + int(minutes)) * (-60 if sign == "-" else 60)

    def make_mismatch(self, value: str, element: str) -> ValueError:
        reason = f"cannot parse {_quote_text(value)} as {_quote_text(element)}"
        return ValueError(f"parsing time {_quote_text(self.text)} as {_quote_text(self.layout)}: {reason}")

    def make_error(self, reason: str) -> ValueError:
        return ValueError(f"parsing time {_quote_text(self.text)}: {reason}")


def is_date(text: str) -> bool:
    """Return whether a text is a full-date of RFC 3339 and the day exists."""
    match = _DATE.match(text)
    return match is not None and _has_day(*map(int, match.groups()))


def _has_day(year: int, month: int, day: int) -> bool:
    leap_day = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month] + leap_day


def _quote_text(text: str) -> str:
    """Quote as Go's package time does: all bytes but printable ASCII as hexadecimal escapes."""
    pieces = []
    for char in each(text):
        if char in '"\\':
            pieces.append("\\" + char)
        elif " " <= char <= "\x7f":
            pieces.append(char)
        else:
            pieces.extend(f"\\x{byte:02x}" for byte in char.encode())
    return f'"{"".join(pieces)}"'


def parse_duration(text: str) -> int:
    """Return the nanoseconds of a duration such as 1h30m. Raises ValueError with the text of Go's ParseDuration."""
    invalid = f"time: invalid duration {_quote_text(text)}"
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0
    if not unsigned:
        raise ValueError(invalid)
    total, offset = 0, 0
    each(unsigned)
    while offset < len(unsigned):
        match = _NUMBER_AND_UNIT.match(unsigned, offset)
        assert match is not None
        if not match[1] and not match[3]:
            raise ValueError(invalid)
        count = gotext.parse_natural(match[1])
        if count > _LARGEST:
            raise ValueError(invalid)
        if not match[4]:
            raise ValueError(f"time: missing unit in duration {_quote_text(text)}")
        scale = _NANOS.get(match[4])
        if scale is None:
            raise ValueError(f"time: unknown unit {_quote_text(match[4])} in duration {_quote_text(text)}")
        total += count * scale + _scale_fraction(match[3] or "", scale)
        if total > _LARGEST:
            raise ValueError(invalid)
        offset = match.end()
    if text[0] == "-":
        return -total
    if total == _LARGEST:
        raise ValueError(invalid)
    return total


def _scale_fraction(digits: str, scale: int) -> int:
    """Return a fraction's digits (those that fit 64 bits) times `scale`, with Go's float arithmetic."""
    value, size = 0, 1.0
    for digit in digits[:19]:
        if value > MAX_INT64 // 10 or value * 10 + int(digit) > _LARGEST:
            break
        value, size = value * 10 + int(digit), size * 10
    return int(float(value) * (float(scale) / size))


def parse_span(text: str) -> int:
    """Return the nanoseconds of a Go duration, or of numbers with unit words anywhere in a text; can wrap around.

    Source: strfmt.ParseDuration of k8s.io/kube-openapi. Raises ValueError with its message.
    """
    try:
        return parse_duration(text)
    except ValueError:
        pass
    total, has_unit = 0, False
    for match in _WORDS.finditer(text):
        if not match[2]:
            continue
        count = gotext.parse_int(match[1], name="Atoi")
        unit = match[2].lower()
        for names, scale in _UNITS:
            if unit in names or unit.startswith(names[-1]):
                total, has_unit = total + count * scale, True
                break
    if not has_unit:
        raise ValueError(f"unable to parse {text} as duration")
    return (total + _LARGEST) % (2 * _LARGEST) - _LARGEST


def format_human_duration(duration: float) -> str:
    """Format seconds with one or two units, as HumanDuration of apimachinery does. Clocks can differ by a second."""
    seconds = int(min(duration, _LONGEST))
    if duration <= -2:
        return "<invalid>"
    for threshold, unit, lesser in _HUMAN_SPANS:
        if seconds >= threshold:
            count, remainder = divmod(seconds, unit)
            minor = remainder // lesser if lesser else 0
            return f"{count}{_UNIT_NAMES[unit]}{minor}{_UNIT_NAMES[lesser]}" if minor else f"{count}{_UNIT_NAMES[unit]}"
    return f"{max(seconds, 0)}s"
