"""Printer columns of storage.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Columns,
    Object,
    at,
    boolean,
    class_name,
    count,
    integer,
    joined,
    string,
    text,
    value,
)
from podless.runtime.meter import each

_DEFAULTS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _token_audiences(obj: Object) -> str:
    audiences = [at(token_request, "audience") for token_request in each(at(obj, "spec", "tokenRequests", default=()))]
    return ",".join(audiences) if audiences else UNSET


COLUMNS: Columns = {
    "csidrivers": (
        NAME,
        boolean("AttachRequired", "CSIDriverSpec.attachRequired", value("spec.attachRequired", True)),
        boolean("PodInfoOnMount", "CSIDriverSpec.podInfoOnMount"),
        boolean("StorageCapacity", "CSIDriverSpec.storageCapacity"),
        string("TokenRequests", "CSIDriverSpec.tokenRequests", _token_audiences),
        boolean("RequiresRepublish", "CSIDriverSpec.requiresRepublish"),
        string("Modes", "CSIDriverSpec.volumeLifecycleModes", joined("spec.volumeLifecycleModes", NONE)),
        AGE,
    ),
    "csinodes": (NAME, integer("Drivers", "CSINodeSpec.drivers", count("spec.drivers")), AGE),
    "storageclasses": (
        class_name(*_DEFAULTS),
        string("Provisioner", "StorageClass.provisioner"),
        string("ReclaimPolicy", "StorageClass.reclaimPolicy", text("reclaimPolicy", "Delete")),
        string("VolumeBindingMode", "StorageClass.volumeBindingMode", text("volumeBindingMode", UNSET)),
        string("AllowVolumeExpansion", "StorageClass.allowVolumeExpansion", value("allowVolumeExpansion", False)),
        AGE,
    ),
    "volumeattachments": (
        NAME,
        string("Attacher", "VolumeAttachmentSpec.attacher", format="name"),
        string("PV", "VolumeAttachmentSource.persistentVolumeName", "spec.source.persistentVolumeName"),
        string("Node", "VolumeAttachmentSpec.nodeName"),
        boolean("Attached", "VolumeAttachmentStatus.attached"),
        AGE,
    ),
    "volumeattributesclasses": (NAME, string("DriverName", "VolumeAttributesClass.driverName"), AGE),
}
