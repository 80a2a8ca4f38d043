"""Texts of the volumes of pods, and of claims."""

from __future__ import annotations

from podless.kinds.types.docs.disks import CEPH_FS, CINDER, FLEX, FS_TYPE, GLUSTERFS, ISCSI, RBD, READ_ONLY, SCALE_IO

_GROUP = "The API group of the kind; the core group where nothing is given."
_TYPED = {"apiGroup": _GROUP, "kind": "Kind of the object.", "name": "Name of the object."}
_SECRET = "The Secret, beside the pod, with what the login needs."
_GONE = "No longer supported; pods with it do not start."
_DRIVER = "Deprecated: a CSI driver takes its place."

TEXTS: dict[str, dict[str, str]] = {
    "EmptyDirVolumeSource": {
        "": "A directory that is empty at first, and goes with the pod.",
        "medium": "Empty for the node's disk, Memory for RAM, HugePages or HugePages-SIZE for huge pages.",
        "sizeLimit": "How much may be written; the pod is evicted when it is more.",
    },
    "GitRepoVolumeSource": {
        "": "A clone of a git repository. Deprecated: clone it in an init container.",
        "directory": "Where in the volume the clone goes; . for the volume itself.",
        "repository": "The repository's URL.",
        "revision": "The commit to check out.",
    },
    "ISCSIVolumeSource": {
        "": "A disk that is reached by iSCSI.",
        **ISCSI,
        "secretRef": _SECRET,
    },
    "GlusterfsVolumeSource": {"": "A Glusterfs volume. No longer supported.", **GLUSTERFS},
    "PersistentVolumeClaimVolumeSource": {
        "": "The volume that a claim has.",
        "claimName": "The PersistentVolumeClaim in the pod's namespace.",
        "readOnly": "Whether all containers can only read.",
    },
    "RBDVolumeSource": {"": "A Ceph RBD image. No longer supported.", **RBD, "secretRef": _SECRET},
    "FlexVolumeSource": {
        "": "A volume of a program on the node. Deprecated: use CSI.",
        **FLEX,
        "secretRef": "A Secret, beside the pod, that the driver is given.",
    },
    "CinderVolumeSource": {"": f"An OpenStack Cinder volume. {_DRIVER}", **CINDER, "secretRef": _SECRET},
    "CephFSVolumeSource": {"": "A directory of CephFS. No longer supported.", **CEPH_FS, "secretRef": _SECRET},
    "AzureFileVolumeSource": {
        "": f"A share of Azure Files. {_DRIVER}",
        "readOnly": READ_ONLY,
        "secretName": "The Secret with the storage account's name and key.",
        "shareName": "The share's name.",
    },
    "ScaleIOVolumeSource": {"": "A ScaleIO volume. No longer supported.", **SCALE_IO, "secretRef": _SECRET},
    "StorageOSVolumeSource": {
        "": "A StorageOS volume. No longer supported.",
        "fsType": FS_TYPE,
        "readOnly": READ_ONLY,
        "secretRef": _SECRET,
        "volumeName": "The volume's name in its StorageOS namespace.",
        "volumeNamespace": "The StorageOS namespace; the pod's where nothing is given.",
    },
    "CSIVolumeSource": {
        "": "A volume that a CSI driver makes for the pod, and that goes with it.",
        "driver": "The CSI driver's name.",
        "fsType": "The file system that the driver is asked for; its own choice where nothing is given.",
        "nodePublishSecretRef": "A Secret, beside the pod, that the driver is given when it mounts the volume.",
        "readOnly": "Whether containers can only read; false where nothing is given.",
        "volumeAttributes": "What the driver is told of the volume, by key.",
    },
    "VolumeResourceRequirements": {
        "": "How large a volume has to be.",
        "limits": "The most that is allowed, by resource; storage is the one.",
        "requests": "The least that is needed, by resource; storage is the one.",
    },
    "TypedLocalObjectReference": {"": "Names an object of any kind in the same namespace.", **_TYPED},
    "TypedObjectReference": {
        "": "Names an object of any kind.",
        **_TYPED,
        "namespace": "Namespace of the object; in another one than the claim's, a ReferenceGrant must allow it.",
    },
    "PersistentVolumeClaimSpec": {
        "": "What volume is claimed.",
        "accessModes": "How the volume is to be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod.",
        "dataSource": "What fills the new volume: a VolumeSnapshot or another claim.",
        "dataSourceRef": "The same as dataSource, for objects of any kind that a controller knows how to read.",
        "resources": "How large the volume has to be; may grow later where the storage class allows it.",
        "selector": "The labels of persistent volumes that may be taken.",
        "storageClassName": "The StorageClass; the default one where nothing is given, none for an empty text.",
        "volumeAttributesClassName": "The VolumeAttributesClass by which the driver sets the volume's performance. "
        "It may change.",
        "volumeMode": "Filesystem, or Block for a raw device; Filesystem where nothing is given.",
        "volumeName": "The persistent volume that the claim has, or is to have.",
    },
    "PersistentVolumeClaimTemplate": {
        "": "What claims are made from.",
        "metadata": "Labels and annotations of the claims.",
        "spec": "What volume is claimed.",
    },
    "EphemeralVolumeSource": {
        "": "A claim that is made for the pod, and goes with it.",
        "volumeClaimTemplate": "What the claim is like. Its name is that of the pod, a '-', and that of the volume.",
    },
    "ImageVolumeSource": {
        "": "The files of an image, to read only.",
        "pullPolicy": "Always, IfNotPresent or Never; Always for the tag latest, else IfNotPresent.",
        "reference": "The image, as that of a container is named.",
    },
    "Volume": {
        "": "A volume that a pod's containers can mount: a name, and one source.",
        "awsElasticBlockStore": f"An AWS EBS disk. {_DRIVER}",
        "azureDisk": f"An Azure disk. {_DRIVER}",
        "azureFile": f"A share of Azure Files. {_DRIVER}",
        "cephfs": f"A directory of CephFS. {_GONE}",
        "cinder": f"An OpenStack Cinder volume. {_DRIVER}",
        "configMap": "The values of a ConfigMap, each a file.",
        "csi": "A volume that a CSI driver makes for the pod.",
        "downwardAPI": "Files that tell something of the pod.",
        "emptyDir": "A directory that is empty at first, and goes with the pod.",
        "ephemeral": "A claim that is made for the pod, and goes with it.",
        "fc": "A disk that is reached by Fibre Channel.",
        "flexVolume": "A volume of a program on the node. Deprecated: use CSI.",
        "flocker": f"A Flocker dataset. {_GONE}",
        "gcePersistentDisk": f"A Google persistent disk. {_DRIVER}",
        "gitRepo": "A clone of a git repository. Deprecated: clone it in an init container.",
        "glusterfs": f"A Glusterfs volume. {_GONE}",
        "hostPath": "A file or directory of the node. Dangerous: whoever can write there may take over the node.",
        "image": "The files of an image, to read only.",
        "iscsi": "A disk that is reached by iSCSI.",
        "name": "The volume's name, unique in the pod.",
        "nfs": "A directory of an NFS server.",
        "persistentVolumeClaim": "The volume that a claim has.",
        "photonPersistentDisk": f"A Photon disk. {_GONE}",
        "portworxVolume": f"A Portworx volume. {_DRIVER}",
        "projected": "Files from several sources: secrets, config maps, tokens and the like.",
        "quobyte": f"A Quobyte volume. {_GONE}",
        "rbd": f"A Ceph RBD image. {_GONE}",
        "scaleIO": f"A ScaleIO volume. {_GONE}",
        "secret": "The values of a Secret, each a file.",
        "storageos": f"A StorageOS volume. {_GONE}",
        "vsphereVolume": f"A vSphere disk. {_DRIVER}",
    },
}
