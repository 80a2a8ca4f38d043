"""Strategy of CSINode."""

from __future__ import annotations

from podless.apis.podspec import disks
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy, ValidationCost
from podless.meta import field, names
from podless.meta.validation import validate_reason
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs

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

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        seen: set[str] = set()
        drivers = obj["spec"].get("drivers") or []
        for index, driver in enumerate(each(drivers)):
            path = f"spec.drivers[{index}]"
            yield from _validate_driver(driver, path)
            yield from checks.validate_unique(f"{path}.name", driver["name"], seen)
        old_drivers = reversed(each((old or obj)["spec"].get("drivers") or []))  # of several with one name, the first
        before = {driver["name"]: _immutable_fields(driver) for driver in old_drivers}
        for driver in map(_immutable_fields, each(drivers if old is not None else [])):
            if driver != before.get(driver["name"], driver):
                path = "spec.drivers" if has("DriversOfNodes") else "CSINodeDriver"
                yield immutable_error(path, gostructs.format_struct("storage/v1.CSINodeDriver", driver))

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        seen: set[str] = set()
        for index, health in enumerate(each(obj["status"].get("storageHealth") or [])):
            path = f"status.storageHealth[{index}]"
            yield from checks.validate_unique(path, health["name"], seen)
            yield from _validate_health(health, path)


def _validate_health(health: Object, path: str) -> field.Errors:
    conditions = health.get("healthConditions") or []
    yield from disks.validate_driver_name(health["name"], f"{path}.name")
    if len(conditions) > _MAX_CONDITIONS:
        yield field.too_many(f"{path}.healthConditions", len(conditions), _MAX_CONDITIONS)
        return
    for index, condition in enumerate(each(conditions)):
        yield from _validate_condition(condition, f"{path}.healthConditions[{index}]")


def _validate_condition(condition: Object, path: str) -> field.Errors:
    yield from field.one_of(f"{path}.status", condition["status"], _HEALTH)
    yield from validate_reason(condition["reason"], f"{path}.reason", _MAX_REASON)
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        yield field.too_long(f"{path}.message", _MAX_MESSAGE)
    for name, modes in (("accessMode", _ACCESS_MODES), ("volumeMode", _VOLUME_MODES)):
        yield from field.one_of(f"{path}.{name}", condition.get(name), modes)


def _immutable_fields(driver: Object) -> Object:
    """Return the immutable fields of a driver."""
    if not has("MutableCSINodeAllocatableCount"):
        return driver
    return {name: value for name, value in each(driver).items() if name != "allocatable"}


def _validate_driver(driver: Object, path: str) -> field.Errors:
    yield from disks.validate_driver_name(driver["name"], f"{path}.name")
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
        yield from field.invalid_details(path, key, names.check_qualified_name(key))


STRATEGY = CSINodeStrategy()
