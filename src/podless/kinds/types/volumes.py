"""Volumes, as pods and persistent volumes have them."""

from __future__ import annotations

from podless.kinds.types.core import LOCAL_OBJECT_REFERENCE, RESOURCES
from podless.kinds.types.projections import (
    CONFIG_MAP_VOLUME_SOURCE,
    DOWNWARD_API_VOLUME_SOURCE,
    PROJECTED_VOLUME_SOURCE,
    SECRET_VOLUME_SOURCE,
)
from podless.meta.gotypes import BOOL, INT32, QUANTITY, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, OBJECT_META, STRING_MAP, STRINGS

HOST_PATH_VOLUME_SOURCE = Struct(
    "HostPathVolumeSource",
    (
        Field("path", STRING, 1, always=True),
        Field(
            "type",
            String(
                "v1.HostPathType",
                ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
            ),
            2,
            pointer=True,
            fill="",
        ),
    ),
)

EMPTY_DIR_VOLUME_SOURCE = Struct(
    "EmptyDirVolumeSource",
    (Field("medium", String("v1.StorageMedium"), 1), Field("sizeLimit", QUANTITY, 2, pointer=True)),
)

GCE_PERSISTENT_DISK_VOLUME_SOURCE = Struct(
    "GCEPersistentDiskVolumeSource",
    (
        Field("pdName", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("partition", INT32, 3),
        Field("readOnly", BOOL, 4),
    ),
)

AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE = Struct(
    "AWSElasticBlockStoreVolumeSource",
    (
        Field("volumeID", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("partition", INT32, 3),
        Field("readOnly", BOOL, 4),
    ),
)

GIT_REPO_VOLUME_SOURCE = Struct(
    "GitRepoVolumeSource",
    (Field("repository", STRING, 1, always=True), Field("revision", STRING, 2), Field("directory", STRING, 3)),
)

NFS_VOLUME_SOURCE = Struct(
    "NFSVolumeSource",
    (Field("server", STRING, 1, always=True), Field("path", STRING, 2, always=True), Field("readOnly", BOOL, 3)),
)

ISCSI_VOLUME_SOURCE = Struct(
    "ISCSIVolumeSource",
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
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 10, pointer=True),
        Field("initiatorName", STRING, 12, pointer=True),
    ),
)

GLUSTERFS_VOLUME_SOURCE = Struct(
    "GlusterfsVolumeSource",
    (Field("endpoints", STRING, 1, always=True), Field("path", STRING, 2, always=True), Field("readOnly", BOOL, 3)),
)

PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE = Struct(
    "PersistentVolumeClaimVolumeSource", (Field("claimName", STRING, 1, always=True), Field("readOnly", BOOL, 2))
)

RBD_VOLUME_SOURCE = Struct(
    "RBDVolumeSource",
    (
        Field("monitors", STRINGS, 1, always=True),
        Field("image", STRING, 2, always=True),
        Field("fsType", STRING, 3),
        Field("pool", STRING, 4, default="rbd"),
        Field("user", STRING, 5, default="admin"),
        Field("keyring", STRING, 6, default="/etc/ceph/keyring"),
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 7, pointer=True),
        Field("readOnly", BOOL, 8),
    ),
)

FLEX_VOLUME_SOURCE = Struct(
    "FlexVolumeSource",
    (
        Field("driver", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 3, pointer=True),
        Field("readOnly", BOOL, 4),
        Field("options", STRING_MAP, 5),
    ),
)

CINDER_VOLUME_SOURCE = Struct(
    "CinderVolumeSource",
    (
        Field("volumeID", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("readOnly", BOOL, 3),
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 4, pointer=True),
    ),
)

CEPH_FS_VOLUME_SOURCE = Struct(
    "CephFSVolumeSource",
    (
        Field("monitors", STRINGS, 1, always=True),
        Field("path", STRING, 2),
        Field("user", STRING, 3),
        Field("secretFile", STRING, 4),
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 5, pointer=True),
        Field("readOnly", BOOL, 6),
    ),
)

FLOCKER_VOLUME_SOURCE = Struct(
    "FlockerVolumeSource", (Field("datasetName", STRING, 1), Field("datasetUUID", STRING, 2))
)

FC_VOLUME_SOURCE = Struct(
    "FCVolumeSource",
    (
        Field("targetWWNs", STRINGS, 1),
        Field("lun", INT32, 2, pointer=True),
        Field("fsType", STRING, 3),
        Field("readOnly", BOOL, 4),
        Field("wwids", STRINGS, 5),
    ),
)

AZURE_FILE_VOLUME_SOURCE = Struct(
    "AzureFileVolumeSource",
    (
        Field("secretName", STRING, 1, always=True),
        Field("shareName", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
    ),
)

VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE = Struct(
    "VsphereVirtualDiskVolumeSource",
    (
        Field("volumePath", STRING, 1, always=True),
        Field("fsType", STRING, 2),
        Field("storagePolicyName", STRING, 3),
        Field("storagePolicyID", STRING, 4),
    ),
)

QUOBYTE_VOLUME_SOURCE = Struct(
    "QuobyteVolumeSource",
    (
        Field("registry", STRING, 1, always=True),
        Field("volume", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
        Field("user", STRING, 4),
        Field("group", STRING, 5),
        Field("tenant", STRING, 6),
    ),
)

AZURE_DISK_VOLUME_SOURCE = Struct(
    "AzureDiskVolumeSource",
    (
        Field("diskName", STRING, 1, always=True),
        Field("diskURI", STRING, 2, always=True),
        Field(
            "cachingMode",
            String("v1.AzureDataDiskCachingMode", ("None", "ReadOnly", "ReadWrite")),
            3,
            pointer=True,
            default="ReadWrite",
        ),
        Field("fsType", STRING, 4, pointer=True, default="ext4"),
        Field("readOnly", BOOL, 5, pointer=True, default=False),
        Field(
            "kind",
            String("v1.AzureDataDiskKind", ("Dedicated", "Managed", "Shared")),
            6,
            pointer=True,
            default="Shared",
        ),
    ),
)

PHOTON_PERSISTENT_DISK_VOLUME_SOURCE = Struct(
    "PhotonPersistentDiskVolumeSource", (Field("pdID", STRING, 1, always=True), Field("fsType", STRING, 2))
)

PORTWORX_VOLUME_SOURCE = Struct(
    "PortworxVolumeSource",
    (Field("volumeID", STRING, 1, always=True), Field("fsType", STRING, 2), Field("readOnly", BOOL, 3)),
)

SCALE_IO_VOLUME_SOURCE = Struct(
    "ScaleIOVolumeSource",
    (
        Field("gateway", STRING, 1, always=True),
        Field("system", STRING, 2, always=True),
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 3, pointer=True, always=True),
        Field("sslEnabled", BOOL, 4),
        Field("protectionDomain", STRING, 5),
        Field("storagePool", STRING, 6),
        Field("storageMode", STRING, 7, default="ThinProvisioned"),
        Field("volumeName", STRING, 8),
        Field("fsType", STRING, 9, default="xfs"),
        Field("readOnly", BOOL, 10),
    ),
)

STORAGE_OS_VOLUME_SOURCE = Struct(
    "StorageOSVolumeSource",
    (
        Field("volumeName", STRING, 1),
        Field("volumeNamespace", STRING, 2),
        Field("fsType", STRING, 3),
        Field("readOnly", BOOL, 4),
        Field("secretRef", LOCAL_OBJECT_REFERENCE, 5, pointer=True),
    ),
)

CSI_VOLUME_SOURCE = Struct(
    "CSIVolumeSource",
    (
        Field("driver", STRING, 1, always=True),
        Field("readOnly", BOOL, 2, pointer=True),
        Field("fsType", STRING, 3, pointer=True),
        Field("volumeAttributes", STRING_MAP, 4),
        Field("nodePublishSecretRef", LOCAL_OBJECT_REFERENCE, 5, pointer=True),
    ),
)

VOLUME_RESOURCE_REQUIREMENTS = Struct(
    "VolumeResourceRequirements", (Field("limits", RESOURCES, 1), Field("requests", RESOURCES, 2))
)

TYPED_LOCAL_OBJECT_REFERENCE = Struct(
    "TypedLocalObjectReference",
    (
        Field("apiGroup", STRING, 1, pointer=True, always=True, required=False),
        Field("kind", STRING, 2, always=True),
        Field("name", STRING, 3, always=True),
    ),
    atomic=True,
)

TYPED_OBJECT_REFERENCE = Struct(
    "TypedObjectReference",
    (
        Field("apiGroup", STRING, 1, pointer=True, always=True, required=False),
        Field("kind", STRING, 2, always=True),
        Field("name", STRING, 3, always=True),
        Field("namespace", STRING, 4, pointer=True),
    ),
)

PERSISTENT_VOLUME_CLAIM_SPEC = Struct(
    "PersistentVolumeClaimSpec",
    (
        Field(
            "accessModes",
            ListOf(
                String(
                    "v1.PersistentVolumeAccessMode",
                    ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
                )
            ),
            1,
        ),
        Field("selector", LABEL_SELECTOR, 4, pointer=True),
        Field("resources", VOLUME_RESOURCE_REQUIREMENTS, 2),
        Field("volumeName", STRING, 3),
        Field("storageClassName", STRING, 5, pointer=True),
        Field(
            "volumeMode", String("v1.PersistentVolumeMode", ("Block", "Filesystem")), 6, pointer=True, fill="Filesystem"
        ),
        Field("dataSource", TYPED_LOCAL_OBJECT_REFERENCE, 7, pointer=True),
        Field("dataSourceRef", TYPED_OBJECT_REFERENCE, 8, pointer=True),
        Field("volumeAttributesClassName", STRING, 9, pointer=True),
    ),
)

PERSISTENT_VOLUME_CLAIM_TEMPLATE = Struct(
    "PersistentVolumeClaimTemplate",
    (Field("metadata", OBJECT_META, 1), Field("spec", PERSISTENT_VOLUME_CLAIM_SPEC, 2, always=True)),
)

EPHEMERAL_VOLUME_SOURCE = Struct(
    "EphemeralVolumeSource", (Field("volumeClaimTemplate", PERSISTENT_VOLUME_CLAIM_TEMPLATE, 1, pointer=True),)
)

IMAGE_VOLUME_SOURCE = Struct(
    "ImageVolumeSource",
    (
        Field("reference", STRING, 1),
        Field("pullPolicy", String("v1.PullPolicy", ("Always", "IfNotPresent", "Never")), 2),
    ),
)

VOLUME_SOURCE = Struct(
    "VolumeSource",
    (
        Field("hostPath", HOST_PATH_VOLUME_SOURCE, 1, pointer=True),
        Field("emptyDir", EMPTY_DIR_VOLUME_SOURCE, 2, pointer=True),
        Field("gcePersistentDisk", GCE_PERSISTENT_DISK_VOLUME_SOURCE, 3, pointer=True),
        Field("awsElasticBlockStore", AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, 4, pointer=True),
        Field("gitRepo", GIT_REPO_VOLUME_SOURCE, 5, pointer=True),
        Field("secret", SECRET_VOLUME_SOURCE, 6, pointer=True),
        Field("nfs", NFS_VOLUME_SOURCE, 7, pointer=True),
        Field("iscsi", ISCSI_VOLUME_SOURCE, 8, pointer=True),
        Field("glusterfs", GLUSTERFS_VOLUME_SOURCE, 9, pointer=True),
        Field("persistentVolumeClaim", PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE, 10, pointer=True),
        Field("rbd", RBD_VOLUME_SOURCE, 11, pointer=True),
        Field("flexVolume", FLEX_VOLUME_SOURCE, 12, pointer=True),
        Field("cinder", CINDER_VOLUME_SOURCE, 13, pointer=True),
        Field("cephfs", CEPH_FS_VOLUME_SOURCE, 14, pointer=True),
        Field("flocker", FLOCKER_VOLUME_SOURCE, 15, pointer=True),
        Field("downwardAPI", DOWNWARD_API_VOLUME_SOURCE, 16, pointer=True),
        Field("fc", FC_VOLUME_SOURCE, 17, pointer=True),
        Field("azureFile", AZURE_FILE_VOLUME_SOURCE, 18, pointer=True),
        Field("configMap", CONFIG_MAP_VOLUME_SOURCE, 19, pointer=True),
        Field("vsphereVolume", VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, 20, pointer=True),
        Field("quobyte", QUOBYTE_VOLUME_SOURCE, 21, pointer=True),
        Field("azureDisk", AZURE_DISK_VOLUME_SOURCE, 22, pointer=True),
        Field("photonPersistentDisk", PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, 23, pointer=True),
        Field("projected", PROJECTED_VOLUME_SOURCE, 26, pointer=True),
        Field("portworxVolume", PORTWORX_VOLUME_SOURCE, 24, pointer=True),
        Field("scaleIO", SCALE_IO_VOLUME_SOURCE, 25, pointer=True),
        Field("storageos", STORAGE_OS_VOLUME_SOURCE, 27, pointer=True),
        Field("csi", CSI_VOLUME_SOURCE, 28, pointer=True),
        Field("ephemeral", EPHEMERAL_VOLUME_SOURCE, 29, pointer=True),
        Field("image", IMAGE_VOLUME_SOURCE, 30, pointer=True),
    ),
)

VOLUME = Struct("Volume", (Field("name", STRING, 1, always=True), Field("volumeSource", VOLUME_SOURCE, 2, inline=True)))
