"""Cells of the printer columns of resource.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import Object, at


def claim_state(obj: Object) -> str:
    ending = bool(at(obj, "metadata", "deletionTimestamp"))
    allocated = at(obj, "status", "allocation", default=None) is not None
    used = allocated and bool(at(obj, "status", "reservedFor", default=()))
    states = {"deleted": ending, "pending": not (ending or allocated), "allocated": allocated, "reserved": used}
    return ",".join(name for name, applies in states.items() if applies)
