"""Cells of the printer columns of storagemigration.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import Object, at
from podless.runtime.meter import each

_STATES = ("Running", "Failed", "Succeeded")


def read_resource(obj: Object) -> str:
    resource = at(obj, "spec", "resource", default={})
    group = resource.get("group")
    return f"{resource.get('resource', '')}.{group}" if group else str(resource.get("resource", ""))


def read_state(obj: Object) -> str:
    state = "Unknown"
    for condition in each(at(obj, "status", "conditions", default=())):
        if condition.get("status") == "True" and condition.get("type") in _STATES:
            state = condition["type"]
    return state
