"""Times as Go parses and formats them: the layouts of metav1.Time and MicroTime, and the errors of time.Parse.

Go accepts more than RFC 3339: one-digit hours, a comma before fractions, offsets of 24 hours.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from podless.codec import gotext
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

LOCAL = "2006-01-02T15:04:05"
LAYOUTS = {0: f"{LOCAL}Z07:00", 6: f"{LOCAL}.000000Z07:00"}
ZERO = (1, (1, 1, 0, 0, 0), 0)

# the form of most times, which need no change and no further check
_PLAIN = {
    0: re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ"),
    6: re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z"),
}


class _LayoutMismatch(Exception):
    """The text does not match the layout."""


class _OutOfRange(Exception):
    """A number in the text is out of range. The text says which."""


def normalise_time(text: str, digits: int = 0) -> str | None:
    """Return the time in UTC with `digits` (0 or 6) digits of the second; None for Go's zero time.

    With digits=6 the text must have six digits, too; with 0 a fraction is cut off. Raises ValueError with Go's message.
    """
    if _PLAIN[digits].fullmatch(text):
        return text
    reader = _TimeReader(text, LAYOUTS[digits], digits)
    year, month, day, hour, minute, second = reader.read_time()
    # the calendar repeats after 400 years, and datetime overflows in the first and the last year
    years = -400 if year < 1000 else 400 if year > 9000 else 0
    moment = datetime.datetime(year - years, month, day, hour, minute, second, reader.nanos // 1000)
    moment -= datetime.timedelta(seconds=reader.offset)
    if (moment.year + years, moment.timetuple()[1:6], moment.microsecond) == ZERO:
        return None
    fraction = f".{moment.microsecond:06d}" if digits else ""
    return f"{moment.year + years:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def parse_instant(text: str, layout: str = LAYOUTS[0]) -> tuple[int, int]:
    """Return nanoseconds since 1970 and the UTC offset in seconds of a time in RFC 3339 (or in LOCAL, as UTC).

    Raises ValueError with Go's message.
    """
    reader = _TimeReader(text, layout, 0)
    year, month, day, hour, minute, second = reader.read_time()
    days = datetime.date(year or 400, month, day).toordinal() - (0 if year else _CYCLE) - _EPOCH
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - reader.offset
    return seconds * 10**9 + reader.nanos, reader.offset


_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CYCLE = 146097  # days in 400 years


class _TimeReader:
    """Parses one text by a layout, element by element, as time.Parse does."""

    def __init__(self, text: str, layout: str, digits: int) -> None:
        self.text = self.rest = text
        self.layout = layout
        self.digits = digits
        self.offset = self.nanos = 0

    def read_time(self) -> tuple[int, int, int, int, int, int]:
        """Return year, month, day, hour, minute and second; fraction and zone are in `nanos` and `offset` then."""
        year = self.read_element("2006", self.read_year)
        month = self.read_element("01", lambda: self.read_in_range("month", True, 1, 12), "-")
        day = self.read_element("02", lambda: self.read_number(True), "-")
        hour = self.read_element("15", lambda: self.read_in_range("hour", False, 0, 23), "T")
        minute = self.read_element("04", lambda: self.read_in_range("minute", True, 0, 59), ":")
        second = self.read_element("05", self.read_second, ":")
        if self.digits:
            self.read_element("." + "0" * self.digits, lambda: self.read_fraction(self.digits + 1))
        if self.layout != LOCAL:
            self.read_element("Z07:00", self.read_zone)
        if self.rest:
            raise ValueError(f"parsing time {_quote_text(self.text)}: extra text: {_quote_text(self.rest)}")
        if not 1 <= day <= _count_days(year, month):
            raise ValueError(f"parsing time {_quote_text(self.text)}: day out of range")
        return year, month, day, hour, minute, second

    def read_element(self, element: str, read: Callable[[], int], prefix: str = "") -> int:
        """Parse one element of the layout, after its prefix. Errors become Go's."""
        if not self.rest.startswith(prefix):
            raise self.make_error(self.rest, prefix)
        self.rest = hold = self.rest.removeprefix(prefix)
        try:
            return read()
        except _LayoutMismatch:
            raise self.make_error(hold, element) from None
        except _OutOfRange as error:
            raise ValueError(f"parsing time {_quote_text(self.text)}: {error} out of range") from None

    def make_error(self, value: str, element: str) -> ValueError:
        text = f"parsing time {_quote_text(self.text)} as {_quote_text(self.layout)}: "
        return ValueError(f"{text}cannot parse {_quote_text(value)} as {_quote_text(element)}")

    def read_year(self) -> int:
        head, self.rest = self.rest[:4], self.rest[4:]
        return _parse_digits(head, 4)

    def read_number(self, fixed: bool) -> int:
        """Parse two digits, or one if the layout allows it."""
        size = 2 if fixed or _is_digits(self.rest[1:2]) else 1
        head, self.rest = self.rest[:size], self.rest[size:]
        return _parse_digits(head, size)

    def read_in_range(self, name: str, fixed: bool, minimum: int, maximum: int) -> int:
        value = self.read_number(fixed)
        if not minimum <= value <= maximum:
            raise _OutOfRange(name)
        return value

    def read_second(self) -> int:
        value = self.read_in_range("second", True, 0, 59)
        match = re.match(r"[.,][0-9]+", self.rest)
        if match and not self.digits:
            self.read_fraction(len(match.group()))
        return value

    def read_fraction(self, size: int) -> int:
        """Parse a point or comma and digits, of which nine count."""
        head, self.rest = self.rest[:size], self.rest[size:]
        if len(head) < size or head[0] not in ".," or not _is_digits(head[1:]):
            raise _LayoutMismatch
        self.nanos = int(head[1:10].ljust(9, "0"))
        return 0

    def read_zone(self) -> int:
        if self.rest.startswith("Z"):
            self.rest = self.rest[1:]
            return 0
        head, self.rest = self.rest[:6], self.rest[6:]
        if len(head) < 6 or head[3] != ":":
            raise _LayoutMismatch
        hours, minutes = _parse_digits(head[1:3], 2), _parse_digits(head[4:6], 2)
        if minutes > 60:
            raise _OutOfRange("time zone offset minute")
        if hours > 24:
            raise _OutOfRange("time zone offset hour")
        if head[0] not in "+-":
            raise _LayoutMismatch
        self.offset = (hours * 60 + minutes) * 60 * (-1 if head[0] == "-" else 1)
        return 0


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _parse_digits(text: str, size: int) -> int:
    if len(text) < size or not _is_digits(text):
        raise _LayoutMismatch
    return int(text)


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


_NUMBER_AND_UNIT = re.compile(r"([0-9]*+)(?:(\.)([0-9]*+))?([^0-9.]*+)")
_NANOS = {"ns": 1, "us": 10**3, "\N{MICRO SIGN}s": 10**3, "\N{GREEK SMALL LETTER MU}s": 10**3, "ms": 10**6}
_NANOS |= {"s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LARGEST = 1 << 63


def parse_duration(text: str) -> int:
    """Return the nanoseconds of a duration such as 1h30m, as Go's time.ParseDuration does.

    Raises ValueError with Go's message.
    """
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
        count = _count_value(match[1])
        if count is None:
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


def _count_value(digits: str) -> int | None:
    """Return the value of digits, None beyond 64 bits."""
    digits = digits.lstrip("0")
    return None if len(digits) > 19 else int(digits or 0)


def _scale_fraction(digits: str, scale: int) -> int:
    """Return a fraction's digits (those that fit 64 bits) times `scale`, with Go's float arithmetic."""
    value, size = 0, 1.0
    for digit in digits[:19]:
        if value > (_LARGEST - 1) // 10 or value * 10 + int(digit) > _LARGEST:
            break
        value, size = value * 10 + int(digit), size * 10
    return int(float(value) * (float(scale) / size))


def find_duration_fault(text: str) -> str:
    """Return the error of Go's time.ParseDuration for a text, "" for a valid duration such as 1h30m."""
    try:
        parse_duration(text)
    except ValueError as error:
        return str(error)
    return ""


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


_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _count_days(year: int, month: int) -> int:
    return _DAYS[month] + (month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))


_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")


def is_date(text: str) -> bool:
    """Return whether a text is a full-date of RFC 3339 and the day exists."""
    match = _DATE.match(text)
    if not match:
        return False
    year, month, day = map(int, match.groups())
    if not 1 <= month <= 12:
        return False
    return 1 <= day <= _count_days(year, month)


_LONGEST = ((1 << 63) - 1) / 1e9  # seconds: the maximum of a Go duration
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


def format_human_duration(duration: float) -> str:
    """Format a duration in seconds with one or two units: HumanDuration of apimachinery's pkg/util/duration.

    Clocks can differ by a second.
    """
    seconds = int(min(duration, _LONGEST))
    if duration <= -2:
        return "<invalid>"
    for threshold, unit, lesser in _HUMAN_SPANS:
        if seconds >= threshold:
            count, remainder = divmod(seconds, unit)
            minor = remainder // lesser if lesser else 0
            return f"{count}{_UNIT_NAMES[unit]}{minor}{_UNIT_NAMES[lesser]}" if minor else f"{count}{_UNIT_NAMES[unit]}"
    return f"{max(seconds, 0)}s"
