"""Pods, their status and their templates."""

from __future__ import annotations

from podless.kinds.types.containers import RESOURCE_REQUIREMENTS
from podless.kinds.types.core import OBJECT_REFERENCE, RESOURCES
from podless.kinds.types.podspecs import POD_SPEC, POD_TEMPLATE_SPEC
from podless.kinds.types.running import CONTAINER_STATUS
from podless.meta.gotypes import BOOL, INT32, INT64, QUANTITY, STRING, TIME, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS, TYPE_META, resource

POD_CONDITION = Struct(
    "PodCondition",
    (
        Field("type", String("v1.PodConditionType"), 1, always=True),
        Field("observedGeneration", INT64, 7),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastProbeTime", TIME, 3, always=True, required=False),
        Field("lastTransitionTime", TIME, 4, always=True, required=False),
        Field("reason", STRING, 5),
        Field("message", STRING, 6),
    ),
)

HOST_IP = Struct("HostIP", (Field("ip", STRING, 1, always=True),))

POD_IP = Struct("PodIP", (Field("ip", STRING, 1, always=True),))

POD_RESOURCE_CLAIM_STATUS = Struct(
    "PodResourceClaimStatus",
    (Field("name", STRING, 1, always=True), Field("resourceClaimName", STRING, 2, pointer=True)),
)

CONTAINER_EXTENDED_RESOURCE_REQUEST = Struct(
    "ContainerExtendedResourceRequest",
    (
        Field("containerName", STRING, 1, always=True),
        Field("resourceName", STRING, 2, always=True),
        Field("requestName", STRING, 3, always=True),
    ),
)

POD_EXTENDED_RESOURCE_CLAIM_STATUS = Struct(
    "PodExtendedResourceClaimStatus",
    (
        Field("requestMappings", ListOf(CONTAINER_EXTENDED_RESOURCE_REQUEST), 1, always=True),
        Field("resourceClaimName", STRING, 2, always=True),
    ),
)

NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS = Struct(
    "NodeAllocatableResourceClaimStatus",
    (
        Field("resourceClaimName", STRING, 1, always=True),
        Field("containers", STRINGS, 2, keys=()),
        Field("resources", MapOf(QUANTITY), 3, always=True),
    ),
)

POD_STATUS = Struct(
    "PodStatus",
    (
        Field("observedGeneration", INT64, 17),
        Field("phase", String("v1.PodPhase", ("Failed", "Pending", "Running", "Succeeded", "Unknown")), 1),
        Field("conditions", ListOf(POD_CONDITION), 2, keys=("type",), patch="merge", merge="type"),
        Field("message", STRING, 3),
        Field("reason", STRING, 4),
        Field("nominatedNodeName", STRING, 11),
        Field("hostIP", STRING, 5),
        Field("hostIPs", ListOf(HOST_IP), 16, patch="merge", merge="ip"),
        Field("podIP", STRING, 6),
        Field("podIPs", ListOf(POD_IP), 12, keys=("ip",), patch="merge", merge="ip"),
        Field("startTime", TIME, 7, pointer=True),
        Field("initContainerStatuses", ListOf(CONTAINER_STATUS), 10),
        Field("containerStatuses", ListOf(CONTAINER_STATUS), 8),
        Field("qosClass", String("v1.PodQOSClass", ("BestEffort", "Burstable", "Guaranteed")), 9),
        Field("ephemeralContainerStatuses", ListOf(CONTAINER_STATUS), 13),
        Field("resize", String("v1.PodResizeStatus"), 14),
        Field(
            "resourceClaimStatuses",
            ListOf(POD_RESOURCE_CLAIM_STATUS),
            15,
            keys=("name",),
            patch="merge,retainKeys",
            merge="name",
        ),
        Field("extendedResourceClaimStatus", POD_EXTENDED_RESOURCE_CLAIM_STATUS, 18, pointer=True),
        Field("allocatedResources", RESOURCES, 19),
        Field("resources", RESOURCE_REQUIREMENTS, 20, pointer=True),
        Field("nodeAllocatableResourceClaimStatuses", ListOf(NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS), 21),
    ),
)

POD = resource("Pod", Field("spec", POD_SPEC, 2), Field("status", POD_STATUS, 3))

POD_TEMPLATE = resource("PodTemplate", Field("template", POD_TEMPLATE_SPEC, 2))

BINDING = resource("Binding", Field("target", OBJECT_REFERENCE, 2, always=True))

POD_LOG_OPTIONS = Struct(
    "PodLogOptions",
    (
        *TYPE_META,
        Field("container", STRING, 1),
        Field("follow", BOOL, 2),
        Field("previous", BOOL, 3),
        Field("sinceSeconds", INT64, 4, pointer=True),
        Field("sinceTime", TIME, 5, pointer=True),
        Field("timestamps", BOOL, 6),
        Field("tailLines", INT64, 7, pointer=True),
        Field("limitBytes", INT64, 8, pointer=True),
        Field("insecureSkipTLSVerifyBackend", BOOL, 9),
        Field("stream", STRING, 10, pointer=True),
    ),
)

POD_EXEC_OPTIONS = Struct(
    "PodExecOptions",
    (
        *TYPE_META,
        Field("stdin", BOOL, 1),
        Field("stdout", BOOL, 2),
        Field("stderr", BOOL, 3),
        Field("tty", BOOL, 4),
        Field("container", STRING, 5),
        Field("command", STRINGS, 6, always=True),
    ),
)

POD_ATTACH_OPTIONS = Struct(
    "PodAttachOptions",
    (
        *TYPE_META,
        Field("stdin", BOOL, 1),
        Field("stdout", BOOL, 2),
        Field("stderr", BOOL, 3),
        Field("tty", BOOL, 4),
        Field("container", STRING, 5),
    ),
)

POD_PORT_FORWARD_OPTIONS = Struct("PodPortForwardOptions", (*TYPE_META, Field("ports", ListOf(INT32), 1)))

POD_PROXY_OPTIONS = Struct("PodProxyOptions", (*TYPE_META, Field("path", STRING, 1)))

SERVICE_PROXY_OPTIONS = Struct("ServiceProxyOptions", (*TYPE_META, Field("path", STRING, 1)))
