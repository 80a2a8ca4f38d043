"""In which order groups are shown: the built-in ones by their priority, then those of definitions by name.

Source: the priorities that kube-apiserver registers its groups with.
"""

from __future__ import annotations

CUSTOM = 1000
_PRIORITIES = {
    "apiregistration.k8s.io": 18500,
    "": 18000,
    "extensions": 17900,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_VERSIONS = {("autoscaling", "v2"): 30, ("flowcontrol.apiserver.k8s.io", "v1"): 21, ("resource.k8s.io", "v1"): 21}


def priority(group: str) -> int:
    """How much a group counts; the one with more is shown first."""
    return _PRIORITIES.get(group, CUSTOM)


def version_priority(group: str, version: str) -> int:
    """How much a version counts within its group."""
    if not group:
        return 1
    if group not in _PRIORITIES:
        return 100
    return _VERSIONS.get((group, version), 15 if version == "v1" else 12)
