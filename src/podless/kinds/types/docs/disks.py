"""Texts of the places where the data of volumes is."""

from __future__ import annotations

FS_TYPE = "The file system of the disk, such as ext4 or xfs; ext4 where nothing is given."
READ_ONLY = "Whether the volume can only be read; false where nothing is given."
_PARTITION = "The partition to mount; 0 for the whole disk."
GLUSTERFS = {
    "endpoints": "The Endpoints object that has the servers' addresses.",
    "path": "The Glusterfs volume's name.",
    "readOnly": READ_ONLY,
}
RBD = {
    "fsType": FS_TYPE,
    "image": "The image's name.",
    "keyring": "The path of the user's keyring; /etc/ceph/keyring where nothing is given.",
    "monitors": "Addresses of the Ceph monitors.",
    "pool": "The pool of the image; rbd where nothing is given.",
    "readOnly": READ_ONLY,
    "user": "The Ceph user; admin where nothing is given.",
}
ISCSI = {
    "chapAuthDiscovery": "Whether CHAP is used to find targets.",
    "chapAuthSession": "Whether CHAP is used to log in to the target.",
    "fsType": FS_TYPE,
    "initiatorName": "The initiator's IQN, where it is not that of the node.",
    "iqn": "The target's IQN.",
    "iscsiInterface": "The iSCSI transport; default, which is TCP, where nothing is given.",
    "lun": "The number of the disk at the target.",
    "portals": "More portals of the target, for multipath.",
    "readOnly": READ_ONLY,
    "targetPortal": "The target's address, with a port where it is not 3260.",
}
CINDER = {"fsType": FS_TYPE, "readOnly": READ_ONLY, "volumeID": "The Cinder volume's ID."}
CEPH_FS = {
    "monitors": "Addresses of the Ceph monitors.",
    "path": "The directory to mount; / where nothing is given.",
    "readOnly": READ_ONLY,
    "secretFile": "The path of the user's key ring; /etc/ceph/user.secret where nothing is given.",
    "user": "The Ceph user; admin where nothing is given.",
}
FLEX = {
    "driver": "The driver's name.",
    "fsType": "The file system of the volume; the driver's choice where nothing is given.",
    "options": "What the driver is told besides, by key.",
    "readOnly": READ_ONLY,
}
SCALE_IO = {
    "fsType": "The file system of the disk, such as ext4; xfs where nothing is given.",
    "gateway": "The address of the ScaleIO gateway.",
    "protectionDomain": "The protection domain of the storage.",
    "readOnly": READ_ONLY,
    "sslEnabled": "Whether the gateway is spoken to by TLS.",
    "storageMode": "ThickProvisioned or ThinProvisioned; ThinProvisioned where nothing is given.",
    "storagePool": "The storage pool in the protection domain.",
    "system": "The storage system's name.",
    "volumeName": "The ScaleIO volume's name.",
}
_LOGIN = "A Secret with what the login needs, and its namespace."

TEXTS: dict[str, dict[str, str]] = {
    "AWSElasticBlockStoreVolumeSource": {
        "": "An AWS EBS disk.",
        "fsType": FS_TYPE,
        "partition": _PARTITION,
        "readOnly": READ_ONLY,
        "volumeID": "The disk's ID, such as vol-0123.",
    },
    "AzureDiskVolumeSource": {
        "": "An Azure disk.",
        "cachingMode": "None, ReadOnly or ReadWrite; ReadWrite where nothing is given.",
        "diskName": "The disk's name.",
        "diskURI": "The disk's URI.",
        "fsType": FS_TYPE,
        "kind": "Shared, Dedicated or Managed: how the disk is kept; Shared where nothing is given.",
        "readOnly": READ_ONLY,
    },
    "FCVolumeSource": {
        "": "A disk that is reached by Fibre Channel: by WWNs and LUN, or by WWIDs.",
        "fsType": FS_TYPE,
        "lun": "The number of the disk at its targets.",
        "readOnly": READ_ONLY,
        "targetWWNs": "World wide names of the targets.",
        "wwids": "World wide identifiers of the disk.",
    },
    "FlockerVolumeSource": {
        "": "A Flocker dataset. No longer supported.",
        "datasetName": "The dataset's name. Deprecated.",
        "datasetUUID": "The dataset's UUID.",
    },
    "GCEPersistentDiskVolumeSource": {
        "": "A Google persistent disk.",
        "fsType": FS_TYPE,
        "partition": _PARTITION,
        "pdName": "The disk's name.",
        "readOnly": READ_ONLY,
    },
    "HostPathVolumeSource": {
        "": "A file or directory of the node.",
        "path": "The path on the node; links are followed.",
        "type": "What must be there, or is made: Directory, DirectoryOrCreate, File, FileOrCreate, Socket, CharDevice "
        "or BlockDevice; empty for no check.",
    },
    "NFSVolumeSource": {
        "": "A directory of an NFS server.",
        "path": "The directory that the server exports.",
        "readOnly": READ_ONLY,
        "server": "The server's host name or address.",
    },
    "PhotonPersistentDiskVolumeSource": {
        "": "A Photon disk. No longer supported.",
        "fsType": FS_TYPE,
        "pdID": "The disk's ID.",
    },
    "PortworxVolumeSource": {
        "": "A Portworx volume.",
        "fsType": "The file system of the volume: ext4 or xfs; ext4 where nothing is given.",
        "readOnly": READ_ONLY,
        "volumeID": "The volume's ID.",
    },
    "QuobyteVolumeSource": {
        "": "A Quobyte volume. No longer supported.",
        "group": "The group that files belong to; none where nothing is given.",
        "readOnly": READ_ONLY,
        "registry": "The registries' addresses, HOST:PORT with commas between.",
        "tenant": "The tenant that the volume belongs to.",
        "user": "The user that files belong to; the service account's where nothing is given.",
        "volume": "The volume's name.",
    },
    "VsphereVirtualDiskVolumeSource": {
        "": "A vSphere disk.",
        "fsType": FS_TYPE,
        "storagePolicyID": "The ID of the storage policy.",
        "storagePolicyName": "The name of the storage policy.",
        "volumePath": "The path of the disk's file.",
    },
    "GlusterfsPersistentVolumeSource": {
        "": "A Glusterfs volume. No longer supported.",
        **GLUSTERFS,
        "endpointsNamespace": "The namespace of the Endpoints object; the claim's where nothing is given.",
    },
    "SecretReference": {
        "": "Names a Secret.",
        "name": "Name of the Secret.",
        "namespace": "Namespace of the Secret.",
    },
    "RBDPersistentVolumeSource": {"": "A Ceph RBD image. No longer supported.", **RBD, "secretRef": _LOGIN},
    "ISCSIPersistentVolumeSource": {
        "": "A disk that is reached by iSCSI.",
        **ISCSI,
        "secretRef": "A Secret with the CHAP login, and its namespace.",
    },
    "CinderPersistentVolumeSource": {"": "An OpenStack Cinder volume.", **CINDER, "secretRef": _LOGIN},
    "CephFSPersistentVolumeSource": {"": "A directory of CephFS. No longer supported.", **CEPH_FS, "secretRef": _LOGIN},
    "FlexPersistentVolumeSource": {
        "": "A volume of a program on the node. Deprecated: use CSI.",
        **FLEX,
        "secretRef": "A Secret that the driver is given, and its namespace.",
    },
    "AzureFilePersistentVolumeSource": {
        "": "A share of Azure Files.",
        "readOnly": READ_ONLY,
        "secretName": "The Secret with the storage account's name and key.",
        "secretNamespace": "The Secret's namespace; that of the claim where nothing is given.",
        "shareName": "The share's name.",
    },
    "ScaleIOPersistentVolumeSource": {"": "A ScaleIO volume. No longer supported.", **SCALE_IO, "secretRef": _LOGIN},
    "LocalVolumeSource": {
        "": "A disk or directory of one node; nodeAffinity says of which.",
        "fsType": "The file system of a block device; guessed where nothing is given.",
        "path": "The path on the node: a directory, or a block device.",
    },
    "StorageOSPersistentVolumeSource": {
        "": "A StorageOS volume. No longer supported.",
        "fsType": FS_TYPE,
        "readOnly": READ_ONLY,
        "secretRef": _LOGIN,
        "volumeName": "The volume's name in its StorageOS namespace.",
        "volumeNamespace": "The StorageOS namespace; the claim's where nothing is given.",
    },
    "CSIPersistentVolumeSource": {
        "": "A volume of a CSI driver.",
        "controllerExpandSecretRef": "A Secret that the driver is given when it makes the volume larger.",
        "controllerPublishSecretRef": "A Secret that the driver is given when it attaches and detaches the volume.",
        "driver": "The CSI driver's name.",
        "fsType": "The file system of the volume, such as ext4.",
        "nodeExpandSecretRef": "A Secret that the driver is given when it makes the volume larger on the node.",
        "nodePublishSecretRef": "A Secret that the driver is given when it mounts the volume for a pod.",
        "nodeStageSecretRef": "A Secret that the driver is given when it mounts the volume on the node.",
        "readOnly": READ_ONLY,
        "volumeAttributes": "What the driver said of the volume when it was made, by key.",
        "volumeHandle": "The driver's own name of the volume. It never changes.",
    },
}
