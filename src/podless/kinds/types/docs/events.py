"""Texts of events.k8s.io."""

from __future__ import annotations

_OLD = "of the event as the core group has it."

TEXTS: dict[str, dict[str, str]] = {
    "Event": {
        "": "Something that happened to an object. Events are for people, and are dropped after a while.",
        "action": "What was done to the object.",
        "deprecatedCount": f"The count {_OLD}",
        "deprecatedFirstTimestamp": f"The firstTimestamp {_OLD}",
        "deprecatedLastTimestamp": f"The lastTimestamp {_OLD}",
        "deprecatedSource": f"The source {_OLD}",
        "eventTime": "When it happened first.",
        "note": "What happened, for people: at most 1 kB.",
        "reason": "Why it happened, in one CamelCase word.",
        "regarding": "The object that it happened to.",
        "related": "Another object that has to do with it.",
        "reportingController": "The controller that reports it.",
        "reportingInstance": "Which one of several such controllers reports it.",
        "series": "How it goes on, where it happens again and again.",
        "type": "Normal or Warning.",
    },
    "EventSeries": {
        "": "Something that happens again and again.",
        "count": "How often it has happened by now.",
        "lastObservedTime": "When it happened last.",
    },
}
