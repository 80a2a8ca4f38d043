"""Nodes."""

from __future__ import annotations

from podless.kinds.types.core import RESOURCES
from podless.meta.gotypes import BOOL, INT32, INT64, STRING, TIME, UID, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS, TYPE_META, resource

TAINT = Struct(
    "Taint",
    (
        Field("key", STRING, 1, always=True),
        Field("value", STRING, 2),
        Field("effect", String("v1.TaintEffect", ("NoExecute", "NoSchedule", "PreferNoSchedule")), 3, always=True),
        Field("timeAdded", TIME, 4, pointer=True),
    ),
)

CONFIG_MAP_NODE_CONFIG_SOURCE = Struct(
    "ConfigMapNodeConfigSource",
    (
        Field("namespace", STRING, 1, always=True),
        Field("name", STRING, 2, always=True),
        Field("uid", UID, 3),
        Field("resourceVersion", STRING, 4),
        Field("kubeletConfigKey", STRING, 5, always=True),
    ),
)

NODE_CONFIG_SOURCE = Struct("NodeConfigSource", (Field("configMap", CONFIG_MAP_NODE_CONFIG_SOURCE, 2, pointer=True),))

NODE_SPEC = Struct(
    "NodeSpec",
    (
        Field("podCIDR", STRING, 1),
        Field("podCIDRs", STRINGS, 7, keys=(), patch="merge"),
        Field("providerID", STRING, 3),
        Field("unschedulable", BOOL, 4),
        Field("taints", ListOf(TAINT), 5),
        Field("configSource", NODE_CONFIG_SOURCE, 6, pointer=True),
        Field("externalID", STRING, 2),
    ),
)

NODE_CONDITION = Struct(
    "NodeCondition",
    (
        Field("type", String("v1.NodeConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastHeartbeatTime", TIME, 3, always=True, required=False),
        Field("lastTransitionTime", TIME, 4, always=True, required=False),
        Field("reason", STRING, 5),
        Field("message", STRING, 6),
    ),
)

NODE_ADDRESS = Struct(
    "NodeAddress",
    (Field("type", String("v1.NodeAddressType"), 1, always=True), Field("address", STRING, 2, always=True)),
)

DAEMON_ENDPOINT = Struct("DaemonEndpoint", (Field("Port", INT32, 1, always=True),))

NODE_DAEMON_ENDPOINTS = Struct("NodeDaemonEndpoints", (Field("kubeletEndpoint", DAEMON_ENDPOINT, 1),))

NODE_SWAP_STATUS = Struct("NodeSwapStatus", (Field("capacity", INT64, 1, pointer=True),))

NODE_SYSTEM_INFO = Struct(
    "NodeSystemInfo",
    (
        Field("machineID", STRING, 1, always=True),
        Field("systemUUID", STRING, 2, always=True),
        Field("bootID", STRING, 3, always=True),
        Field("kernelVersion", STRING, 4, always=True),
        Field("osImage", STRING, 5, always=True),
        Field("containerRuntimeVersion", STRING, 6, always=True),
        Field("kubeletVersion", STRING, 7, always=True),
        Field("kubeProxyVersion", STRING, 8, always=True),
        Field("operatingSystem", STRING, 9, always=True),
        Field("architecture", STRING, 10, always=True),
        Field("swap", NODE_SWAP_STATUS, 11, pointer=True),
    ),
)

CONTAINER_IMAGE = Struct(
    "ContainerImage", (Field("names", STRINGS, 1, always=True, required=False), Field("sizeBytes", INT64, 2))
)

ATTACHED_VOLUME = Struct(
    "AttachedVolume",
    (Field("name", String("v1.UniqueVolumeName"), 1, always=True), Field("devicePath", STRING, 2, always=True)),
)

NODE_CONFIG_STATUS = Struct(
    "NodeConfigStatus",
    (
        Field("assigned", NODE_CONFIG_SOURCE, 1, pointer=True),
        Field("active", NODE_CONFIG_SOURCE, 2, pointer=True),
        Field("lastKnownGood", NODE_CONFIG_SOURCE, 3, pointer=True),
        Field("error", STRING, 4),
    ),
)

NODE_RUNTIME_HANDLER_FEATURES = Struct(
    "NodeRuntimeHandlerFeatures",
    (Field("recursiveReadOnlyMounts", BOOL, 1, pointer=True), Field("userNamespaces", BOOL, 2, pointer=True)),
)

NODE_RUNTIME_HANDLER = Struct(
    "NodeRuntimeHandler",
    (
        Field("name", STRING, 1, always=True, required=False),
        Field("features", NODE_RUNTIME_HANDLER_FEATURES, 2, pointer=True),
    ),
)

NODE_FEATURES = Struct("NodeFeatures", (Field("supplementalGroupsPolicy", BOOL, 1, pointer=True),))

NODE_STATUS = Struct(
    "NodeStatus",
    (
        Field("capacity", RESOURCES, 1),
        Field("allocatable", RESOURCES, 2),
        Field("phase", String("v1.NodePhase", ("Pending", "Running", "Terminated")), 3),
        Field("conditions", ListOf(NODE_CONDITION), 4, keys=("type",), patch="merge", merge="type"),
        Field("addresses", ListOf(NODE_ADDRESS), 5, keys=("type",), patch="merge", merge="type"),
        Field("daemonEndpoints", NODE_DAEMON_ENDPOINTS, 6),
        Field("nodeInfo", NODE_SYSTEM_INFO, 7),
        Field("images", ListOf(CONTAINER_IMAGE), 8),
        Field("volumesInUse", ListOf(String("v1.UniqueVolumeName")), 9),
        Field("volumesAttached", ListOf(ATTACHED_VOLUME), 10),
        Field("config", NODE_CONFIG_STATUS, 11, pointer=True),
        Field("runtimeHandlers", ListOf(NODE_RUNTIME_HANDLER), 12),
        Field("features", NODE_FEATURES, 13, pointer=True),
        Field("declaredFeatures", STRINGS, 14),
    ),
)

NODE = resource("Node", Field("spec", NODE_SPEC, 2), Field("status", NODE_STATUS, 3))

NODE_PROXY_OPTIONS = Struct("NodeProxyOptions", (*TYPE_META, Field("path", STRING, 1)))
