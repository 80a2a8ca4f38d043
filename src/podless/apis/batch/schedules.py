"""Validates schedules and time zones of CronJobs.

Source: github.com/robfig/cron/v3 (standard parser), Kubernetes' pkg/apis/batch/validation, and recorded answers.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import field
from functools import cache

from podless.codec import gotext, gotime
from podless.runtime.dataclass import dataclass
from podless.runtime.meter import each

_FIELDS = 5
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_INTERVAL_PREFIX = "@every "
_ZONES = ("TZ=", "CRON_TZ=")
_ZONE_SEGMENT = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")
_SPACE = re.compile(r"[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]++")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_DAYS = "sun mon tue wed thu fri sat"


class ScheduleError(ValueError):
    """A text is not a schedule. The message is kube-apiserver's."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The minimum, maximum and names of a schedule field."""

    minimum: int
    maximum: int
    names: Mapping[str, int] = field(default_factory=dict)


_BOUNDS = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS.split(), 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_DAYS.split())}),
)


def find_schedule_fault(text: str) -> str:
    """Return why a text is not a cron schedule, or ""."""
    try:
        _validate_schedule(text)
    except ScheduleError as error:
        return str(error)
    return ""


def _validate_schedule(text: str) -> None:
    if not text:
        raise ScheduleError("empty spec string")
    if text.startswith(_ZONES):
        zone, _, remainder = text.partition(" ")
        name = zone.partition("=")[2]
        if reason := find_zone_fault(name):
            raise ScheduleError(f"provided bad location {name}: {reason}")
        text = remainder.strip()
    if text.startswith("@"):
        _validate_descriptor(text)
        return
    fields = [segment for segment in each(_SPACE.split(text)) if segment]
    if len(fields) != _FIELDS:
        raise ScheduleError(f"expected exactly {_FIELDS} fields, found {len(fields)}: [{' '.join(fields)}]")
    for text_of_field, bounds in zip(fields, _BOUNDS, strict=True):
        for expression in each(text_of_field.split(",")):
            if expression:
                _validate_range(expression, bounds)


def _validate_descriptor(text: str) -> None:
    if text in _DESCRIPTORS:
        return
    if not text.startswith(_INTERVAL_PREFIX):
        raise ScheduleError(f"unrecognized descriptor: {text}")
    try:
        gotime.parse_duration(text.removeprefix(_INTERVAL_PREFIX))
    except ValueError as error:
        raise ScheduleError(f"failed to parse duration {text}: {error}") from None


def _validate_range(text: str, bounds: _Bounds) -> None:
    """Validate a range: *, 1 or 1-3, with an optional step."""
    range_and_step = text.split("/")
    limits = range_and_step[0].split("-")
    if limits[0] in ("*", "?"):
        start, end = bounds.minimum, bounds.maximum
    else:
        start = end = _parse_number(limits[0], bounds)
        if len(limits) > 2:
            raise ScheduleError(f"too many hyphens: {text}")
        if len(limits) == 2:
            end = _parse_number(limits[1], bounds)
    if len(range_and_step) > 2:
        raise ScheduleError(f"too many slashes: {text}")
    step = _parse_number(range_and_step[1], None) if len(range_and_step) == 2 else 1
    if len(range_and_step) == 2 and len(limits) == 1:
        end = bounds.maximum
    if start < bounds.minimum:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({bounds.minimum}): {text}")
    if end > bounds.maximum:
        raise ScheduleError(f"end of range ({end}) above maximum ({bounds.maximum}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise ScheduleError(f"step of range should be a positive number: {text}")


def _parse_number(text: str, bounds: _Bounds | None) -> int:
    if bounds is not None and text.lower() in bounds.names:
        return bounds.names[text.lower()]
    try:
        number = gotext.parse_int(text, name="Atoi")
    except ValueError as error:
        raise ScheduleError(f"failed to parse int from {text}: {error}") from None
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number


def find_zone_faults(name: str) -> list[str]:
    """Return the faults of a CronJob's time zone."""
    if not name:
        return ["timeZone must be nil or non-empty string"]
    for segment in each(name.split("/")):
        if segment in (".", "..") or segment.startswith("-") or not _ZONE_SEGMENT.fullmatch(segment):
            return [f"unknown time zone {name}"]
    errors = []
    if name.lower() == "local":
        errors.append("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
    reason = find_zone_fault(name)
    return [*errors, reason] if reason else errors


def find_zone_fault(name: str) -> str:
    """Return why a time zone is unknown, or "". Without a time zone database, every name is accepted."""
    if name in ("", "UTC", "Local") or name in _list_zones() or not _list_zones():
        return ""
    if ".." in name or name[0] in "/\\":
        return "time: invalid location name"
    return f"unknown time zone {name}"


@cache
def _list_zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
