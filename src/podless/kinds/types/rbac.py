"""The structs of rbac.authorization.k8s.io/v1."""

from __future__ import annotations

from podless.meta.gotypes import STRING, ListOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, OBJECT_META, STRINGS, TYPE_META

POLICY_RULE = Struct(
    "PolicyRule",
    (
        Field("verbs", STRINGS, 1, always=True),
        Field("apiGroups", STRINGS, 2),
        Field("resources", STRINGS, 3),
        Field("resourceNames", STRINGS, 4),
        Field("nonResourceURLs", STRINGS, 5),
    ),
)

SUBJECT = Struct(
    "Subject",
    (
        Field("kind", STRING, 1, always=True),
        Field("apiGroup", STRING, 2),
        Field("name", STRING, 3, always=True),
        Field("namespace", STRING, 4),
    ),
    atomic=True,
)

ROLE_REF = Struct(
    "RoleRef",
    (
        Field("apiGroup", STRING, 1, always=True, required=False, fill="rbac.authorization.k8s.io"),
        Field("kind", STRING, 2, always=True),
        Field("name", STRING, 3, always=True),
    ),
    atomic=True,
)

AGGREGATION_RULE = Struct("AggregationRule", (Field("clusterRoleSelectors", ListOf(LABEL_SELECTOR), 1),))

_HEAD = (*TYPE_META, Field("metadata", OBJECT_META, 1))
_RULES = Field("rules", ListOf(POLICY_RULE), 2, always=True, required=False)
_BINDING = (*_HEAD, Field("subjects", ListOf(SUBJECT), 2), Field("roleRef", ROLE_REF, 3, required=True))

ROLE = Struct("Role", (*_HEAD, _RULES))
CLUSTER_ROLE = Struct("ClusterRole", (*_HEAD, _RULES, Field("aggregationRule", AGGREGATION_RULE, 3, pointer=True)))
ROLE_BINDING = Struct("RoleBinding", _BINDING)
CLUSTER_ROLE_BINDING = Struct("ClusterRoleBinding", _BINDING)
