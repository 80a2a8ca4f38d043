"""How containers are looked after."""

from __future__ import annotations

from podless.kinds.types.signals import SIGNAL
from podless.meta.gotypes import INT32, INT64, INT_OR_STRING, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS

EXEC_ACTION = Struct("ExecAction", (Field("command", STRINGS, 1),))

HTTP_HEADER = Struct("HTTPHeader", (Field("name", STRING, 1, always=True), Field("value", STRING, 2, always=True)))

HTTP_GET_ACTION = Struct(
    "HTTPGetAction",
    (
        Field("path", STRING, 1, fill="/"),
        Field("port", INT_OR_STRING, 2, always=True),
        Field("host", STRING, 3),
        Field("scheme", String("v1.URIScheme", ("HTTP", "HTTPS")), 4, fill="HTTP"),
        Field("httpHeaders", ListOf(HTTP_HEADER), 5),
    ),
)

TCP_SOCKET_ACTION = Struct("TCPSocketAction", (Field("port", INT_OR_STRING, 1, always=True), Field("host", STRING, 2)))

GRPC_ACTION = Struct(
    "GRPCAction",
    (
        Field("port", INT32, 1, always=True),
        Field("service", STRING, 2, pointer=True, always=True, required=False, default=""),
    ),
)

PROBE_HANDLER = Struct(
    "ProbeHandler",
    (
        Field("exec", EXEC_ACTION, 1, pointer=True),
        Field("httpGet", HTTP_GET_ACTION, 2, pointer=True),
        Field("tcpSocket", TCP_SOCKET_ACTION, 3, pointer=True),
        Field("grpc", GRPC_ACTION, 4, pointer=True),
    ),
)

PROBE = Struct(
    "Probe",
    (
        Field("handler", PROBE_HANDLER, 1, inline=True),
        Field("initialDelaySeconds", INT32, 2),
        Field("timeoutSeconds", INT32, 3, fill=1),
        Field("periodSeconds", INT32, 4, fill=10),
        Field("successThreshold", INT32, 5, fill=1),
        Field("failureThreshold", INT32, 6, fill=3),
        Field("terminationGracePeriodSeconds", INT64, 7, pointer=True),
    ),
)

SLEEP_ACTION = Struct("SleepAction", (Field("seconds", INT64, 1, always=True),))

LIFECYCLE_HANDLER = Struct(
    "LifecycleHandler",
    (
        Field("exec", EXEC_ACTION, 1, pointer=True),
        Field("httpGet", HTTP_GET_ACTION, 2, pointer=True),
        Field("tcpSocket", TCP_SOCKET_ACTION, 3, pointer=True),
        Field("sleep", SLEEP_ACTION, 4, pointer=True),
    ),
)

LIFECYCLE = Struct(
    "Lifecycle",
    (
        Field("postStart", LIFECYCLE_HANDLER, 1, pointer=True),
        Field("preStop", LIFECYCLE_HANDLER, 2, pointer=True),
        Field("stopSignal", SIGNAL, 3, pointer=True),
    ),
)
