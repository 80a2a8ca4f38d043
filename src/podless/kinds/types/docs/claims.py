"""Texts of persistent volumes and claims of them."""

from __future__ import annotations

from podless.kinds.types.docs.common import PROBED

_MODES = "ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod."
_CLASS = "The VolumeAttributesClass"

TEXTS: dict[str, dict[str, str]] = {
    "PersistentVolumeClaimCondition": {
        "": "One thing that is so of a claim, such as that its volume is being resized.",
        **PROBED,
        "type": "What the condition is about: Resizing, FileSystemResizePending, ModifyingVolume and others.",
    },
    "ModifyVolumeStatus": {
        "": "How far a change to another VolumeAttributesClass is.",
        "status": "Pending where the class is not there, InProgress, or Infeasible where the driver refused it.",
        "targetVolumeAttributesClassName": f"{_CLASS} that the volume is changed to.",
    },
    "PersistentVolumeClaimStatus": {
        "": "What volume a claim has.",
        "accessModes": f"How the volume can be mounted: {_MODES}",
        "allocatedResourceStatuses": "How far a resize is, by resource; none where nothing is under way.",
        "allocatedResources": "What the volume has or is growing to, by resource; what quotas count.",
        "capacity": "How large the volume is, by resource.",
        "conditions": "What is known of the claim, such as that its volume is being resized.",
        "currentVolumeAttributesClassName": f"{_CLASS} that the volume has now.",
        "modifyVolumeStatus": "How far a change to another VolumeAttributesClass is.",
        "phase": "Pending without a volume, Bound with one, Lost where the volume is gone.",
    },
    "PersistentVolumeClaim": {
        "": "A request for storage in a namespace, and the volume it got.",
        "spec": "What volume is claimed.",
        "status": "What volume the claim has.",
    },
    "PersistentVolumeSpec": {
        "": "Where a volume's data is, and who may have it.",
        "accessModes": f"How the volume can be mounted: {_MODES}",
        "awsElasticBlockStore": "An AWS EBS disk. Deprecated: a CSI driver takes its place.",
        "azureDisk": "An Azure disk. Deprecated: a CSI driver takes its place.",
        "azureFile": "A share of Azure Files. Deprecated: a CSI driver takes its place.",
        "capacity": "How large the volume is, by resource; storage is the one.",
        "cephfs": "A directory of CephFS. No longer supported.",
        "cinder": "An OpenStack Cinder volume. Deprecated: a CSI driver takes its place.",
        "claimRef": "The claim that has the volume, or for which it is reserved.",
        "csi": "A volume of a CSI driver.",
        "fc": "A disk that is reached by Fibre Channel.",
        "flexVolume": "A volume of a program on the node. Deprecated: use CSI.",
        "flocker": "A Flocker dataset. No longer supported.",
        "gcePersistentDisk": "A Google persistent disk. Deprecated: a CSI driver takes its place.",
        "glusterfs": "A Glusterfs volume. No longer supported.",
        "hostPath": "A directory of the node, for tests on one node.",
        "iscsi": "A disk that is reached by iSCSI.",
        "local": "A disk or directory of one node; needs nodeAffinity.",
        "mountOptions": "Options for the mount, such as ro and soft; a wrong one makes the mount fail.",
        "nfs": "A directory of an NFS server.",
        "nodeAffinity": "From which nodes the volume can be reached.",
        "persistentVolumeReclaimPolicy": "What becomes of the volume when its claim goes: Retain, Delete or Recycle; "
        "Retain where nothing is given.",
        "photonPersistentDisk": "A Photon disk. No longer supported.",
        "portworxVolume": "A Portworx volume. Deprecated: a CSI driver takes its place.",
        "quobyte": "A Quobyte volume. No longer supported.",
        "rbd": "A Ceph RBD image. No longer supported.",
        "scaleIO": "A ScaleIO volume. No longer supported.",
        "storageClassName": "The StorageClass of the volume: claims of the same one may take it.",
        "storageos": "A StorageOS volume. No longer supported.",
        "volumeAttributesClassName": f"{_CLASS} of the volume, as its claim has it.",
        "volumeMode": "Filesystem, or Block for a raw device; Filesystem where nothing is given.",
        "vsphereVolume": "A vSphere disk. Deprecated: a CSI driver takes its place.",
    },
    "PersistentVolumeStatus": {
        "": "Whether a volume is in use.",
        "lastPhaseTransitionTime": "When the phase last became another one.",
        "message": "Why the volume is as it is, for people.",
        "phase": "Pending, Available, Bound to a claim, Released when the claim is gone, or Failed.",
        "reason": "Why the volume is as it is, in one CamelCase word.",
    },
    "PersistentVolume": {
        "": "Storage of the cluster that claims can take.",
        "spec": "Where the data is, and who may have it.",
        "status": "Whether the volume is in use.",
    },
}
