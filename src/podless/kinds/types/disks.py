"""Where the data of persistent volumes is."""

from __future__ import annotations

from podless.kinds.types.core import OBJECT_REFERENCE
from podless.kinds.types.volumes import (
    AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
    AZURE_DISK_VOLUME_SOURCE,
    FC_VOLUME_SOURCE,
    FLOCKER_VOLUME_SOURCE,
    GCE_PERSISTENT_DISK_VOLUME_SOURCE,
    HOST_PATH_VOLUME_SOURCE,
    NFS_VOLUME_SOURCE,
    PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
    PORTWORX_VOLUME_SOURCE,
    QUOBYTE_VOLUME_SOURCE,
    VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
)
from podless.meta.structs import BOOL, INT32, STRING, Field, Struct
from podless.meta.structs_meta import STRING_MAP, STRINGS

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

RBD_PERSISTENT_VOLUME_SOURCE = Struct(
    "RBDPersistentVolumeSource",
    (
        Field("monitors", STRINGS, 1, always=True),
        Field("image", STRING, 2, always=True),
        Field("fsType", STRING, 3),
        Field("pool", STRING, 4, default="rbd"),
        Field("user", STRING, 5, default="admin"),
        Field("keyring", STRING, 6, default="/etc/ceph/keyring"),
        Field("secretRef", SECRET_REFERENCE, 7, pointer=True),
        Field("readOnly", BOOL, 8),
    ),
)

ISCSI_PERSISTENT_VOLUME_SOURCE = Struct(
    "ISCSIPersistentVolumeSource",
    (
        Field("targetPortal", STRING, 1, always=True),
        Field("iqn", STRING, 2, always=True),
        Field("lun", INT32, 3, always=True),
        Field("iscsiInterface", STRING, 4, default="default"),
        Field("fsType", STRING, 5),
        Field("readOnly", BOOL, 6),
        Field("portals", STRINGS, 7),
        Field("chapAuthDiscovery", BOOL, 8),
        Field("chapAuthSession", BOOL, 11),
        Field("secretRef", SECRET_REFERENCE, 10, pointer=True),
        Field("initiatorName", STRING, 12, pointer=True),
    ),
)

CINDER_PERSISTENT_VOLUME_SOURCE = Struct(
    "CinderPersistentVolumeSource",
    (
        Field("volumeID", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("readOnly", BOOL, 3),
        Field("secretRef", SECRET_REFERENCE, 4, pointer=True),
    ),
)

CEPH_FS_PERSISTENT_VOLUME_SOURCE = Struct(
    "CephFSPersistentVolumeSource",
    (
        Field("monitors", STRINGS, 1, always=True),
        Field("path", STRING, 2),
        Field("user", STRING, 3),
        Field("secretFile", STRING, 4),
        Field("secretRef", SECRET_REFERENCE, 5, pointer=True),
        Field("readOnly", BOOL, 6),
    ),
)

FLEX_PERSISTENT_VOLUME_SOURCE = Struct(
    "FlexPersistentVolumeSource",
    (
        Field("driver", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("secretRef", SECRET_REFERENCE, 3, pointer=True),
        Field("readOnly", BOOL, 4),
        Field("options", STRING_MAP, 5),
    ),
)

AZURE_FILE_PERSISTENT_VOLUME_SOURCE = Struct(
    "AzureFilePersistentVolumeSource",
    (
        Field("secretName", STRING, 1, always=True),
        Field("shareName", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
        Field("secretNamespace", STRING, 4, pointer=True, always=True, required=False),
    ),
)

SCALE_IO_PERSISTENT_VOLUME_SOURCE = Struct(
    "ScaleIOPersistentVolumeSource",
    (
        Field("gateway", STRING, 1, always=True),
        Field("system", STRING, 2, always=True),
        Field("secretRef", SECRET_REFERENCE, 3, pointer=True, always=True),
        Field("sslEnabled", BOOL, 4),
        Field("protectionDomain", STRING, 5),
        Field("storagePool", STRING, 6),
        Field("storageMode", STRING, 7, default="ThinProvisioned"),
        Field("volumeName", STRING, 8),
        Field("fsType", STRING, 9, default="xfs"),
        Field("readOnly", BOOL, 10),
    ),
)

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
