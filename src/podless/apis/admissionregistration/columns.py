"""Printer columns of admissionregistration.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, UNSET, Columns, Object, at, count, integer, string
from podless.runtime.meter import each


def _param_kind(obj: Object) -> str:
    kind = at(obj, "spec", "paramKind", default=None)
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


def _param_ref(obj: Object) -> str:
    """Return the parameters of a binding as NAMESPACE/NAME, with * for any namespace, or its selector."""
    namespace, name = at(obj, "spec", "paramRef", "namespace"), at(obj, "spec", "paramRef", "name")
    if name:
        return f"{namespace or '*'}/{name}"
    selector = at(obj, "spec", "paramRef", "selector", default=None)
    return UNSET if selector is None else _selector_message(selector)


def _selector_message(selector: Object) -> str:
    """Format a label selector as Go prints the protobuf message."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(each(labels)))
    requirements = "".join(
        f"LabelSelectorRequirement{{Key:{expression.get('key', '')},Operator:{expression.get('operator', '')},"
        f"Values:[{' '.join(expression.get('values') or ())}],}},"
        for expression in each(selector.get("matchExpressions") or ())
    )
    matches = f"MatchLabels:map[string]string{{{pairs}}},MatchExpressions:[]LabelSelectorRequirement{{{requirements}}},"
    return f"&LabelSelector{{{matches}}}"


_WEBHOOKS = (NAME, integer("Webhooks", "Number of webhooks.", count("webhooks")), AGE)

COLUMNS: Columns = {
    "mutatingadmissionpolicies": (
        NAME,
        integer("Mutations", "Number of mutations.", count("spec.mutations")),
        string("ParamKind", "MutatingAdmissionPolicySpec.paramKind", _param_kind),
        AGE,
    ),
    "mutatingadmissionpolicybindings": (
        NAME,
        string("PolicyName", "MutatingAdmissionPolicyBindingSpec.policyName"),
        string("ParamRef", "MutatingAdmissionPolicyBindingSpec.paramRef", _param_ref),
        AGE,
    ),
    "mutatingwebhookconfigurations": _WEBHOOKS,
    "validatingadmissionpolicies": (
        NAME,
        integer("Validations", "Number of validation rules.", count("spec.validations")),
        string("ParamKind", "ValidatingAdmissionPolicySpec.paramKind", _param_kind),
        AGE,
    ),
    "validatingadmissionpolicybindings": (
        NAME,
        string("PolicyName", "ValidatingAdmissionPolicyBindingSpec.policyName"),
        string("ParamRef", "ValidatingAdmissionPolicyBindingSpec.paramRef", _param_ref),
        AGE,
    ),
    "validatingwebhookconfigurations": _WEBHOOKS,
}
