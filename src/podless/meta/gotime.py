"""Times as Go reads and prints them: the layouts of metav1.Time and MicroTime, and the texts of time.Parse.

Go takes more than RFC 3339: hours of one digit, a comma before fractions, offsets of 24 hours.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable

from podless.meta import gotext

LAYOUTS = {0: "2006-01-02T15:04:05Z07:00", 6: "2006-01-02T15:04:05.000000Z07:00"}
ZERO = (1, (1, 1, 0, 0, 0), 0)

# what nearly every time looks like: nothing to change, nothing to check
_PLAIN = {
    0: re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ"),
    6: re.compile(r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z"),
}


class _Bad(Exception):
    """The text is not what the layout wants here."""


class _Range(Exception):
    """A number in the text is out of range; says which."""


def normalise(text: str, digits: int = 0) -> str | None:
    """The time in UTC with `digits` (0 or 6) digits of the second; None for Go's zero time.

    digits 6 wants six digits in the text too; with 0 a fraction is cut off. Raises ValueError with Go's message.
    """
    if _PLAIN[digits].fullmatch(text):
        return text
    years, moment = _Reader(text, digits).read()
    if (moment.year + years, moment.timetuple()[1:6], moment.microsecond) == ZERO:
        return None
    year = f"{moment.year + years:04d}"
    fraction = f".{moment.microsecond:06d}" if digits else ""
    return f"{year}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


class _Reader:
    """Reads one text by a layout, element by element, as time.Parse does."""

    def __init__(self, text: str, digits: int) -> None:
        self.text = self.rest = text
        self.digits = digits
        self.offset = self.microseconds = 0

    def read(self) -> tuple[int, datetime.datetime]:
        """Years to add, in steps of 400 that datetime has no room for, and the time in UTC."""
        year = self.step("2006", self.year)
        month = self.step("01", lambda: self.ranged("month", True, 1, 12), "-")
        day = self.step("02", lambda: self.number(True), "-")
        hour = self.step("15", lambda: self.ranged("hour", False, 0, 23), "T")
        minute = self.step("04", lambda: self.ranged("minute", True, 0, 59), ":")
        second = self.step("05", self.second, ":")
        if self.digits:
            self.step("." + "0" * self.digits, lambda: self.fraction(self.digits + 1))
        self.step("Z07:00", self.zone)
        if self.rest:
            raise ValueError(f"parsing time {_quote(self.text)}: extra text: {_quote(self.rest)}")
        # the calendar repeats after 400 years
        years = -400 if year < 1000 else 400 if year > 9000 else 0
        try:
            moment = datetime.datetime(year - years, month, day, hour, minute, second, self.microseconds)
        except ValueError:
            raise ValueError(f"parsing time {_quote(self.text)}: day out of range") from None
        return years, moment - datetime.timedelta(seconds=self.offset)

    def step(self, element: str, read: Callable[[], int], prefix: str = "") -> int:
        """Reads one element of the layout and what stands before it; its errors become Go's."""
        if not self.rest.startswith(prefix):
            raise self.error(self.rest, prefix)
        self.rest = hold = self.rest.removeprefix(prefix)
        try:
            return read()
        except _Bad:
            raise self.error(hold, element) from None
        except _Range as error:
            raise ValueError(f"parsing time {_quote(self.text)}: {error} out of range") from None

    def error(self, found: str, wanted: str) -> ValueError:
        layout = LAYOUTS[self.digits]
        text = f"parsing time {_quote(self.text)} as {_quote(layout)}: "
        return ValueError(f"{text}cannot parse {_quote(found)} as {_quote(wanted)}")

    def year(self) -> int:
        head, self.rest = self.rest[:4], self.rest[4:]
        return _int(head, 4)

    def number(self, fixed: bool) -> int:
        """Two digits, or one where the layout allows it."""
        size = 2 if fixed or _digits(self.rest[1:2]) else 1
        head, self.rest = self.rest[:size], self.rest[size:]
        return _int(head, size)

    def ranged(self, name: str, fixed: bool, least: int, most: int) -> int:
        value = self.number(fixed)
        if not least <= value <= most:
            raise _Range(name)
        return value

    def second(self) -> int:
        value = self.ranged("second", True, 0, 59)
        found = re.match(r"[.,][0-9]+", self.rest)
        if found and not self.digits:
            self.fraction(len(found.group()))
        return value

    def fraction(self, size: int) -> int:
        """A point or comma and digits, of which nine count; datetime holds six."""
        head, self.rest = self.rest[:size], self.rest[size:]
        if len(head) < size or head[0] not in ".," or not _digits(head[1:]):
            raise _Bad
        self.microseconds = int(head[1:7].ljust(6, "0"))
        return 0

    def zone(self) -> int:
        if self.rest.startswith("Z"):
            self.rest = self.rest[1:]
            return 0
        head, self.rest = self.rest[:6], self.rest[6:]
        if len(head) < 6 or head[3] != ":":
            raise _Bad
        hours, minutes = _int(head[1:3], 2), _int(head[4:6], 2)
        if minutes > 60:
            raise _Range("time zone offset minute")
        if hours > 24:
            raise _Range("time zone offset hour")
        if head[0] not in "+-":
            raise _Bad
        self.offset = (hours * 60 + minutes) * 60 * (-1 if head[0] == "-" else 1)
        return 0


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _int(text: str, size: int) -> int:
    if len(text) < size or not _digits(text):
        raise _Bad
    return int(text)


def _quote(text: str) -> str:
    """Package time's own quoting: every byte that is no printable ASCII as \\xhh."""
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif " " <= char <= "\x7f":
            out.append(char)
        else:
            out.extend(f"\\x{byte:02x}" for byte in char.encode())
    return f'"{"".join(out)}"'


_SPAN = re.compile(r"(\d*)(?:\.(\d*))?([^\d.]*)")
_NANOS = {"ns": 1, "us": 10**3, "\N{MICRO SIGN}s": 10**3, "\N{GREEK SMALL LETTER MU}s": 10**3, "ms": 10**6}
_NANOS |= {"s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def duration_fault(text: str) -> str:
    """What Go's time.ParseDuration says against a text such as 1h30m, "" where it is one."""
    invalid = f"time: invalid duration {gotext.quote(text)}"
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return ""
    if not rest:
        return invalid
    total, place = 0, 0
    while place < len(rest):
        match = _SPAN.match(rest, place)
        if match is None or not (match[1] or match[2]):
            return invalid
        if not match[3]:
            return f"time: missing unit in duration {gotext.quote(text)}"
        scale = _NANOS.get(match[3])
        if scale is None:
            return f"time: unknown unit {gotext.quote(match[3])} in duration {gotext.quote(text)}"
        fraction = (match[2] or "")[:18]
        total += int(match[1] or 0) * scale + int(fraction or 0) * scale // 10 ** len(fraction)
        place = match.end()
    return invalid if total > 2**63 - (text[0] != "-") else ""


_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")


def is_date(text: str) -> bool:
    """Whether a text is a full-date of RFC 3339, of a day that there is."""
    match = _DATE.match(text)
    if not match:
        return False
    year, month, day = map(int, match.groups())
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and calendar.isleap(year)
    return 1 <= day <= (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month] + leap
