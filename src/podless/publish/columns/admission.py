"""Columns of admissionregistration.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, count, text
from podless.runtime.meter import each

_GROUP = "admissionregistration.k8s.io"


def _param_kind(obj: Object) -> str:
    kind = at(obj, "spec", "paramKind", default=None)
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else "<unset>"


def _param_ref(obj: Object) -> str:
    """What a binding takes its parameters from; one without a namespace may be in any."""
    namespace, name = at(obj, "spec", "paramRef", "namespace"), at(obj, "spec", "paramRef", "name")
    if name:
        return f"{namespace or '*'}/{name}"
    selector = at(obj, "spec", "paramRef", "selector", default=None)
    return "<unset>" if selector is None else _selector(selector)


def _selector(selector: Object) -> str:
    """A label selector as Go prints its message."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(each(labels)))
    needs = "".join(
        f"LabelSelectorRequirement{{Key:{one.get('key', '')},Operator:{one.get('operator', '')},"
        f"Values:[{' '.join(one.get('values') or ())}],}},"
        for one in each(selector.get("matchExpressions") or ())
    )
    matches = f"MatchLabels:map[string]string{{{pairs}}},MatchExpressions:[]LabelSelectorRequirement{{{needs}}},"
    return f"&LabelSelector{{{matches}}}"


_WEBHOOKS = (NAME, Cell("Webhooks", "integer", "How many webhooks there are.", count("webhooks")), AGE)


def _policies(name: str, field: str, told: str, struct: str) -> tuple[Cell, ...]:
    return (
        NAME,
        Cell(name, "integer", told, count("spec", field)),
        Cell("ParamKind", "string", Of(_GROUP, struct, "paramKind"), _param_kind),
        AGE,
    )


def _bindings(struct: str) -> tuple[Cell, ...]:
    return (
        NAME,
        Cell("PolicyName", "string", Of(_GROUP, struct, "policyName"), text("spec", "policyName")),
        Cell("ParamRef", "string", Of(_GROUP, struct, "paramRef"), _param_ref),
        AGE,
    )


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "mutatingadmissionpolicies": _policies(
        "Mutations", "mutations", "How many changes there are.", "MutatingAdmissionPolicySpec"
    ),
    "mutatingadmissionpolicybindings": _bindings("MutatingAdmissionPolicyBindingSpec"),
    "mutatingwebhookconfigurations": _WEBHOOKS,
    "validatingadmissionpolicies": _policies(
        "Validations", "validations", "How many rules there are.", "ValidatingAdmissionPolicySpec"
    ),
    "validatingadmissionpolicybindings": _bindings("ValidatingAdmissionPolicyBindingSpec"),
    "validatingwebhookconfigurations": _WEBHOOKS,
}
