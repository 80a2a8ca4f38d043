"""Cells of the printer columns of apiregistration.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import Object, at
from podless.runtime.meter import each


def read_service(obj: Object) -> str:
    service = at(obj, "spec", "service", default=None)
    return f"{at(service, 'namespace')}/{at(service, 'name')}" if service else "Local"


def read_available(obj: Object) -> str:
    conditions = {condition.get("type"): condition for condition in each(at(obj, "status", "conditions", default=()))}
    available = conditions.get("Available", {})
    status, reason = available.get("status", "Unknown"), available.get("reason", "")
    return str(status if status == "True" or not reason else f"{status} ({reason})")
