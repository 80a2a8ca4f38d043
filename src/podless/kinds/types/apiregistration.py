"""APIService of apiregistration.k8s.io/v1: one served group-version."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, BYTES, INT32, STRING, ListOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import condition, resource

SERVICE_REFERENCE = Struct(
    "ServiceReference",
    (Field("namespace", STRING, 1), Field("name", STRING, 2), Field("port", INT32, 3, pointer=True, fill=443)),
)

API_SERVICE_SPEC = Struct(
    "APIServiceSpec",
    (
        Field("service", SERVICE_REFERENCE, 1, pointer=True),
        Field("group", STRING, 2),
        Field("version", STRING, 3),
        Field("insecureSkipTLSVerify", BOOL, 4),
        Field("caBundle", BYTES, 5),
        Field("groupPriorityMinimum", INT32, 7, always=True),
        Field("versionPriority", INT32, 8, always=True),
    ),
)

API_SERVICE_CONDITION = condition("APIServiceCondition")

API_SERVICE_STATUS = Struct(
    "APIServiceStatus",
    (Field("conditions", ListOf(API_SERVICE_CONDITION), 1, keys=("type",), patch="merge", merge="type"),),
)

API_SERVICE = resource("APIService", Field("spec", API_SERVICE_SPEC, 2), Field("status", API_SERVICE_STATUS, 3))
