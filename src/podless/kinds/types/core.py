"""The structs of the core group that are served here."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, BYTES, INT32, MICRO_TIME, QUANTITY, STRING, TIME, UID, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import OBJECT_META, STRING_MAP, STRINGS, TYPE_META, resource

NAMESPACE_CONDITION = Struct(
    "NamespaceCondition",
    (
        Field("type", String("v1.NamespaceConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastTransitionTime", TIME, 4, always=True, required=False),
        Field("reason", STRING, 5),
        Field("message", STRING, 6),
    ),
)

NAMESPACE_SPEC = Struct("NamespaceSpec", (Field("finalizers", ListOf(String("v1.FinalizerName")), 1),))

NAMESPACE_STATUS = Struct(
    "NamespaceStatus",
    (
        Field("phase", String("v1.NamespacePhase", ("Active", "Terminating")), 1),
        Field("conditions", ListOf(NAMESPACE_CONDITION), 2, keys=("type",), patch="merge", merge="type"),
    ),
)

NAMESPACE = resource("Namespace", Field("spec", NAMESPACE_SPEC, 2), Field("status", NAMESPACE_STATUS, 3))

CONFIG_MAP = resource(
    "ConfigMap",
    Field("immutable", BOOL, 4, pointer=True),
    Field("data", STRING_MAP, 2),
    Field("binaryData", MapOf(BYTES), 3),
)

SECRET = resource(
    "Secret",
    Field("immutable", BOOL, 5, pointer=True),
    Field("data", MapOf(BYTES), 2),
    Field("stringData", STRING_MAP, 4),
    Field("type", String("v1.SecretType"), 3, fill="Opaque"),
)

OBJECT_REFERENCE = Struct(
    "ObjectReference",
    (
        Field("kind", STRING, 1),
        Field("namespace", STRING, 2),
        Field("name", STRING, 3),
        Field("uid", UID, 4),
        Field("apiVersion", STRING, 5),
        Field("resourceVersion", STRING, 6),
        Field("fieldPath", STRING, 7),
    ),
    atomic=True,
)

LOCAL_OBJECT_REFERENCE = Struct("LocalObjectReference", (Field("name", STRING, 1, default=""),), atomic=True)

SERVICE_ACCOUNT = resource(
    "ServiceAccount",
    Field("secrets", ListOf(OBJECT_REFERENCE), 2, keys=("name",), patch="merge", merge="name"),
    Field("imagePullSecrets", ListOf(LOCAL_OBJECT_REFERENCE), 3),
    Field("automountServiceAccountToken", BOOL, 4, pointer=True),
)

EVENT_SOURCE = Struct("EventSource", (Field("component", STRING, 1), Field("host", STRING, 2)))

EVENT_SERIES = Struct(
    "EventSeries", (Field("count", INT32, 1), Field("lastObservedTime", MICRO_TIME, 2, always=True, required=False))
)

EVENT = Struct(
    "Event",
    (
        *TYPE_META,
        Field("metadata", OBJECT_META, 1, always=True),
        Field("involvedObject", OBJECT_REFERENCE, 2, always=True),
        Field("reason", STRING, 3),
        Field("message", STRING, 4),
        Field("source", EVENT_SOURCE, 5),
        Field("firstTimestamp", TIME, 6, always=True, required=False),
        Field("lastTimestamp", TIME, 7, always=True, required=False),
        Field("count", INT32, 8),
        Field("type", STRING, 9),
        Field("eventTime", MICRO_TIME, 10, always=True, required=False),
        Field("series", EVENT_SERIES, 11, pointer=True),
        Field("action", STRING, 12),
        Field("related", OBJECT_REFERENCE, 13, pointer=True),
        Field("reportingComponent", STRING, 14, always=True, required=False),
        Field("reportingInstance", STRING, 15, always=True, required=False),
    ),
)

RESOURCES = MapOf(QUANTITY, "v1.ResourceList")

_SCOPE = String(
    "v1.ResourceQuotaScope",
    (
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
        "VolumeAttributesClass",
    ),
)

SCOPED_RESOURCE_SELECTOR_REQUIREMENT = Struct(
    "ScopedResourceSelectorRequirement",
    (
        Field("scopeName", _SCOPE, 1, always=True),
        Field(
            "operator", String("v1.ScopeSelectorOperator", ("DoesNotExist", "Exists", "In", "NotIn")), 2, always=True
        ),
        Field("values", STRINGS, 3),
    ),
)

SCOPE_SELECTOR = Struct(
    "ScopeSelector", (Field("matchExpressions", ListOf(SCOPED_RESOURCE_SELECTOR_REQUIREMENT), 1),), atomic=True
)

RESOURCE_QUOTA_SPEC = Struct(
    "ResourceQuotaSpec",
    (
        Field("hard", RESOURCES, 1),
        Field("scopes", ListOf(_SCOPE), 2),
        Field("scopeSelector", SCOPE_SELECTOR, 3, pointer=True),
    ),
)

RESOURCE_QUOTA_STATUS = Struct("ResourceQuotaStatus", (Field("hard", RESOURCES, 1), Field("used", RESOURCES, 2)))

RESOURCE_QUOTA = resource(
    "ResourceQuota", Field("spec", RESOURCE_QUOTA_SPEC, 2), Field("status", RESOURCE_QUOTA_STATUS, 3)
)
