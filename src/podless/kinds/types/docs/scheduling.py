"""Texts of scheduling.k8s.io."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "PriorityClass": {
        "": "A name for a priority that pods can have.",
        "description": "For what pods the class is, for people.",
        "globalDefault": "Whether pods without a class have this one; one class at most should say so.",
        "preemptionPolicy": "PreemptLowerPriority or Never: whether other pods are removed to make room for such pods.",
        "value": "The priority; the higher, the more important. It never changes.",
    },
}
