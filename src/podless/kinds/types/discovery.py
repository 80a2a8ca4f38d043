"""The kinds of discovery.k8s.io/v1."""

from __future__ import annotations

from podless.kinds.types.core import OBJECT_REFERENCE
from podless.meta.gotypes import BOOL, INT32, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRING_MAP, STRINGS, resource

ENDPOINT_CONDITIONS = Struct(
    "EndpointConditions",
    (
        Field("ready", BOOL, 1, pointer=True),
        Field("serving", BOOL, 2, pointer=True),
        Field("terminating", BOOL, 3, pointer=True),
    ),
)

FOR_ZONE = Struct("ForZone", (Field("name", STRING, 1, always=True),))

FOR_NODE = Struct("ForNode", (Field("name", STRING, 1, always=True),))

ENDPOINT_HINTS = Struct(
    "EndpointHints", (Field("forZones", ListOf(FOR_ZONE), 1), Field("forNodes", ListOf(FOR_NODE), 2))
)

ENDPOINT = Struct(
    "Endpoint",
    (
        Field("addresses", STRINGS, 1, always=True, keys=()),
        Field("conditions", ENDPOINT_CONDITIONS, 2),
        Field("hostname", STRING, 3, pointer=True),
        Field("targetRef", OBJECT_REFERENCE, 4, pointer=True),
        Field("deprecatedTopology", STRING_MAP, 5),
        Field("nodeName", STRING, 6, pointer=True),
        Field("zone", STRING, 7, pointer=True),
        Field("hints", ENDPOINT_HINTS, 8, pointer=True),
    ),
)

ENDPOINT_PORT = Struct(
    "EndpointPort",
    (
        Field("name", STRING, 1, pointer=True, fill=""),
        Field("protocol", String("v1.Protocol", ("SCTP", "TCP", "UDP")), 2, pointer=True, fill="TCP"),
        Field("port", INT32, 3, pointer=True),
        Field("appProtocol", STRING, 4, pointer=True),
    ),
    atomic=True,
)

ENDPOINT_SLICE = resource(
    "EndpointSlice",
    Field("addressType", String("v1.AddressType", ("FQDN", "IPv4", "IPv6")), 4, always=True),
    Field("endpoints", ListOf(ENDPOINT), 2, always=True, required=False),
    Field("ports", ListOf(ENDPOINT_PORT), 3, always=True, required=False),
)
