"""Parts of timestamps and durations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from podless.cel import gotimes
from podless.cel.decls import Function, Library, declare_function, member
from podless.cel.types import DURATION, INT, STRING, TIMESTAMP
from podless.cel.values import SECOND, Duration, Timestamp

_DAY = "timestamp('2024-05-06T07:08:09.123Z')"
_PARTS: dict[str, tuple[str, Callable[[datetime], int], int]] = {
    "getFullYear": ("The year.", lambda time: time.year, 2024),
    "getMonth": ("The month, from 0.", lambda time: time.month - 1, 4),
    "getDate": ("The day of the month, from 1.", lambda time: time.day, 6),
    "getDayOfMonth": ("The day of the month, from 0.", lambda time: time.day - 1, 5),
    "getDayOfWeek": ("The day of the week, Sunday is 0.", lambda time: time.isoweekday() % 7, 1),
    "getDayOfYear": ("The day of the year, from 0.", lambda time: time.timetuple().tm_yday - 1, 126),
    "getHours": ("The hour.", lambda time: time.hour, 7),
    "getMinutes": ("The minute.", lambda time: time.minute, 8),
    "getSeconds": ("The second.", lambda time: time.second, 9),
    "getMilliseconds": ("The milliseconds of the second.", lambda time: time.microsecond // 1000, 123),
}
_SPANS = {"getHours": 3600 * SECOND, "getMinutes": 60 * SECOND, "getSeconds": SECOND, "getMilliseconds": SECOND // 1000}


def _span(unit: int) -> Callable[[Duration], int]:
    def part(value: Duration) -> int:
        count = abs(value.ns) // unit
        return -count if value.ns < 0 else count

    return part


def _declare(name: str, doc: str, part: Callable[[datetime], int], seen: int) -> Function:
    def zoned(time: Timestamp, zone: str = "UTC") -> int:
        moment, years = gotimes.local_time(time, zone)
        return part(moment) + (years if name == "getFullYear" else 0)

    overloads = [
        member(f"timestamp_{name}", (TIMESTAMP,), INT, zoned),
        member(f"timestamp_{name}_with_tz", (TIMESTAMP, STRING), INT, zoned),
    ]
    if name in _SPANS:
        overloads.append(member(f"duration_{name}", (DURATION,), INT, _span(_SPANS[name])))
    return declare_function(
        name, f"{doc} In UTC, or in a zone by name or offset.", [f"{_DAY}.{name}() == {seen}"], *overloads
    )


LIBRARY = Library("time", tuple(_declare(name, *rest) for name, rest in _PARTS.items()))
