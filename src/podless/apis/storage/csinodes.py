"""Strategy of CSINode."""

from __future__ import annotations

from podless.apis.podspec import disks
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy, ValidationCost
from podless.meta import field, names
from podless.meta.conditions import validate_reason
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

CSI_NODE_DRIVER = load_struct("storage/v1", "CSINodeDriver")

_MAX_ID = 256  # bytes
_MAX_CONDITIONS = 16
_MAX_REASON, _MAX_MESSAGE = 256, 1024  # bytes
_HEALTH = ("StorageDegraded", "StorageUnreachable")
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Filesystem", "Block")


class CSINodeStrategy(KeptMetadataStrategy):
    """Strategy of CSINode. Drivers can be added and removed; of existing ones only the volume limit is mutable."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(1, 0))
    checking = ValidationCost(once="CSINodesOnce")

    def validate_create(self, version: Version, obj: Object) -> Faults:
        seen: set[str] = set()
        errors: list[FieldError] = []
        for index, driver in enumerate(each(obj["spec"].get("drivers") or [])):
            path, name = f"spec.drivers[{index}]", driver["name"]
            errors += _validate_driver(driver, path)
            errors += checks.validate_unique(f"{path}.name", name, seen)
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        errors = [*self.validate_create(version, obj)]
        before: dict[str, list[Object]] = {}
        for driver in each(old["spec"].get("drivers") or []):
            before.setdefault(driver["name"], []).append(_immutable_fields(driver))
        for driver in map(_immutable_fields, each(obj["spec"].get("drivers") or [])):
            for old_driver in each(before.get(driver["name"], ())[:1]):
                if driver != old_driver:
                    path = "spec.drivers" if has("DriversOfNodes") else "CSINodeDriver"
                    errors.append(immutable_error(path, gostructs.format_struct(CSI_NODE_DRIVER, driver)))
        return errors

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        seen: set[str] = set()
        errors: list[FieldError] = []
        for index, health in enumerate(each(obj["status"].get("storageHealth") or [])):
            path = f"status.storageHealth[{index}]"
            errors += checks.validate_unique(path, health["name"], seen)
            errors += _validate_health(health, path)
        return errors


def _validate_health(health: Object, path: str) -> field.Errors:
    conditions = health.get("healthConditions") or []
    yield from disks.driver_name(health["name"], f"{path}.name")
    if len(conditions) > _MAX_CONDITIONS:
        yield field.too_many(f"{path}.healthConditions", len(conditions), _MAX_CONDITIONS)
        return
    for index, condition in enumerate(each(conditions)):
        yield from _validate_condition(condition, f"{path}.healthConditions[{index}]")


def _validate_condition(condition: Object, path: str) -> field.Errors:
    if condition["status"] not in _HEALTH:
        yield field.not_supported(f"{path}.status", condition["status"], _HEALTH)
    yield from validate_reason(condition["reason"], f"{path}.reason", _MAX_REASON)
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        yield field.too_long(f"{path}.message", _MAX_MESSAGE)
    for name, modes in (("accessMode", _ACCESS_MODES), ("volumeMode", _VOLUME_MODES)):
        mode = condition.get(name)
        if mode is not None and mode not in modes:
            yield field.not_supported(f"{path}.{name}", mode, modes)


def _immutable_fields(driver: Object) -> Object:
    """Return the immutable fields of a driver."""
    if not has("MutableCSINodeAllocatableCount"):
        return driver
    return {name: value for name, value in each(driver).items() if name != "allocatable"}


def _validate_driver(driver: Object, path: str) -> field.Errors:
    yield from disks.driver_name(driver["name"], f"{path}.name")
    node = driver["nodeID"]
    if not node:
        yield field.required(f"{path}.nodeID")
    if len(node.encode()) > _MAX_ID:
        yield field.invalid(f"{path}.nodeID", node, f"must be {_MAX_ID} characters or less")
    yield from checks.validate_nonnegative(f"{path}.allocatable.count", (driver.get("allocatable") or {}).get("count"))
    seen: set[str] = set()
    for key in each(driver.get("topologyKeys") or []):
        if not key:
            yield field.required(path)
        yield from checks.validate_unique(path, key, seen)
        yield from field.invalid_details(path, key, names.qualified_name(key))


STRATEGY = CSINodeStrategy()
