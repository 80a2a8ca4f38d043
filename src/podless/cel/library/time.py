"""Parts of timestamps and durations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from podless.cel import gotimes
from podless.cel.functions import Library, Overload, declare
from podless.cel.values import SECOND, Duration, Timestamp

_GETTERS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda time: time.year,
    "getMonth": lambda time: time.month - 1,
    "getDate": lambda time: time.day,
    "getDayOfMonth": lambda time: time.day - 1,
    "getDayOfWeek": lambda time: time.isoweekday() % 7,
    "getDayOfYear": lambda time: time.timetuple().tm_yday - 1,
    "getHours": lambda time: time.hour,
    "getMinutes": lambda time: time.minute,
    "getSeconds": lambda time: time.second,
    "getMilliseconds": lambda time: time.microsecond // 1000,
}
_SPANS = {"getHours": 3600 * SECOND, "getMinutes": 60 * SECOND, "getSeconds": SECOND, "getMilliseconds": SECOND // 1000}


def _make_duration_part(unit: int) -> Callable[[Duration], int]:
    def count_units(value: Duration) -> int:
        count = abs(value.ns) // unit
        return -count if value.ns < 0 else count

    return count_units


def _declare_getter(name: str, read_field: Callable[[datetime], int]) -> list[Overload]:
    def get_in_zone(time: Timestamp, zone: str = "UTC") -> int:
        moment, years = gotimes.convert_to_zone(time, zone)
        return read_field(moment) + (years if name == "getFullYear" else 0)

    overloads = [
        declare(f"<timestamp>.{name}() -> int", f"timestamp_{name}", get_in_zone),
        declare(f"<timestamp>.{name}(string) -> int", f"timestamp_{name}_with_tz", get_in_zone),
    ]
    if name in _SPANS:
        overloads.append(declare(f"<duration>.{name}() -> int", f"duration_{name}", _make_duration_part(_SPANS[name])))
    return overloads


LIBRARY = Library(
    "time", tuple(overload for name, part in _GETTERS.items() for overload in _declare_getter(name, part))
)
