"""What is published of webhooks and policies: which fields are required, and how lists are merged; see facts.py."""

from __future__ import annotations

from typing import Any

from podless.publish.openapi.fact import ADMISSION, Fact

_ATOMIC = {"x-kubernetes-list-type": "atomic"}
_BY_NAME = {
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-list-type": "map",
    "x-kubernetes-patch-merge-key": "name",
    "x-kubernetes-patch-strategy": "merge",
}


def _fact(required: str = "", *atomic: str, **more: dict[str, Any]) -> Fact:
    return Fact("", tuple(required.split()), {}, dict.fromkeys(atomic, _ATOMIC) | more)


_WEBHOOK = _fact(
    "name clientConfig sideEffects admissionReviewVersions",
    "rules",
    "admissionReviewVersions",
    matchConditions=_BY_NAME,
)

FACTS: dict[str, Fact] = {
    ADMISSION + name: fact
    for name, fact in {
        "AuditAnnotation": _fact("key valueExpression"),
        "ExpressionWarning": _fact("fieldRef warning"),
        "MatchCondition": _fact("name expression"),
        "MatchResources": _fact("", "resourceRules", "excludeResourceRules"),
        "MutatingAdmissionPolicySpec": _fact("", "variables", "mutations", matchConditions=_BY_NAME),
        "MutatingWebhook": _WEBHOOK,
        "MutatingWebhookConfiguration": _fact("", webhooks=_BY_NAME),
        "Mutation": _fact("patchType"),
        "NamedRuleWithOperations": _fact("", "resourceNames", "operations", "apiGroups", "apiVersions", "resources"),
        "RuleWithOperations": _fact("", "operations", "apiGroups", "apiVersions", "resources"),
        "ServiceReference": _fact("namespace name"),
        "TypeChecking": _fact("", "expressionWarnings"),
        "ValidatingAdmissionPolicyBindingSpec": _fact("", validationActions={"x-kubernetes-list-type": "set"}),
        "ValidatingAdmissionPolicySpec": _fact(
            "", "validations", "auditAnnotations", matchConditions=_BY_NAME, variables=_BY_NAME
        ),
        "ValidatingAdmissionPolicyStatus": _fact(
            "", conditions={"x-kubernetes-list-map-keys": ["type"], "x-kubernetes-list-type": "map"}
        ),
        "ValidatingWebhook": _WEBHOOK,
        "ValidatingWebhookConfiguration": _fact("", webhooks=_BY_NAME),
        "Validation": _fact("expression"),
        "Variable": _fact("name expression"),
    }.items()
}
