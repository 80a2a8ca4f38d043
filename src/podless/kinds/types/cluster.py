"""LimitRange, ReplicationController, Endpoints, ComponentStatus."""

from __future__ import annotations

from podless.kinds.types.core import OBJECT_REFERENCE, RESOURCES
from podless.kinds.types.podspecs import POD_TEMPLATE_SPEC
from podless.meta.gotypes import INT32, INT64, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRING_MAP, condition, resource

LIMIT_RANGE_ITEM = Struct(
    "LimitRangeItem",
    (
        Field("type", String("v1.LimitType"), 1, always=True),
        Field("max", RESOURCES, 2),
        Field("min", RESOURCES, 3),
        Field("default", RESOURCES, 4),
        Field("defaultRequest", RESOURCES, 5),
        Field("maxLimitRequestRatio", RESOURCES, 6),
    ),
)

LIMIT_RANGE_SPEC = Struct("LimitRangeSpec", (Field("limits", ListOf(LIMIT_RANGE_ITEM), 1, always=True),))

LIMIT_RANGE = resource("LimitRange", Field("spec", LIMIT_RANGE_SPEC, 2))

REPLICATION_CONTROLLER_SPEC = Struct(
    "ReplicationControllerSpec",
    (
        Field("replicas", INT32, 1, pointer=True, default=1),
        Field("minReadySeconds", INT32, 4, default=0),
        Field("selector", STRING_MAP, 2, atomic=True),
        Field("template", POD_TEMPLATE_SPEC, 3, pointer=True),
    ),
)

REPLICATION_CONTROLLER_CONDITION = condition("ReplicationControllerCondition")

REPLICATION_CONTROLLER_STATUS = Struct(
    "ReplicationControllerStatus",
    (
        Field("replicas", INT32, 1, always=True),
        Field("fullyLabeledReplicas", INT32, 2),
        Field("readyReplicas", INT32, 4),
        Field("availableReplicas", INT32, 5),
        Field("observedGeneration", INT64, 3),
        Field("conditions", ListOf(REPLICATION_CONTROLLER_CONDITION), 6, keys=("type",), patch="merge", merge="type"),
    ),
)

REPLICATION_CONTROLLER = resource(
    "ReplicationController",
    Field("spec", REPLICATION_CONTROLLER_SPEC, 2),
    Field("status", REPLICATION_CONTROLLER_STATUS, 3),
)

ENDPOINT_ADDRESS = Struct(
    "EndpointAddress",
    (
        Field("ip", STRING, 1, always=True),
        Field("hostname", STRING, 3),
        Field("nodeName", STRING, 4, pointer=True),
        Field("targetRef", OBJECT_REFERENCE, 2, pointer=True),
    ),
    atomic=True,
)

ENDPOINT_PORT = Struct(
    "EndpointPort",
    (
        Field("name", STRING, 1),
        Field("port", INT32, 2, always=True),
        Field("protocol", String("v1.Protocol", ("SCTP", "TCP", "UDP")), 3, fill="TCP"),
        Field("appProtocol", STRING, 4, pointer=True),
    ),
    atomic=True,
)

ENDPOINT_SUBSET = Struct(
    "EndpointSubset",
    (
        Field("addresses", ListOf(ENDPOINT_ADDRESS), 1),
        Field("notReadyAddresses", ListOf(ENDPOINT_ADDRESS), 2),
        Field("ports", ListOf(ENDPOINT_PORT), 3),
    ),
)

ENDPOINTS = resource("Endpoints", Field("subsets", ListOf(ENDPOINT_SUBSET), 2))

COMPONENT_CONDITION = Struct(
    "ComponentCondition",
    (
        Field("type", String("v1.ComponentConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("message", STRING, 3),
        Field("error", STRING, 4),
    ),
)

COMPONENT_STATUS = resource(
    "ComponentStatus", Field("conditions", ListOf(COMPONENT_CONDITION), 2, keys=("type",), patch="merge", merge="type")
)
