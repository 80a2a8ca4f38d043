"""The tables of the structs in k8s.io/apimachinery meta/v1 that a server reads or writes."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, INT32, INT64, RAW, STRING, TIME, UID, ListOf, MapOf, Raw, String
from podless.meta.structs import Field, Struct

STRINGS = ListOf(STRING)
STRING_MAP = MapOf(STRING)

# the fields of every object, before its metadata
TYPE_META = (Field("kind", STRING, 1), Field("apiVersion", STRING, 2))

OWNER_REFERENCE = Struct(
    "OwnerReference",
    (
        Field("apiVersion", STRING, 5, always=True),
        Field("kind", STRING, 1, always=True),
        Field("name", STRING, 3, always=True),
        Field("uid", UID, 4, always=True),
        Field("controller", BOOL, 6, pointer=True),
        Field("blockOwnerDeletion", BOOL, 7, pointer=True),
    ),
    atomic=True,
)

MANAGED_FIELDS_ENTRY = Struct(
    "ManagedFieldsEntry",
    (
        Field("manager", STRING, 1),
        Field("operation", String("v1.ManagedFieldsOperationType"), 2),
        Field("apiVersion", STRING, 3),
        Field("time", TIME, 4, pointer=True),
        Field("fieldsType", STRING, 6),
        Field("fieldsV1", Raw("v1.FieldsV1"), 7, pointer=True),
        Field("subresource", STRING, 8),
    ),
)

OBJECT_META = Struct(
    "ObjectMeta",
    (
        Field("name", STRING, 1),
        Field("generateName", STRING, 2),
        Field("namespace", STRING, 3),
        Field("selfLink", STRING, 4),
        Field("uid", UID, 5),
        Field("resourceVersion", STRING, 6),
        Field("generation", INT64, 7),
        Field("creationTimestamp", TIME, 8),
        Field("deletionTimestamp", TIME, 9),
        Field("deletionGracePeriodSeconds", INT64, 10, pointer=True),
        Field("labels", STRING_MAP, 11),
        Field("annotations", STRING_MAP, 12),
        Field("ownerReferences", ListOf(OWNER_REFERENCE), 13, keys=("uid",), patch="merge", merge="uid"),
        Field("finalizers", STRINGS, 14, keys=(), patch="merge"),
        Field("managedFields", ListOf(MANAGED_FIELDS_ENTRY), 17),
    ),
)


def resource(name: str, *fields: Field, package: str = "v1") -> Struct:
    """The struct of a kind: what it is, its metadata, and these fields."""
    return Struct(name, (*TYPE_META, Field("metadata", OBJECT_META, 1), *fields), package)


def condition(name: str, *more: Field, package: str = "v1", always: bool = True) -> Struct:
    """A condition of a kind, as most of them are. always: its type and status are written even when they are empty."""
    head = Field("type", String(f"{package}.{name}Type"), 1, always=always)
    status = Field("status", String("v1.ConditionStatus"), 2, always=always)
    since = Field("lastTransitionTime", TIME, 3, always=True, required=False)
    return Struct(name, (head, status, since, Field("reason", STRING, 4), Field("message", STRING, 5), *more), package)


SHARD_INFO = Struct("ShardInfo", (Field("selector", STRING, 1, always=True),))

LIST_META = Struct(
    "ListMeta",
    (
        Field("selfLink", STRING, 1),
        Field("resourceVersion", STRING, 2),
        Field("continue", STRING, 3),
        Field("remainingItemCount", INT64, 4, pointer=True),
        Field("shardInfo", SHARD_INFO, 5, pointer=True),
    ),
)

PRECONDITIONS = Struct(
    "Preconditions",
    (Field("uid", UID, 1, pointer=True), Field("resourceVersion", STRING, 2, pointer=True)),
)

DELETE_OPTIONS = Struct(
    "DeleteOptions",
    (
        *TYPE_META,
        Field("gracePeriodSeconds", INT64, 1, pointer=True),
        Field("preconditions", PRECONDITIONS, 2, pointer=True),
        Field("orphanDependents", BOOL, 3, pointer=True),
        Field("propagationPolicy", String("v1.DeletionPropagation"), 4, pointer=True),
        Field("dryRun", STRINGS, 5),
        Field("ignoreStoreReadErrorWithClusterBreakingPotential", BOOL, 6, pointer=True),
    ),
)

STATUS_CAUSE = Struct(
    "StatusCause",
    (Field("reason", String("v1.CauseType"), 1), Field("message", STRING, 2), Field("field", STRING, 3)),
)

STATUS_DETAILS = Struct(
    "StatusDetails",
    (
        Field("name", STRING, 1),
        Field("group", STRING, 2),
        Field("kind", STRING, 3),
        Field("uid", UID, 6),
        Field("causes", ListOf(STATUS_CAUSE), 4),
        Field("retryAfterSeconds", INT32, 5),
    ),
)

STATUS = Struct(
    "Status",
    (
        *TYPE_META,
        Field("metadata", LIST_META, 1),
        Field("status", STRING, 2),
        Field("message", STRING, 3),
        Field("reason", String("v1.StatusReason"), 4),
        Field("details", STATUS_DETAILS, 5, pointer=True),
        Field("code", INT32, 6),
    ),
)

CONDITION = Struct(
    "Condition",
    (
        Field("type", STRING, 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("observedGeneration", INT64, 3),
        Field("lastTransitionTime", TIME, 4, always=True),
        Field("reason", STRING, 5, always=True),
        Field("message", STRING, 6, always=True),
    ),
)

LABEL_SELECTOR_REQUIREMENT = Struct(
    "LabelSelectorRequirement",
    (
        Field("key", STRING, 1, always=True),
        Field("operator", String("v1.LabelSelectorOperator"), 2, always=True),
        Field("values", STRINGS, 3),
    ),
)

FIELD_SELECTOR_REQUIREMENT = Struct(
    "FieldSelectorRequirement",
    (
        Field("key", STRING, 1, always=True),
        Field("operator", String("v1.FieldSelectorOperator"), 2, always=True),
        Field("values", STRINGS, 3),
    ),
)

LABEL_SELECTOR = Struct(
    "LabelSelector",
    (Field("matchLabels", STRING_MAP, 1), Field("matchExpressions", ListOf(LABEL_SELECTOR_REQUIREMENT), 2)),
    atomic=True,
)

# an object without its contents
PARTIAL_OBJECT_METADATA = Struct("PartialObjectMetadata", (*TYPE_META, Field("metadata", OBJECT_META, 1)))

# one change, as documents describe it; what is sent is framed without it
WATCH_EVENT = Struct("WatchEvent", (Field("type", STRING, 1, always=True), Field("object", RAW, 2, always=True)))
