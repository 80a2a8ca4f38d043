"""What is told of containers that run."""

from __future__ import annotations

from podless.kinds.types.containers import RESOURCE_REQUIREMENTS
from podless.kinds.types.core import RESOURCES
from podless.kinds.types.signals import SIGNAL
from podless.meta.gotypes import BOOL, INT32, INT64, STRING, TIME, ListOf, String
from podless.meta.structs import Field, Struct

CONTAINER_STATE_WAITING = Struct("ContainerStateWaiting", (Field("reason", STRING, 1), Field("message", STRING, 2)))

CONTAINER_STATE_RUNNING = Struct("ContainerStateRunning", (Field("startedAt", TIME, 1, always=True, required=False),))

CONTAINER_STATE_TERMINATED = Struct(
    "ContainerStateTerminated",
    (
        Field("exitCode", INT32, 1, always=True),
        Field("signal", INT32, 2),
        Field("reason", STRING, 3),
        Field("message", STRING, 4),
        Field("startedAt", TIME, 5, always=True, required=False),
        Field("finishedAt", TIME, 6, always=True, required=False),
        Field("containerID", STRING, 7),
    ),
)

CONTAINER_STATE = Struct(
    "ContainerState",
    (
        Field("waiting", CONTAINER_STATE_WAITING, 1, pointer=True),
        Field("running", CONTAINER_STATE_RUNNING, 2, pointer=True),
        Field("terminated", CONTAINER_STATE_TERMINATED, 3, pointer=True),
    ),
)

IMAGE_VOLUME_STATUS = Struct("ImageVolumeStatus", (Field("imageRef", STRING, 1, required=True),))

VOLUME_STATUS = Struct("VolumeStatus", (Field("image", IMAGE_VOLUME_STATUS, 1, pointer=True),))

VOLUME_MOUNT_STATUS = Struct(
    "VolumeMountStatus",
    (
        Field("name", STRING, 1, always=True),
        Field("mountPath", STRING, 2, always=True),
        Field("readOnly", BOOL, 3),
        Field("recursiveReadOnly", String("v1.RecursiveReadOnlyMode"), 4, pointer=True),
        Field("volumeStatus", VOLUME_STATUS, 5, pointer=True),
    ),
)

LINUX_CONTAINER_USER = Struct(
    "LinuxContainerUser",
    (
        Field("uid", INT64, 1, always=True),
        Field("gid", INT64, 2, always=True),
        Field("supplementalGroups", ListOf(INT64), 3),
    ),
)

CONTAINER_USER = Struct("ContainerUser", (Field("linux", LINUX_CONTAINER_USER, 1, pointer=True),))

RESOURCE_HEALTH = Struct(
    "ResourceHealth",
    (
        Field("resourceID", String("v1.ResourceID"), 1, always=True),
        Field("health", String("v1.ResourceHealthStatus"), 2),
        Field("message", STRING, 6, pointer=True),
    ),
)

RESOURCE_STATUS = Struct(
    "ResourceStatus",
    (
        Field("name", String("v1.ResourceName"), 1, always=True),
        Field("resources", ListOf(RESOURCE_HEALTH), 2, keys=("resourceID",)),
    ),
)

CONTAINER_STATUS = Struct(
    "ContainerStatus",
    (
        Field("name", STRING, 1, always=True),
        Field("state", CONTAINER_STATE, 2),
        Field("lastState", CONTAINER_STATE, 3),
        Field("ready", BOOL, 4, always=True),
        Field("restartCount", INT32, 5, always=True),
        Field("image", STRING, 6, always=True),
        Field("imageID", STRING, 7, always=True),
        Field("containerID", STRING, 8),
        Field("started", BOOL, 9, pointer=True),
        Field("allocatedResources", RESOURCES, 10),
        Field("resources", RESOURCE_REQUIREMENTS, 11, pointer=True),
        Field("volumeMounts", ListOf(VOLUME_MOUNT_STATUS), 12, keys=("mountPath",), patch="merge", merge="mountPath"),
        Field("user", CONTAINER_USER, 13, pointer=True),
        Field("allocatedResourcesStatus", ListOf(RESOURCE_STATUS), 14, keys=("name",), patch="merge", merge="name"),
        Field("stopSignal", SIGNAL, 15, pointer=True),
    ),
)
