"""Parses times that users write."""

from __future__ import annotations

from datetime import datetime

from podless.runtime import clock
from podless.runtime.option import parse_duration
from podless.store import HistoryCompacted, Store, StoreError

NO_LOG = "the store keeps no log of changes: etcd has none with --no-history-authors, and kine cannot have one"


def parse_moment(text: str, now: float) -> int:
    """Return a time in milliseconds since 1970.

    text: RFC 3339, such as 2026-01-31T12:00:00Z, or a duration before now, such as 90m. now: seconds since 1970. Raises
    ValueError.
    """
    if text[4:5] == "-":
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise ValueError(f"{text!r} is not a time such as 2026-01-31T12:00:00Z")
        return int(moment.timestamp() * 1000)
    try:
        return int((now - parse_duration(text)) * 1000)
    except ValueError:
        raise ValueError(f"{text!r} is not a time: use RFC 3339 (2026-01-31T12:00:00Z) or a duration (90m)") from None


async def find_revision(store: Store, text: str) -> int:
    """Return the revision that a text names: a revision, or a time as `parse_moment` takes it.

    Raises ValueError, HistoryCompacted if it is forgotten, StoreError if the store has no log.
    """
    if text.isascii() and text.isdigit() and len(text) < 19:
        newest = await store.read_revision()
        if int(text) > newest:
            raise ValueError(f"revision {text} does not exist yet: the newest is {newest}")
        return int(text)
    at = parse_moment(text, clock.time())
    if store.changelog is None:
        raise StoreError(NO_LOG)
    return await store.changelog.find_revision(at)


async def explain_forgotten(store: Store, error: HistoryCompacted) -> str:
    """Return why a state is not readable, the oldest readable state, and how to keep more history."""
    at = await store.changelog.find_time(error.revision) if store.changelog is not None else 0
    moment = f" ({clock.format_time(at // 1000)})" if at else ""
    if not error.revision:
        return f"The requested time is before the first change that the server knows of{moment}."
    since = f"revision {error.revision}{moment}"
    return f"The requested state is too old: the oldest one in the history is {since}. --history keeps more."
