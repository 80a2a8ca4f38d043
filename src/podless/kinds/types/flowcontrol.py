"""The kinds of flowcontrol.apiserver.k8s.io/v1."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, INT32, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS, condition, resource

PRIORITY_LEVEL_CONFIGURATION_REFERENCE = Struct(
    "PriorityLevelConfigurationReference", (Field("name", STRING, 1, always=True),)
)

FLOW_DISTINGUISHER_METHOD = Struct(
    "FlowDistinguisherMethod", (Field("type", String("v1.FlowDistinguisherMethodType"), 1, always=True),)
)

USER_SUBJECT = Struct("UserSubject", (Field("name", STRING, 1, always=True),))

GROUP_SUBJECT = Struct("GroupSubject", (Field("name", STRING, 1, always=True),))

SERVICE_ACCOUNT_SUBJECT = Struct(
    "ServiceAccountSubject", (Field("namespace", STRING, 1, always=True), Field("name", STRING, 2, always=True))
)

SUBJECT = Struct(
    "Subject",
    (
        Field("kind", String("v1.SubjectKind"), 1, always=True),
        Field("user", USER_SUBJECT, 2, pointer=True),
        Field("group", GROUP_SUBJECT, 3, pointer=True),
        Field("serviceAccount", SERVICE_ACCOUNT_SUBJECT, 4, pointer=True),
    ),
    union=("kind", ("group", "serviceAccount", "user")),
)

RESOURCE_POLICY_RULE = Struct(
    "ResourcePolicyRule",
    (
        Field("verbs", STRINGS, 1, always=True, keys=()),
        Field("apiGroups", STRINGS, 2, always=True, keys=()),
        Field("resources", STRINGS, 3, always=True, keys=()),
        Field("clusterScope", BOOL, 4),
        Field("namespaces", STRINGS, 5, always=True, required=False, keys=()),
    ),
)

NON_RESOURCE_POLICY_RULE = Struct(
    "NonResourcePolicyRule",
    (Field("verbs", STRINGS, 1, always=True, keys=()), Field("nonResourceURLs", STRINGS, 6, always=True, keys=())),
)

POLICY_RULES_WITH_SUBJECTS = Struct(
    "PolicyRulesWithSubjects",
    (
        Field("subjects", ListOf(SUBJECT), 1, always=True),
        Field("resourceRules", ListOf(RESOURCE_POLICY_RULE), 2),
        Field("nonResourceRules", ListOf(NON_RESOURCE_POLICY_RULE), 3),
    ),
)

FLOW_SCHEMA_SPEC = Struct(
    "FlowSchemaSpec",
    (
        Field("priorityLevelConfiguration", PRIORITY_LEVEL_CONFIGURATION_REFERENCE, 1, always=True),
        Field("matchingPrecedence", INT32, 2, always=True, required=False, fill=1000),
        Field("distinguisherMethod", FLOW_DISTINGUISHER_METHOD, 3, pointer=True),
        Field("rules", ListOf(POLICY_RULES_WITH_SUBJECTS), 4),
    ),
)

FLOW_SCHEMA_CONDITION = condition("FlowSchemaCondition", always=False)

FLOW_SCHEMA_STATUS = Struct(
    "FlowSchemaStatus",
    (Field("conditions", ListOf(FLOW_SCHEMA_CONDITION), 1, keys=("type",), patch="merge", merge="type"),),
)

FLOW_SCHEMA = resource("FlowSchema", Field("spec", FLOW_SCHEMA_SPEC, 2), Field("status", FLOW_SCHEMA_STATUS, 3))

QUEUING_CONFIGURATION = Struct(
    "QueuingConfiguration",
    (
        Field("queues", INT32, 1, always=True, required=False, fill=64),
        Field("handSize", INT32, 2, always=True, required=False, fill=8),
        Field("queueLengthLimit", INT32, 3, always=True, required=False, fill=50),
    ),
)

LIMIT_RESPONSE = Struct(
    "LimitResponse",
    (
        Field("type", String("v1.LimitResponseType"), 1, always=True),
        Field("queuing", QUEUING_CONFIGURATION, 2, pointer=True),
    ),
    union=("type", ("queuing",)),
)

LIMITED_PRIORITY_LEVEL_CONFIGURATION = Struct(
    "LimitedPriorityLevelConfiguration",
    (
        Field("nominalConcurrencyShares", INT32, 1, pointer=True, always=True, required=False, fill=30),
        Field("limitResponse", LIMIT_RESPONSE, 2),
        Field("lendablePercent", INT32, 3, pointer=True, fill=0),
        Field("borrowingLimitPercent", INT32, 4, pointer=True),
    ),
)

EXEMPT_PRIORITY_LEVEL_CONFIGURATION = Struct(
    "ExemptPriorityLevelConfiguration",
    (
        Field("nominalConcurrencyShares", INT32, 1, pointer=True, fill=0),
        Field("lendablePercent", INT32, 2, pointer=True, fill=0),
    ),
)

PRIORITY_LEVEL_CONFIGURATION_SPEC = Struct(
    "PriorityLevelConfigurationSpec",
    (
        Field("type", String("v1.PriorityLevelEnablement"), 1, always=True),
        Field("limited", LIMITED_PRIORITY_LEVEL_CONFIGURATION, 2, pointer=True),
        Field("exempt", EXEMPT_PRIORITY_LEVEL_CONFIGURATION, 3, pointer=True),
    ),
    union=("type", ("exempt", "limited")),
)

PRIORITY_LEVEL_CONFIGURATION_CONDITION = condition("PriorityLevelConfigurationCondition", always=False)

PRIORITY_LEVEL_CONFIGURATION_STATUS = Struct(
    "PriorityLevelConfigurationStatus",
    (
        Field(
            "conditions", ListOf(PRIORITY_LEVEL_CONFIGURATION_CONDITION), 1, keys=("type",), patch="merge", merge="type"
        ),
    ),
)

PRIORITY_LEVEL_CONFIGURATION = resource(
    "PriorityLevelConfiguration",
    Field("spec", PRIORITY_LEVEL_CONFIGURATION_SPEC, 2),
    Field("status", PRIORITY_LEVEL_CONFIGURATION_STATUS, 3),
)
