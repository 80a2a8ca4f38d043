"""APIService of apiregistration.k8s.io/v1: one served group-version."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, BYTES, INT32, STRING, TIME, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import OBJECT_META, TYPE_META

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

API_SERVICE_CONDITION = Struct(
    "APIServiceCondition",
    (
        Field("type", String("v1.APIServiceConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastTransitionTime", TIME, 3, always=True, required=False),
        Field("reason", STRING, 4),
        Field("message", STRING, 5),
    ),
)

API_SERVICE_STATUS = Struct(
    "APIServiceStatus",
    (Field("conditions", ListOf(API_SERVICE_CONDITION), 1, keys=("type",), patch="merge", merge="type"),),
)

API_SERVICE = Struct(
    "APIService",
    (
        *TYPE_META,
        Field("metadata", OBJECT_META, 1),
        Field("spec", API_SERVICE_SPEC, 2),
        Field("status", API_SERVICE_STATUS, 3),
    ),
)
