"""Columns of storage.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, class_name, count, text
from podless.publish.columns.workload import joined
from podless.runtime.meter import each

_GROUP = "storage.k8s.io"
_DEFAULTS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_FORMAT = "name"


def _flag(name: str, field: str, default: bool = False) -> Cell:
    return Cell(
        name, "boolean", Of(_GROUP, "CSIDriverSpec", field), lambda obj: at(obj, "spec", field, default=default)
    )


def _tokens(obj: Object) -> str:
    found = [at(one, "audience") for one in each(at(obj, "spec", "tokenRequests", default=()))]
    return ",".join(found) if found else "<unset>"


_DRIVERS = (
    NAME,
    _flag("AttachRequired", "attachRequired", default=True),
    _flag("PodInfoOnMount", "podInfoOnMount"),
    _flag("StorageCapacity", "storageCapacity"),
    Cell("TokenRequests", "string", Of(_GROUP, "CSIDriverSpec", "tokenRequests"), _tokens),
    _flag("RequiresRepublish", "requiresRepublish"),
    Cell(
        "Modes",
        "string",
        Of(_GROUP, "CSIDriverSpec", "volumeLifecycleModes"),
        joined("spec", "volumeLifecycleModes", empty="<none>"),
    ),
    AGE,
)
_CLASSES = (
    class_name(*_DEFAULTS),
    Cell("Provisioner", "string", Of(_GROUP, "StorageClass", "provisioner"), text("provisioner")),
    Cell(
        "ReclaimPolicy",
        "string",
        Of(_GROUP, "StorageClass", "reclaimPolicy"),
        lambda obj: at(obj, "reclaimPolicy", default="Delete"),
    ),
    Cell(
        "VolumeBindingMode",
        "string",
        Of(_GROUP, "StorageClass", "volumeBindingMode"),
        lambda obj: at(obj, "volumeBindingMode", default="<unset>"),
    ),
    Cell(
        "AllowVolumeExpansion",
        "string",
        Of(_GROUP, "StorageClass", "allowVolumeExpansion"),
        lambda obj: at(obj, "allowVolumeExpansion", default=False),
    ),
    AGE,
)
_ATTACHMENTS = (
    NAME,
    Cell("Attacher", "string", Of(_GROUP, "VolumeAttachmentSpec", "attacher"), text("spec", "attacher"), _FORMAT),
    Cell(
        "PV",
        "string",
        Of(_GROUP, "VolumeAttachmentSource", "persistentVolumeName"),
        text("spec", "source", "persistentVolumeName"),
    ),
    Cell("Node", "string", Of(_GROUP, "VolumeAttachmentSpec", "nodeName"), text("spec", "nodeName")),
    Cell(
        "Attached",
        "boolean",
        Of(_GROUP, "VolumeAttachmentStatus", "attached"),
        lambda obj: at(obj, "status", "attached", default=False),
    ),
    AGE,
)

COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "csidrivers": _DRIVERS,
    "csinodes": (NAME, Cell("Drivers", "integer", Of(_GROUP, "CSINodeSpec", "drivers"), count("spec", "drivers")), AGE),
    "storageclasses": _CLASSES,
    "volumeattachments": _ATTACHMENTS,
    "volumeattributesclasses": (
        NAME,
        Cell("DriverName", "string", Of(_GROUP, "VolumeAttributesClass", "driverName"), text("driverName")),
        AGE,
    ),
}
