"""In which order groups are shown: the built-in ones by their priority, then those of definitions by name.

Source: the priorities that kube-apiserver 1.36 registers its groups with.
"""

from __future__ import annotations

CUSTOM = 1000
_PRIORITIES = {
    "apiregistration.k8s.io": 18500,
    "": 18000,
    "extensions": 17900,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "rbac.authorization.k8s.io": 17000,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "coordination.k8s.io": 16500,
}


def priority(group: str) -> int:
    """How much a group counts; the one with more is shown first."""
    return _PRIORITIES.get(group, CUSTOM)


def version_priority(group: str, version: str) -> int:
    """How much a version counts within its group."""
    if not group:
        return 1
    if group not in _PRIORITIES:
        return 100
    return 15 if version == "v1" else 12


def order(group: str) -> tuple[int, str]:
    """What groups are sorted by."""
    return -priority(group), group
