"""Schedules and time zones."""

from __future__ import annotations

import pytest

from podless.apis.batch import schedules


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("*/5 * * * *", ""),
        ("0,30 1-5/2 ? JAN-mar Sun", ""),
        ("  0\t0 1 1 0 ", ""),
        ("@hourly", ""),
        ("@every 1h30m", ""),
        ("TZ=UTC 0 0 * * *", ""),
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-2 * * * *", "beginning of range (5) beyond end of range (2): 5-2"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("@often", "unrecognized descriptor: @often"),
    ],
)
def test_schedules(text: str, wanted: str) -> None:
    assert schedules.find_schedule_fault(text) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("UTC", []),
        ("Europe/Berlin", []),
        ("", ["timeZone must be nil or non-empty string"]),
        ("Mars/Phobos", ["unknown time zone Mars/Phobos"]),
        ("../etc", ["unknown time zone ../etc"]),
        ("Local", ["timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"]),
    ],
)
def test_zones(name: str, wanted: list[str]) -> None:
    assert schedules.find_zone_faults(name) == wanted
