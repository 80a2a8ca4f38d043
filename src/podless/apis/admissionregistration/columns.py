"""Cells of the printer columns of admissionregistration.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import UNSET, Object, at
from podless.runtime.meter import each


def param_kind(obj: Object) -> str:
    kind = at(obj, "spec", "paramKind", default=None)
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


def param_ref(obj: Object) -> str:
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
