"""Texts of what is known of running containers."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "ContainerStateWaiting": {
        "": "Why a container does not run yet.",
        "message": "Details, for people.",
        "reason": "Why it waits, in one CamelCase word such as ImagePullBackOff.",
    },
    "ContainerStateRunning": {
        "": "Since when a container runs.",
        "startedAt": "When it last started.",
    },
    "ContainerStateTerminated": {
        "": "How a container ended.",
        "containerID": "The runtime's ID of the container, as type://ID.",
        "exitCode": "The exit code; 0 is success.",
        "finishedAt": "When it ended.",
        "message": "What the container left in its termination message file, or details for people.",
        "reason": "Why it ended, in one CamelCase word such as Completed, Error or OOMKilled.",
        "signal": "The number of the signal that ended it, if one did.",
        "startedAt": "When it had started.",
    },
    "ContainerState": {
        "": "Waiting, running or terminated; waiting where none is given.",
        "running": "Since when it runs.",
        "terminated": "How it ended.",
        "waiting": "Why it does not run yet.",
    },
    "ImageVolumeStatus": {
        "": "What is known of an image that is a volume.",
        "imageRef": "The digest of the image that was mounted.",
    },
    "VolumeStatus": {
        "": "What is known of a volume, by its kind.",
        "image": "For a volume that is an image.",
    },
    "VolumeMountStatus": {
        "": "How a container got a volume.",
        "mountPath": "The path in the container.",
        "name": "The volume's name in the pod.",
        "readOnly": "Whether the container can only read.",
        "recursiveReadOnly": "Disabled or Enabled: whether mounts below it are read-only as well.",
        "volumeStatus": "What is known of the volume itself.",
    },
    "LinuxContainerUser": {
        "": "The IDs that a container's first process began with.",
        "gid": "The group ID.",
        "supplementalGroups": "The other groups' IDs, those of the image among them.",
        "uid": "The user ID.",
    },
    "ContainerUser": {
        "": "As whom a container's first process began.",
        "linux": "The IDs on Linux.",
    },
    "ResourceHealth": {
        "": "How one device that a container has is doing.",
        "health": "Healthy, Unhealthy or Unknown.",
        "message": "Details, for people.",
        "resourceID": "The device's ID, as its driver names it.",
    },
    "ResourceStatus": {
        "": "How the devices that a container got for one resource are doing.",
        "name": "The resource: a name such as example.com/gpu, or claim:CLAIM/REQUEST.",
        "resources": "The devices, and how each is doing.",
    },
    "ContainerStatus": {
        "": "What is known of one container of a pod.",
        "allocatedResources": "What the node has set aside for the container.",
        "allocatedResourcesStatus": "How the devices of the container are doing.",
        "containerID": "The runtime's ID of the container, as type://ID.",
        "image": "The image that runs; the runtime may write it otherwise than the spec does.",
        "imageID": "The digest of the image that runs.",
        "lastState": "How the container before this one ended, after a restart.",
        "name": "The container's name.",
        "ready": "Whether the container can take requests: its readiness probe succeeds, or it has none.",
        "resources": "The requests and limits that are in force.",
        "restartCount": "How often the container was started again.",
        "started": "Whether the startup probe has succeeded; true where there is none and it runs.",
        "state": "What the container does now.",
        "stopSignal": "The signal by which the container is told to end.",
        "user": "As whom the first process began.",
        "volumeMounts": "How the container got its volumes.",
    },
}
