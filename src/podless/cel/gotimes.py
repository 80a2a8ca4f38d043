"""Timestamps and durations as text, as Go parses and formats them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from podless.cel.errors import EvaluationError
from podless.cel.values import SECOND, TIME_MAX, TIME_MIN, Duration, Timestamp
from podless.codec import gotext, gotime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86400
_YEARS, _CYCLE = 400, 146097  # the calendar repeats after so many years and days


def parse_timestamp(text: str) -> Timestamp | None:
    """Return the timestamp in an RFC 3339 text, None if it is invalid."""
    try:
        return Timestamp(*gotime.parse_instant(text))
    except ValueError:
        return None


def is_in_years(time: Timestamp) -> bool:
    """Return whether a timestamp is in the years 1 to 9999."""
    return TIME_MIN <= time.ns <= TIME_MAX


def format_timestamp(time: Timestamp) -> str:
    """Return a timestamp in RFC 3339 in its own offset, with as many digits as needed."""
    seconds, nanos = divmod(time.ns + time.offset * SECOND, SECOND)
    local = _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds)
    text = f"{local.year:04d}-{local.month:02d}-{local.day:02d}T{local:%H:%M:%S}"
    if nanos:
        text += f".{nanos:09d}".rstrip("0")
    if not time.offset:
        return f"{text}Z"
    hours, minutes = divmod(abs(time.offset) // 60, 60)
    return f"{text}{'-' if time.offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def format_duration(span: Duration) -> str:
    """Return a duration in seconds as a float64 with as many digits as needed, and "s"."""
    whole_seconds, nanos = divmod(abs(span.ns), SECOND)
    seconds = float(whole_seconds) + nanos / 1e9
    text = format(gotext.shortest_decimal(seconds), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'-' if span.ns < 0 else ''}{text}s"


def _parse_offset(name: str) -> int:
    """Return the seconds of an offset such as -08:00. As in cel-go, its parts can be any integers.

    Raises EvaluationError.
    """
    try:
        hours, minutes = (gotext.parse_int(part, name="Atoi") for part in name.split(":", 1))
    except ValueError as error:
        raise EvaluationError(str(error)) from None
    count = hours * 60 + (-minutes if name[0] == "-" else minutes)
    nanos = (count * 60 * SECOND + (1 << 63)) % (1 << 64) - (1 << 63)  # wraps around like Go's int64 nanoseconds
    return int(nanos / SECOND)


def _find_zone_offset(name: str, time: Timestamp) -> int:
    """Return the offset in seconds of a named time zone at some time. Raises EvaluationError."""
    if name in ("", "UTC", "Local"):
        return 0
    if ".." in name or name[0] in "/\\":
        raise EvaluationError("time: invalid location name")
    from zoneinfo import ZoneInfo  # imported late, because few rules use a zone

    try:
        zone = ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None
    # near the ends of datetime's range, use an equivalent year of the 400-year cycle
    shift = -_CYCLE * _DAY if time.ns > TIME_MAX - _DAY * SECOND else _CYCLE * _DAY if time.ns < TIME_MIN + _DAY else 0
    utc = _EPOCH + timedelta(seconds=time.ns // SECOND + shift)
    offset = utc.astimezone(zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


def convert_to_zone(time: Timestamp, name: str = "UTC") -> tuple[datetime, int]:
    """Return a time in a zone (name or offset), truncated to microseconds; and years to add to it.

    Raises EvaluationError.
    """
    offset = 0 if name == "UTC" else _parse_offset(name) if ":" in name else _find_zone_offset(name, time)
    seconds, nanos = divmod(time.ns, SECOND)
    days, seconds_of_day = divmod(seconds + offset, _DAY)
    cycles, days = divmod(days, _CYCLE)
    return _EPOCH + timedelta(days=days, seconds=seconds_of_day, microseconds=nanos // 1000), cycles * _YEARS


def format_go_timestamp(time: Timestamp) -> str:
    """Return a time as Go's Time.String formats it: 2024-01-01 00:04:59.999 +0000 UTC."""
    text = format_timestamp(Timestamp(time.ns + time.offset * SECOND))
    hours, minutes = divmod(abs(time.offset) // 60, 60)
    zone = f"{'-' if time.offset < 0 else '+'}{hours:02d}{minutes:02d}"
    return f"{text[:-1].replace('T', ' ')} {zone} {zone if time.offset else 'UTC'}"


def format_go_duration(span: Duration) -> str:
    """Return a duration as Go's Duration.String formats it: 1h30m0s, 1.5ms."""
    sign, remaining = ("-" if span.ns < 0 else ""), abs(span.ns)
    if remaining < SECOND:
        unit, scale = next(((unit, scale) for unit, scale in _SMALL if remaining >= scale), ("s", 1))
        return f"{sign}{_format_decimal(remaining, scale)}{unit}"
    minutes, remaining = divmod(remaining, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    lead = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{lead}{_format_decimal(remaining, SECOND)}s"


_SMALL = (("ms", 10**6), ("µs", 10**3), ("ns", 1))


def _format_decimal(count: int, scale: int) -> str:
    quotient, remainder = divmod(count, scale)
    fraction = f"{remainder:0{len(str(scale)) - 1}d}".rstrip("0") if remainder else ""
    return f"{quotient}.{fraction}" if fraction else str(quotient)
