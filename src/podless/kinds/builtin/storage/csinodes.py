"""CSINode: which drivers of volumes a node has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.kinds.builtin.immutable import immutable
from podless.kinds.builtin.podspec import disks
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types import gostructs
from podless.kinds.types.storage import CSI_NODE, CSI_NODE_DRIVER
from podless.meta import field, names
from podless.meta.field import FieldError

_ID_MOST = 256  # bytes


class CSINodeStrategy(TypedStrategy):
    """Drivers come and go; one that is there changes only in how many volumes it takes."""

    unconditional = False
    shown_deleted = True
    rechecks = (1, 0)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """Each driver once."""
        seen: set[str] = set()
        errors: list[FieldError] = []
        for place, driver in enumerate(obj["spec"].get("drivers") or []):
            path, name = f"spec.drivers[{place}]", driver["name"]
            errors += _driver(driver, path)
            if name in seen:
                errors.append(field.duplicate(f"{path}.name", name))
            seen.add(name)
        return errors

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """As a new one; a driver stays as it is."""
        errors = [*self.validate_create(kind, version, obj)]
        before: dict[str, list[Object]] = {}
        for driver in old["spec"].get("drivers") or []:
            before.setdefault(driver["name"], []).append(_fixed(driver))
        for driver in map(_fixed, obj["spec"].get("drivers") or []):
            for known in before.get(driver["name"], ())[:1]:
                if driver != known:
                    errors.append(immutable("spec.drivers", gostructs.shown(CSI_NODE_DRIVER, driver)))
        return errors


def _fixed(driver: Object) -> Object:
    """What stays of a driver."""
    return {name: value for name, value in driver.items() if name != "allocatable"}


def _driver(driver: Object, path: str) -> Iterator[FieldError]:
    yield from disks.driver_name(driver["name"], f"{path}.name")
    node = driver["nodeID"]
    if not node:
        yield field.required(f"{path}.nodeID")
    if len(node.encode()) > _ID_MOST:
        yield field.invalid(f"{path}.nodeID", node, f"must be {_ID_MOST} characters or less")
    count = (driver.get("allocatable") or {}).get("count")
    if count is not None and count < 0:
        yield field.invalid(f"{path}.allocatable.count", count, "must be greater than or equal to 0")
    seen: set[str] = set()
    for key in driver.get("topologyKeys") or []:
        if not key:
            yield field.required(path)
        if key in seen:
            yield field.duplicate(path, key)
        seen.add(key)
        yield from (field.invalid(path, key, text) for text in names.qualified_name(key))


STRUCT = CSI_NODE
STRATEGY = CSINodeStrategy()
