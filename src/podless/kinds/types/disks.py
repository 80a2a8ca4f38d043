"""Where the data of persistent volumes is."""

from __future__ import annotations

from dataclasses import replace

from podless.kinds.types.core import OBJECT_REFERENCE
from podless.kinds.types.volumes import (
    AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
    AZURE_DISK_VOLUME_SOURCE,
    CEPH_FS_VOLUME_SOURCE,
    CINDER_VOLUME_SOURCE,
    FC_VOLUME_SOURCE,
    FLEX_VOLUME_SOURCE,
    FLOCKER_VOLUME_SOURCE,
    GCE_PERSISTENT_DISK_VOLUME_SOURCE,
    HOST_PATH_VOLUME_SOURCE,
    ISCSI_VOLUME_SOURCE,
    NFS_VOLUME_SOURCE,
    PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
    PORTWORX_VOLUME_SOURCE,
    QUOBYTE_VOLUME_SOURCE,
    RBD_VOLUME_SOURCE,
    SCALE_IO_VOLUME_SOURCE,
    VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
)
from podless.meta.gotypes import BOOL, STRING
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRING_MAP

GLUSTERFS_PERSISTENT_VOLUME_SOURCE = Struct(
    "GlusterfsPersistentVolumeSource",
    (
        Field("endpoints", STRING, 1, always=True),
        Field("path", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
        Field("endpointsNamespace", STRING, 4, pointer=True),
    ),
)

SECRET_REFERENCE = Struct("SecretReference", (Field("name", STRING, 1), Field("namespace", STRING, 2)), atomic=True)


def _own(source: Struct, name: str) -> Struct:
    """The same for a persistent volume, which is in no namespace: that of its secret is told."""
    return Struct(
        name,
        tuple(replace(known, type=SECRET_REFERENCE) if known.name == "secretRef" else known for known in source.fields),
    )


RBD_PERSISTENT_VOLUME_SOURCE = _own(RBD_VOLUME_SOURCE, "RBDPersistentVolumeSource")

ISCSI_PERSISTENT_VOLUME_SOURCE = _own(ISCSI_VOLUME_SOURCE, "ISCSIPersistentVolumeSource")

CINDER_PERSISTENT_VOLUME_SOURCE = _own(CINDER_VOLUME_SOURCE, "CinderPersistentVolumeSource")

CEPH_FS_PERSISTENT_VOLUME_SOURCE = _own(CEPH_FS_VOLUME_SOURCE, "CephFSPersistentVolumeSource")

FLEX_PERSISTENT_VOLUME_SOURCE = _own(FLEX_VOLUME_SOURCE, "FlexPersistentVolumeSource")

AZURE_FILE_PERSISTENT_VOLUME_SOURCE = Struct(
    "AzureFilePersistentVolumeSource",
    (
        Field("secretName", STRING, 1, always=True),
        Field("shareName", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
        Field("secretNamespace", STRING, 4, pointer=True, always=True, required=False),
    ),
)

SCALE_IO_PERSISTENT_VOLUME_SOURCE = _own(SCALE_IO_VOLUME_SOURCE, "ScaleIOPersistentVolumeSource")

LOCAL_VOLUME_SOURCE = Struct(
    "LocalVolumeSource", (Field("path", STRING, 1, always=True), Field("fsType", STRING, 2, pointer=True))
)

STORAGE_OS_PERSISTENT_VOLUME_SOURCE = Struct(
    "StorageOSPersistentVolumeSource",
    (
        Field("volumeName", STRING, 1),
        Field("volumeNamespace", STRING, 2),
        Field("fsType", STRING, 3),
        Field("readOnly", BOOL, 4),
        Field("secretRef", OBJECT_REFERENCE, 5, pointer=True),
    ),
)

CSI_PERSISTENT_VOLUME_SOURCE = Struct(
    "CSIPersistentVolumeSource",
    (
        Field("driver", STRING, 1, always=True),
        Field("volumeHandle", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
        Field("fsType", STRING, 4),
        Field("volumeAttributes", STRING_MAP, 5),
        Field("controllerPublishSecretRef", SECRET_REFERENCE, 6, pointer=True),
        Field("nodeStageSecretRef", SECRET_REFERENCE, 7, pointer=True),
        Field("nodePublishSecretRef", SECRET_REFERENCE, 8, pointer=True),
        Field("controllerExpandSecretRef", SECRET_REFERENCE, 9, pointer=True),
        Field("nodeExpandSecretRef", SECRET_REFERENCE, 10, pointer=True),
    ),
)

PERSISTENT_VOLUME_SOURCE = Struct(
    "PersistentVolumeSource",
    (
        Field("gcePersistentDisk", GCE_PERSISTENT_DISK_VOLUME_SOURCE, 1, pointer=True),
        Field("awsElasticBlockStore", AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, 2, pointer=True),
        Field("hostPath", HOST_PATH_VOLUME_SOURCE, 3, pointer=True),
        Field("glusterfs", GLUSTERFS_PERSISTENT_VOLUME_SOURCE, 4, pointer=True),
        Field("nfs", NFS_VOLUME_SOURCE, 5, pointer=True),
        Field("rbd", RBD_PERSISTENT_VOLUME_SOURCE, 6, pointer=True),
        Field("iscsi", ISCSI_PERSISTENT_VOLUME_SOURCE, 7, pointer=True),
        Field("cinder", CINDER_PERSISTENT_VOLUME_SOURCE, 8, pointer=True),
        Field("cephfs", CEPH_FS_PERSISTENT_VOLUME_SOURCE, 9, pointer=True),
        Field("fc", FC_VOLUME_SOURCE, 10, pointer=True),
        Field("flocker", FLOCKER_VOLUME_SOURCE, 11, pointer=True),
        Field("flexVolume", FLEX_PERSISTENT_VOLUME_SOURCE, 12, pointer=True),
        Field("azureFile", AZURE_FILE_PERSISTENT_VOLUME_SOURCE, 13, pointer=True),
        Field("vsphereVolume", VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, 14, pointer=True),
        Field("quobyte", QUOBYTE_VOLUME_SOURCE, 15, pointer=True),
        Field("azureDisk", AZURE_DISK_VOLUME_SOURCE, 16, pointer=True),
        Field("photonPersistentDisk", PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, 17, pointer=True),
        Field("portworxVolume", PORTWORX_VOLUME_SOURCE, 18, pointer=True),
        Field("scaleIO", SCALE_IO_PERSISTENT_VOLUME_SOURCE, 19, pointer=True),
        Field("local", LOCAL_VOLUME_SOURCE, 20, pointer=True),
        Field("storageos", STORAGE_OS_PERSISTENT_VOLUME_SOURCE, 21, pointer=True),
        Field("csi", CSI_PERSISTENT_VOLUME_SOURCE, 22, pointer=True),
    ),
)
