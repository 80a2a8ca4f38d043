"""Columns of persistent volumes and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, text

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS = "volume.beta.kubernetes.io/storage-class"
_VOLUME, _CLAIM = "PersistentVolumeSpec", "PersistentVolumeClaimSpec"


def _modes(*path: str) -> Callable[[Object], str]:
    return lambda obj: ",".join(short for mode, short in _MODES.items() if mode in at(obj, *path, default=()))


def _phase(obj: Object) -> str:
    return "Terminating" if at(obj, "metadata", "deletionTimestamp") else str(at(obj, "status", "phase"))


def _class(obj: Object) -> str:
    return str(at(obj, "metadata", "annotations", _CLASS, default=None) or at(obj, "spec", "storageClassName"))


def _claim(obj: Object) -> str:
    given = at(obj, "spec", "claimRef", default=None)
    return f"{at(given, 'namespace')}/{at(given, 'name')}" if given is not None else ""


def _bound(read: Callable[[Object], str]) -> Callable[[Object], str]:
    """Only of what has a volume."""
    return lambda obj: read(obj) if at(obj, "spec", "volumeName") else ""


def _unset(field: str) -> Callable[[Object], str]:
    return lambda obj: str(at(obj, "spec", field, default="<unset>"))


def _capacity(part: str) -> Callable[[Object], str]:
    return lambda obj: str(at(obj, part, "capacity", "storage", default="0"))


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "persistentvolumeclaims": (
        NAME,
        Cell("Status", "string", Of("", "PersistentVolumeClaimStatus", "phase"), _phase),
        Cell("Volume", "string", Of("", _CLAIM, "volumeName"), text("spec", "volumeName")),
        Cell("Capacity", "string", Of("", "PersistentVolumeClaimStatus", "capacity"), _bound(_capacity("status"))),
        Cell(
            "Access Modes",
            "string",
            Of("", "PersistentVolumeClaimStatus", "accessModes"),
            _bound(_modes("status", "accessModes")),
        ),
        Cell("StorageClass", "string", Of("", _CLAIM, "storageClassName"), _class),
        Cell(
            "VolumeAttributesClass",
            "string",
            Of("", _CLAIM, "volumeAttributesClassName"),
            _unset("volumeAttributesClassName"),
        ),
        AGE,
        Cell("VolumeMode", "string", Of("", _CLAIM, "volumeMode"), _unset("volumeMode"), priority=1),
    ),
    "persistentvolumes": (
        NAME,
        Cell("Capacity", "string", Of("", _VOLUME, "capacity"), _capacity("spec")),
        Cell("Access Modes", "string", Of("", _VOLUME, "accessModes"), _modes("spec", "accessModes")),
        Cell(
            "Reclaim Policy",
            "string",
            Of("", _VOLUME, "persistentVolumeReclaimPolicy"),
            text("spec", "persistentVolumeReclaimPolicy"),
        ),
        Cell("Status", "string", Of("", "PersistentVolumeStatus", "phase"), _phase),
        Cell("Claim", "string", Of("", _VOLUME, "claimRef"), _claim),
        Cell("StorageClass", "string", Of("", _VOLUME, "storageClassName"), _class),
        Cell(
            "VolumeAttributesClass",
            "string",
            Of("", _VOLUME, "volumeAttributesClassName"),
            _unset("volumeAttributesClassName"),
        ),
        Cell("Reason", "string", Of("", "PersistentVolumeStatus", "reason"), text("status", "reason")),
        AGE,
        Cell("VolumeMode", "string", Of("", _VOLUME, "volumeMode"), _unset("volumeMode"), priority=1),
    ),
}
