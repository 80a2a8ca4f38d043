"""The kinds of storage.k8s.io/v1."""

from __future__ import annotations

from podless.kinds.types.claims import PERSISTENT_VOLUME_SPEC
from podless.kinds.types.topology import TOPOLOGY_SELECTOR_TERM
from podless.meta.gotypes import BOOL, INT32, INT64, QUANTITY, STRING, TIME, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, STRING_MAP, STRINGS, resource

TOKEN_REQUEST = Struct(
    "TokenRequest", (Field("audience", STRING, 1, always=True), Field("expirationSeconds", INT64, 2, pointer=True))
)

CSI_DRIVER_SPEC = Struct(
    "CSIDriverSpec",
    (
        Field("attachRequired", BOOL, 1, pointer=True, fill=True),
        Field("podInfoOnMount", BOOL, 2, pointer=True, fill=False),
        Field("volumeLifecycleModes", ListOf(String("v1.VolumeLifecycleMode")), 3, keys=(), fill=["Persistent"]),
        Field("storageCapacity", BOOL, 4, pointer=True, fill=False),
        Field("fsGroupPolicy", String("v1.FSGroupPolicy"), 5, pointer=True, fill="ReadWriteOnceWithFSType"),
        Field("tokenRequests", ListOf(TOKEN_REQUEST), 6),
        Field("requiresRepublish", BOOL, 7, pointer=True, fill=False),
        Field("seLinuxMount", BOOL, 8, pointer=True, fill=False),
        Field("nodeAllocatableUpdatePeriodSeconds", INT64, 9, pointer=True),
        Field("serviceAccountTokenInSecrets", BOOL, 10, pointer=True),
        Field("preventPodSchedulingIfMissing", BOOL, 11, pointer=True),
    ),
)

CSI_DRIVER = resource("CSIDriver", Field("spec", CSI_DRIVER_SPEC, 2, always=True))

VOLUME_NODE_RESOURCES = Struct("VolumeNodeResources", (Field("count", INT32, 1, pointer=True),))

CSI_NODE_DRIVER = Struct(
    "CSINodeDriver",
    (
        Field("name", STRING, 1, always=True),
        Field("nodeID", STRING, 2, always=True),
        Field("topologyKeys", STRINGS, 3, always=True, required=False),
        Field("allocatable", VOLUME_NODE_RESOURCES, 4, pointer=True),
    ),
)

CSI_NODE_SPEC = Struct(
    "CSINodeSpec",
    (Field("drivers", ListOf(CSI_NODE_DRIVER), 1, always=True, keys=("name",), patch="merge", merge="name"),),
)

CSI_NODE = resource("CSINode", Field("spec", CSI_NODE_SPEC, 2, always=True))

CSI_STORAGE_CAPACITY = resource(
    "CSIStorageCapacity",
    Field("nodeTopology", LABEL_SELECTOR, 2, pointer=True),
    Field("storageClassName", STRING, 3, always=True),
    Field("capacity", QUANTITY, 4, pointer=True),
    Field("maximumVolumeSize", QUANTITY, 5, pointer=True),
)

STORAGE_CLASS = resource(
    "StorageClass",
    Field("provisioner", STRING, 2, always=True),
    Field("parameters", STRING_MAP, 3),
    Field(
        "reclaimPolicy",
        String("v1.PersistentVolumeReclaimPolicy", ("Delete", "Recycle", "Retain")),
        4,
        pointer=True,
        fill="Delete",
    ),
    Field("mountOptions", STRINGS, 5),
    Field("allowVolumeExpansion", BOOL, 6, pointer=True),
    Field(
        "volumeBindingMode",
        String("v1.VolumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
        7,
        pointer=True,
        fill="Immediate",
    ),
    Field("allowedTopologies", ListOf(TOPOLOGY_SELECTOR_TERM), 8),
)

VOLUME_ATTACHMENT_SOURCE = Struct(
    "VolumeAttachmentSource",
    (
        Field("persistentVolumeName", STRING, 1, pointer=True),
        Field("inlineVolumeSpec", PERSISTENT_VOLUME_SPEC, 2, pointer=True),
    ),
)

VOLUME_ATTACHMENT_SPEC = Struct(
    "VolumeAttachmentSpec",
    (
        Field("attacher", STRING, 1, always=True),
        Field("source", VOLUME_ATTACHMENT_SOURCE, 2, always=True),
        Field("nodeName", STRING, 3, always=True),
    ),
)

VOLUME_ERROR = Struct(
    "VolumeError",
    (
        Field("time", TIME, 1, always=True, required=False),
        Field("message", STRING, 2),
        Field("errorCode", INT32, 3, pointer=True),
    ),
)

VOLUME_ATTACHMENT_STATUS = Struct(
    "VolumeAttachmentStatus",
    (
        Field("attached", BOOL, 1, always=True),
        Field("attachmentMetadata", STRING_MAP, 2),
        Field("attachError", VOLUME_ERROR, 3, pointer=True),
        Field("detachError", VOLUME_ERROR, 4, pointer=True),
    ),
)

VOLUME_ATTACHMENT = resource(
    "VolumeAttachment",
    Field("spec", VOLUME_ATTACHMENT_SPEC, 2, always=True),
    Field("status", VOLUME_ATTACHMENT_STATUS, 3),
)

VOLUME_ATTRIBUTES_CLASS = resource(
    "VolumeAttributesClass", Field("driverName", STRING, 2, always=True), Field("parameters", STRING_MAP, 3)
)
