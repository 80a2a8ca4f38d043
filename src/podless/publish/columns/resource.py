"""Columns of resource.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, text

_GROUP = "resource.k8s.io"


def _state(obj: Object) -> str:
    """What has become of a claim."""
    ending = bool(at(obj, "metadata", "deletionTimestamp"))
    given = at(obj, "status", "allocation", default=None) is not None
    used = given and bool(at(obj, "status", "reservedFor", default=()))
    states = {"deleted": ending, "pending": not (ending or given), "allocated": given, "reserved": used}
    return ",".join(name for name, there in states.items() if there)


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "deviceclasses": (NAME, AGE),
    "resourceclaims": (
        NAME,
        Cell("State", "string", "Whether there are devices for the claim, and whether they are used.", _state),
        AGE,
    ),
    "resourceclaimtemplates": (NAME, AGE),
    "resourceslices": (
        NAME,
        Cell("Node", "string", Of(_GROUP, "ResourceSliceSpec", "nodeName"), text("spec", "nodeName")),
        Cell("Driver", "string", Of(_GROUP, "ResourceSliceSpec", "driver"), text("spec", "driver")),
        Cell("Pool", "string", Of(_GROUP, "ResourcePool", "name"), text("spec", "pool", "name")),
        AGE,
    ),
}
