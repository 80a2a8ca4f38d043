"""Times as people give them."""

from __future__ import annotations

from datetime import datetime

from podless.runtime.option import parse_duration


def parse_moment(text: str, now: float) -> int:
    """Return a time in milliseconds since 1970.

    text: RFC 3339, such as 2026-01-31T12:00:00Z, or a duration before now, such as 90m. now: seconds since 1970. Raises
    ValueError.
    """
    if text[4:5] == "-":
        try:
            given = datetime.fromisoformat(text)
        except ValueError:
            given = None
        if given is None or given.tzinfo is None:
            raise ValueError(f"{text!r} is not a time such as 2026-01-31T12:00:00Z")
        return int(given.timestamp() * 1000)
    try:
        return int((now - parse_duration(text)) * 1000)
    except ValueError:
        raise ValueError(f"{text!r} is not a time: use RFC 3339 (2026-01-31T12:00:00Z) or a duration (90m)") from None
