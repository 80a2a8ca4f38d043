"""Printer columns of resource.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, Age, Columns, Object, at, string, text


def _claim_state(obj: Object) -> str:
    ending = bool(at(obj, "metadata", "deletionTimestamp"))
    allocated = at(obj, "status", "allocation", default=None) is not None
    used = allocated and bool(at(obj, "status", "reservedFor", default=()))
    states = {"deleted": ending, "pending": not (ending or allocated), "allocated": allocated, "reserved": used}
    return ",".join(name for name, applies in states.items() if applies)


COLUMNS: Columns = {
    "deviceclasses": (NAME, AGE),
    "devicetaintrules": (
        NAME,
        string("Key", "DeviceTaint.key", "spec.taint.key"),
        string("Value", "DeviceTaint.value", "spec.taint.value"),
        string("Effect", "DeviceTaint.effect", "spec.taint.effect"),
        string("TimeAdded", "DeviceTaint.timeAdded", Age(text("spec.taint.timeAdded"))),
        AGE,
    ),
    "resourceclaims": (NAME, string("State", "Whether the claim is allocated and reserved.", _claim_state), AGE),
    "resourceclaimtemplates": (NAME, AGE),
    "resourceslices": (
        NAME,
        string("Node", "ResourceSliceSpec.nodeName"),
        string("Driver", "ResourceSliceSpec.driver"),
        string("Pool", "ResourcePool.name", "spec.pool.name"),
        AGE,
    ),
}
