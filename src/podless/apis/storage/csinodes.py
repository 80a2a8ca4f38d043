"""CSINode: which drivers of volumes a node has."""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.podspec import disks
from podless.apis.shared import checks
from podless.apis.shared.immutable import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

CSI_NODE_DRIVER = load_struct("storage/v1", "CSINodeDriver")

_ID_MOST = 256  # bytes


class CSINodeStrategy(TypedStrategy):
    """Drivers come and go; one that is there changes only in how many volumes it takes."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(1, 0))

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Faults:
        seen: set[str] = set()
        errors: list[FieldError] = []
        for place, driver in enumerate(each(obj["spec"].get("drivers") or [])):
            path, name = f"spec.drivers[{place}]", driver["name"]
            errors += _driver(driver, path)
            errors += checks.validate_unique(f"{path}.name", name, seen)
        return errors

    def validate_update(self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        errors = [*self.validate_create(kind, version, obj)]
        before: dict[str, list[Object]] = {}
        for driver in each(old["spec"].get("drivers") or []):
            before.setdefault(driver["name"], []).append(_fixed(driver))
        for driver in map(_fixed, each(obj["spec"].get("drivers") or [])):
            for known in each(before.get(driver["name"], ())[:1]):
                if driver != known:
                    path = "spec.drivers" if has("DriversOfNodes") else "CSINodeDriver"
                    errors.append(immutable_error(path, gostructs.format_struct(CSI_NODE_DRIVER, driver)))
        return errors


def _fixed(driver: Object) -> Object:
    """What stays of a driver."""
    return {name: value for name, value in each(driver).items() if name != "allocatable"}


def _driver(driver: Object, path: str) -> Iterator[FieldError]:
    yield from disks.driver_name(driver["name"], f"{path}.name")
    node = driver["nodeID"]
    if not node:
        yield field.required(f"{path}.nodeID")
    if len(node.encode()) > _ID_MOST:
        yield field.invalid(f"{path}.nodeID", node, f"must be {_ID_MOST} characters or less")
    yield from checks.validate_nonnegative(f"{path}.allocatable.count", (driver.get("allocatable") or {}).get("count"))
    seen: set[str] = set()
    for key in each(driver.get("topologyKeys") or []):
        if not key:
            yield field.required(path)
        yield from checks.validate_unique(path, key, seen)
        yield from field.invalid_details(path, key, names.qualified_name(key))


STRATEGY = CSINodeStrategy()
