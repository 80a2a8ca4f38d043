"""Columns of events, which are the same in both of their groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from podless.publish.columns.cell import NAME, Age, Cell, Object, Of, at, text


def _first_seen(obj: Object) -> str:
    return str(at(obj, "firstTimestamp") or at(obj, "deprecatedFirstTimestamp") or at(obj, "eventTime"))


def _last_seen(obj: Object) -> str:
    last = at(obj, "lastTimestamp") or at(obj, "deprecatedLastTimestamp") or _first_seen(obj)
    return str(at(obj, "series", "lastObservedTime") or last)


def _about(obj: Object) -> str:
    target = at(obj, "involvedObject") or at(obj, "regarding", default={})
    kind, name = str(at(target, "kind")).lower(), at(target, "name")
    return f"{kind}/{name}" if name else kind


def _source(obj: Object) -> str:
    source = at(obj, "source") or at(obj, "deprecatedSource", default={})
    component = at(source, "component") or at(obj, "reportingComponent") or at(obj, "reportingController")
    host = at(source, "host") or at(obj, "reportingInstance")
    return f"{component}, {host}" if host else str(component)


def _times(obj: Object) -> int:
    count = at(obj, "count", default=0) or at(obj, "deprecatedCount", default=0) or 1
    return int(at(obj, "series", "count", default=count))


_CELLS = (
    Cell("Last Seen", "string", Of("", "Event", "lastTimestamp"), Age(_last_seen)),
    Cell("Type", "string", Of("", "Event", "type"), text("type")),
    Cell("Reason", "string", Of("", "Event", "reason"), text("reason")),
    Cell("Object", "string", Of("", "Event", "involvedObject"), _about),
    Cell(
        "Subobject",
        "string",
        Of("", "ObjectReference", "fieldPath"),
        lambda obj: str(at(obj, "involvedObject", "fieldPath") or at(obj, "regarding", "fieldPath")),
        priority=1,
    ),
    Cell("Source", "string", Of("", "Event", "source"), _source, priority=1),
    Cell(
        "Message",
        "string",
        Of("", "Event", "message"),
        lambda obj: str(at(obj, "message") or at(obj, "note")).strip(),
    ),
    Cell("First Seen", "string", Of("", "Event", "firstTimestamp"), Age(_first_seen), priority=1),
    Cell("Count", "string", Of("", "Event", "count"), _times, priority=1),
    replace(NAME, priority=1),
)

COLUMNS: Mapping[str, tuple[Cell, ...]] = {"events": _CELLS}
