"""Columns of admissionregistration.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, count, text

_GROUP = "admissionregistration.k8s.io"


def _param_kind(obj: Object) -> str:
    kind = at(obj, "spec", "paramKind", default=None)
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else "<unset>"


def _param_ref(obj: Object) -> str:
    namespace, name = at(obj, "spec", "paramRef", "namespace"), at(obj, "spec", "paramRef", "name")
    return (f"{namespace}/{name}" if namespace else name) if name else "<unset>"


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
