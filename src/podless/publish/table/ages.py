"""Ages for users, such as 5m. Source: k8s.io/apimachinery pkg/util/duration."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, NamedTuple

from podless.apis.shared.columns import Lapse
from podless.codec import gotime
from podless.codec.gotime import format_human_duration
from podless.runtime.bounded import bounded_cache


class AgeSpan(NamedTuple):
    """A time span from a moment (seconds since 1970) until now, as part of a text."""

    before: str
    moment: float
    after: str


def read_age(value: Any) -> AgeSpan | str | None:
    """Return the content of an age cell: a Span, a constant text, or None."""
    if not isinstance(value, Lapse):
        moment = read_time(value)
        return AgeSpan("", moment, "") if isinstance(moment, float) else moment
    if not value.since:
        return value.before
    start = read_time(value.since)
    if not isinstance(start, float):
        return f"{value.before}{start}{value.after}"
    end = read_time(value.until) if value.until else None
    if isinstance(end, float):
        return f"{value.before}{format_human_duration(end - start)}{value.after}"
    return AgeSpan(value.before, start, value.after)


def read_time(value: Any) -> float | str | None:
    """Return the content of a time cell: the moment from which it counts, a constant text, or None."""
    if not isinstance(value, str):
        return None
    moment = _parse_moment(value)
    if moment is None:
        return "<unknown>"
    return "<invalid>" if moment == math.inf else moment


def format_age(moment: float, now: float) -> str:
    """Return the age of a moment; both in seconds since 1970."""
    return format_human_duration(now - moment)


@bounded_cache(4096)
def _parse_moment(text: str) -> float | None:
    """Return seconds since 1970, None for no time, infinity for an invalid time."""
    try:
        plain = None if text in ("", "null") else gotime.normalise_time(text)
    except ValueError:
        return math.inf
    if plain is None:
        return None
    try:
        return datetime.fromisoformat(plain).timestamp()
    except ValueError:  # Go has a year 0, Python does not; the age is the same for all such times
        return -math.inf
