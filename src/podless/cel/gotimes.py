"""Timestamps and durations as text, as Go reads and prints them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal

from podless.cel.errors import EvaluationError
from podless.cel.values import SECOND, TIME_MAX, TIME_MIN, Duration, Timestamp

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
)
_OFFSET = re.compile(r"([+-]?)([0-9]{1,2}):([0-9]{2})$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86400
_LONG = 1000


def parse_duration(text: str) -> int | None:
    """Nanoseconds of a text such as 1h30m, or None."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if len(rest) > _LONG:
        return None
    if rest == "0":
        return 0
    total, end = 0, 0
    while end < len(rest):
        match = _PART.match(rest, end)
        if match is None or not (match[1] or match[2]):
            return None
        unit = _UNITS[match[3]]
        total += int(match[1] or 0) * unit
        if match[2]:
            total += int(match[2][:18]) * unit // 10 ** len(match[2][:18])
        end = match.end()
    if not rest or total > (1 << 63) - (not text.startswith("-")):
        return None
    return -total if text.startswith("-") else total


def parse_timestamp(text: str) -> Timestamp | None:
    """The time that an RFC 3339 text gives, or None."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    if hour > 23 or minute > 59 or second > 59:
        return None
    offset = 0
    if match[8] not in "Zz":
        offset = (int(match[8][1:3]) * 60 + int(match[8][4:])) * (-60 if match[8][0] == "-" else 60)
    try:
        days = date(year, month, day).toordinal() if year else -366 + date(4, month, day).toordinal() - 1095
    except ValueError:
        return None
    seconds = (days - 719163) * _DAY + hour * 3600 + minute * 60 + second - offset
    nanos = int((match[7] or "0")[:9].ljust(9, "0"))
    return Timestamp(seconds * SECOND + nanos, offset)


def in_years(time: Timestamp) -> bool:
    """Whether a time is of the years 1 to 9999."""
    return TIME_MIN <= time.ns <= TIME_MAX


def show_timestamp(time: Timestamp) -> str:
    """RFC 3339 with as many digits as are needed, in the offset that the time was given with."""
    seconds, nanos = divmod(time.ns + time.offset * SECOND, SECOND)
    local = _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds)
    text = f"{local.year:04d}-{local.month:02d}-{local.day:02d}T{local:%H:%M:%S}"
    if nanos:
        text += f".{nanos:09d}".rstrip("0")
    if not time.offset:
        return f"{text}Z"
    hours, minutes = divmod(abs(time.offset) // 60, 60)
    return f"{text}{'-' if time.offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def show_duration(span: Duration) -> str:
    """Seconds as a float64 with as many digits as it needs, and an s."""
    whole, nanos = divmod(abs(span.ns), SECOND)
    seconds = float(whole) + nanos / 1e9
    text = format(Decimal(repr(seconds)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'-' if span.ns < 0 else ''}{text}s"


def zone(name: str) -> tzinfo:
    """A time zone by its name or its offset, such as America/Los_Angeles or -08:00. Raises EvaluationError."""
    match = _OFFSET.match(name)
    if match:
        minutes = int(match[2]) * 60 + int(match[3])
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))
    if name in ("", "UTC"):
        return UTC
    from zoneinfo import ZoneInfo  # few rules ask for one

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


def local(time: Timestamp, name: str = "UTC") -> datetime:
    """A time on the clocks of a zone; what is finer than microseconds is cut off."""
    utc = _EPOCH + timedelta(microseconds=time.ns // 1000)
    try:
        return utc.astimezone(zone(name))
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None


def spelled_timestamp(time: Timestamp) -> str:
    """A time as Go's Time.String gives it: 2024-01-01 00:04:59.999 +0000 UTC."""
    text = show_timestamp(Timestamp(time.ns + time.offset * SECOND))
    hours, minutes = divmod(abs(time.offset) // 60, 60)
    zone = f"{'-' if time.offset < 0 else '+'}{hours:02d}{minutes:02d}"
    return f"{text[:-1].replace('T', ' ')} {zone} {zone if time.offset else 'UTC'}"


def spelled_duration(span: Duration) -> str:
    """A duration as Go's Duration.String gives it: 1h30m0s, 1.5ms."""
    sign, rest = ("-" if span.ns < 0 else ""), abs(span.ns)
    if rest < SECOND:
        unit, scale = next(((unit, scale) for unit, scale in _SMALL if rest >= scale), ("s", 1))
        return f"{sign}{_decimal(rest, scale)}{unit}"
    minutes, rest = divmod(rest, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    lead = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{lead}{_decimal(rest, SECOND)}s"


_SMALL = (("ms", 10**6), ("µs", 10**3), ("ns", 1))


def _decimal(count: int, scale: int) -> str:
    whole, rest = divmod(count, scale)
    fraction = f"{rest:0{len(str(scale)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)
