"""What the published schemas of built-in kinds say of merging, by the names of their Go structs.

Lists that are not here are leaves; maps and structs that are not here are merged field by field.
Source: the typed schemas of Kubernetes 1.36 (client-go applyconfigurations).
"""

from __future__ import annotations

from collections.abc import Mapping

# structs that are one leaf
ATOMIC = frozenset(
    {
        "CrossVersionObjectReference",
        "LabelSelector",
        "LocalObjectReference",
        "MatchResources",
        "NamedRuleWithOperations",
        "ObjectReference",
        "OwnerReference",
        "ParamKind",
        "ParamRef",
        "RoleRef",
        "ScopeSelector",
        "Subject",
        "TypedLocalObjectReference",
        "Variable",
    }
)

# (struct, field) of maps that are one leaf
ATOMIC_MAPS = frozenset({("ServiceSpec", "selector")})

# (struct, field) -> what a key of a list's items is where an item leaves it out
DEFAULTS: Mapping[tuple[str, str], str] = {("ServicePort", "protocol"): "TCP"}

# (struct, field) -> the keys of the list's items, () for a set
KEYS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("APIServiceStatus", "conditions"): ("type",),
    ("CustomResourceDefinitionStatus", "conditions"): ("type",),
    ("JSONSchemaProps", "x-kubernetes-validations"): ("rule",),
    ("MutatingAdmissionPolicySpec", "matchConditions"): ("name",),
    ("MutatingWebhook", "matchConditions"): ("name",),
    ("MutatingWebhookConfiguration", "webhooks"): ("name",),
    ("NamespaceStatus", "conditions"): ("type",),
    ("ObjectMeta", "finalizers"): (),
    ("ObjectMeta", "ownerReferences"): ("uid",),
    ("ServiceAccount", "secrets"): ("name",),
    ("ServiceSpec", "ports"): ("port", "protocol"),
    ("ServiceStatus", "conditions"): ("type",),
    ("ValidatingAdmissionPolicyBindingSpec", "validationActions"): (),
    ("ValidatingAdmissionPolicySpec", "matchConditions"): ("name",),
    ("ValidatingAdmissionPolicySpec", "variables"): ("name",),
    ("ValidatingAdmissionPolicyStatus", "conditions"): ("type",),
    ("ValidatingWebhook", "matchConditions"): ("name",),
    ("ValidatingWebhookConfiguration", "webhooks"): ("name",),
}
