"""Specs of claims: defaults that depend on more than one field, and what is no change.

Source: Kubernetes' pkg/apis/resource/v1.
"""

from __future__ import annotations

from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


def is_same_spec(one: Object, other: Object) -> bool:
    """Whether two specs want the same; no requests are none, however that is written."""
    return _listed(one) == _listed(other)


def _listed(spec: Object) -> Object:
    devices = spec.get("devices") or {}
    return {**devices, "requests": devices.get("requests") or []}


def default_requests(spec: Object) -> None:
    """One device is wanted where nothing else is said."""
    for request in each((spec.get("devices") or {}).get("requests") or ()):
        for wanted in filter(None, each((request.get("exactly"), *(request.get("firstAvailable") or ())))):
            if wanted.get("allocationMode") == "ExactCount" and not wanted.get("count"):
                wanted["count"] = 1
