"""Persistent volumes and claims of them."""

from __future__ import annotations

from podless.kinds.types.core import OBJECT_REFERENCE, RESOURCES
from podless.kinds.types.disks import PERSISTENT_VOLUME_SOURCE
from podless.kinds.types.topology import VOLUME_NODE_AFFINITY
from podless.kinds.types.volumes import PERSISTENT_VOLUME_CLAIM_SPEC
from podless.meta.gotypes import STRING, TIME, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS, resource

_PERSISTENT_VOLUME_ACCESS_MODE = String(
    "v1.PersistentVolumeAccessMode", ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
)

PERSISTENT_VOLUME_CLAIM_CONDITION = Struct(
    "PersistentVolumeClaimCondition",
    (
        Field("type", String("v1.PersistentVolumeClaimConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastProbeTime", TIME, 3, always=True, required=False),
        Field("lastTransitionTime", TIME, 4, always=True, required=False),
        Field("reason", STRING, 5),
        Field("message", STRING, 6),
    ),
)

MODIFY_VOLUME_STATUS = Struct(
    "ModifyVolumeStatus",
    (
        Field("targetVolumeAttributesClassName", STRING, 1),
        Field(
            "status",
            String("v1.PersistentVolumeClaimModifyVolumeStatus", ("InProgress", "Infeasible", "Pending")),
            2,
            always=True,
        ),
    ),
)

PERSISTENT_VOLUME_CLAIM_STATUS = Struct(
    "PersistentVolumeClaimStatus",
    (
        Field("phase", String("v1.PersistentVolumeClaimPhase", ("Bound", "Lost", "Pending")), 1, fill="Pending"),
        Field("accessModes", ListOf(_PERSISTENT_VOLUME_ACCESS_MODE), 2),
        Field("capacity", RESOURCES, 3),
        Field("conditions", ListOf(PERSISTENT_VOLUME_CLAIM_CONDITION), 4, keys=("type",), patch="merge", merge="type"),
        Field("allocatedResources", RESOURCES, 5),
        Field(
            "allocatedResourceStatuses",
            MapOf(
                String(
                    "v1.ClaimResourceStatus",
                    (
                        "ControllerResizeInProgress",
                        "ControllerResizeInfeasible",
                        "NodeResizeInProgress",
                        "NodeResizeInfeasible",
                        "NodeResizePending",
                    ),
                )
            ),
            7,
            atomic=False,
        ),
        Field("currentVolumeAttributesClassName", STRING, 8, pointer=True),
        Field("modifyVolumeStatus", MODIFY_VOLUME_STATUS, 9, pointer=True),
    ),
)

PERSISTENT_VOLUME_CLAIM = resource(
    "PersistentVolumeClaim",
    Field("spec", PERSISTENT_VOLUME_CLAIM_SPEC, 2),
    Field("status", PERSISTENT_VOLUME_CLAIM_STATUS, 3),
)

PERSISTENT_VOLUME_SPEC = Struct(
    "PersistentVolumeSpec",
    (
        Field("capacity", RESOURCES, 1),
        Field("persistentVolumeSource", PERSISTENT_VOLUME_SOURCE, 2, inline=True),
        Field("accessModes", ListOf(_PERSISTENT_VOLUME_ACCESS_MODE), 3),
        Field("claimRef", OBJECT_REFERENCE, 4, pointer=True, atomic=False),
        Field(
            "persistentVolumeReclaimPolicy",
            String("v1.PersistentVolumeReclaimPolicy", ("Delete", "Recycle", "Retain")),
            5,
        ),
        Field("storageClassName", STRING, 6),
        Field("mountOptions", STRINGS, 7),
        Field("volumeMode", String("v1.PersistentVolumeMode", ("Block", "Filesystem")), 8, pointer=True),
        Field("nodeAffinity", VOLUME_NODE_AFFINITY, 9, pointer=True),
        Field("volumeAttributesClassName", STRING, 10, pointer=True),
    ),
)

PERSISTENT_VOLUME_STATUS = Struct(
    "PersistentVolumeStatus",
    (
        Field(
            "phase",
            String("v1.PersistentVolumePhase", ("Available", "Bound", "Failed", "Pending", "Released")),
            1,
            fill="Pending",
        ),
        Field("message", STRING, 2),
        Field("reason", STRING, 3),
        Field("lastPhaseTransitionTime", TIME, 4, pointer=True),
    ),
)

PERSISTENT_VOLUME = resource(
    "PersistentVolume", Field("spec", PERSISTENT_VOLUME_SPEC, 2), Field("status", PERSISTENT_VOLUME_STATUS, 3)
)
