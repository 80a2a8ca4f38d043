"""Texts of storage.k8s.io: classes, drivers and attachments of volumes."""

from __future__ import annotations

_PARAMETERS = "What the driver is told, by key; what it means is up to the driver. It never changes."

TEXTS: dict[str, dict[str, str]] = {
    "TokenRequest": {
        "": "A token of the pod's service account that a driver is given.",
        "audience": "For whom the token is; for the API server where it is empty.",
        "expirationSeconds": "For how many seconds the token should hold.",
    },
    "CSIDriverSpec": {
        "": "What a CSI driver needs, and what it knows how to do.",
        "attachRequired": "Whether volumes must be attached to a node before they are mounted; true where nothing is "
        "given. It never changes.",
        "fsGroupPolicy": "ReadWriteOnceWithFSType, File or None: whether volumes are given to a pod's fsGroup.",
        "nodeAllocatableUpdatePeriodSeconds": "After how many seconds again and again a node asks the driver how many "
        "volumes it can have, 10 at least.",
        "podInfoOnMount": "Whether the driver is told for which pod it mounts a volume; false where nothing is given.",
        "preventPodSchedulingIfMissing": "Whether pods with its volumes stay away from nodes without the driver.",
        "requiresRepublish": "Whether volumes are mounted again from time to time, to refresh what is in them.",
        "seLinuxMount": "Whether volumes can be mounted with an SELinux label; false where nothing is given.",
        "serviceAccountTokenInSecrets": "Whether tokens are handed over as secrets, not with the volume's attributes.",
        "storageCapacity": "Whether the scheduler heeds how much storage is left, by CSIStorageCapacity objects.",
        "tokenRequests": "Tokens of the pod's service account that the driver gets when it mounts a volume.",
        "volumeLifecycleModes": "Persistent, Ephemeral or both: volumes by claims, or in pods; "
        "Persistent where nothing is given.",
    },
    "CSIDriver": {
        "": "A CSI driver of the cluster; its name is the driver's.",
        "spec": "What the driver needs, and what it knows how to do.",
    },
    "VolumeNodeResources": {
        "": "What a node has for volumes.",
        "count": "How many volumes of the driver it can have; any number where nothing is given.",
    },
    "CSINodeDriver": {
        "": "A CSI driver that a node has.",
        "allocatable": "How many volumes the node can have.",
        "name": "The driver's name.",
        "nodeID": "What the driver calls the node.",
        "topologyKeys": "Labels of nodes by which the driver tells from where volumes can be reached.",
    },
    "CSINodeSpec": {
        "": "The CSI drivers of a node.",
        "drivers": "The drivers; those that were uninstalled are not among them.",
    },
    "CSINode": {
        "": "The CSI drivers of a node; its name is the node's.",
        "spec": "The drivers.",
    },
    "CSIStorageCapacity": {
        "": "How much storage a class has left in a part of the cluster.",
        "capacity": "How much is left; unknown where nothing is given.",
        "maximumVolumeSize": "How large one new volume can be.",
        "metadata": "Name and namespace; the name means nothing.",
        "nodeTopology": "The labels of the nodes that reach the storage; none where nothing is given, all for {}.",
        "storageClassName": "The StorageClass. It never changes.",
    },
    "StorageClass": {
        "": "A class of storage: how volumes for claims are made.",
        "allowVolumeExpansion": "Whether claims may ask for more later.",
        "allowedTopologies": "Where volumes may be made; anywhere where nothing is given.",
        "mountOptions": "Options for the mounts of new volumes; a wrong one makes the mount fail.",
        "parameters": "What the provisioner is told of new volumes, by key. It never changes.",
        "provisioner": "Who makes the volumes: a driver's name. It never changes.",
        "reclaimPolicy": "Delete or Retain: what becomes of volumes without a claim; Delete where nothing is given.",
        "volumeBindingMode": "Immediate, or WaitForFirstConsumer to make volumes only once a pod needs them; "
        "Immediate where nothing is given.",
    },
    "VolumeAttachmentSource": {
        "": "Which volume is attached: one of these.",
        "inlineVolumeSpec": "A volume of a pod, written as a persistent one.",
        "persistentVolumeName": "The PersistentVolume.",
    },
    "VolumeAttachmentSpec": {
        "": "Which volume is to be attached to which node.",
        "attacher": "The driver that does it.",
        "nodeName": "The node.",
        "source": "The volume.",
    },
    "VolumeError": {
        "": "Why attaching or detaching went wrong.",
        "errorCode": "The gRPC code of the error.",
        "message": "What went wrong. No secrets may be in it.",
        "time": "When it went wrong.",
    },
    "VolumeAttachmentStatus": {
        "": "Whether a volume is attached.",
        "attachError": "What went wrong when it was last attached.",
        "attached": "Whether the volume is attached.",
        "attachmentMetadata": "What the driver said when it attached the volume, for the mount, by key.",
        "detachError": "What went wrong when it was last detached.",
    },
    "VolumeAttachment": {
        "": "Asks for a volume to be attached to a node.",
        "spec": "Which volume, and which node. It never changes.",
        "status": "Whether the volume is attached.",
    },
    "VolumeAttributesClass": {
        "": "Settings of volumes, such as their speed, that can change while volumes are in use.",
        "driverName": "The CSI driver that knows the settings. It never changes.",
        "parameters": _PARAMETERS,
    },
}
