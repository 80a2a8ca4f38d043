"""Validates node affinity, pod affinity and node selectors. Source: pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.podspec.options import PodOptions
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field, names, validation
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

TERMS = REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_SETS, _VALUELESS, _COMPARED = ("In", "NotIn"), ("Exists", "DoesNotExist"), ("Gt", "Lt")
_UNKNOWN = "not a valid selector operator"
_WEIGHT = "must be in the range 1-100"
_NO_SELECTOR = "must not be specified when labelSelector is not set"


def validate_affinity(affinity: Object, path: str, options: PodOptions) -> field.Errors:
    """Validate the affinity of a pod."""
    if (nodes := affinity.get("nodeAffinity")) is not None:
        yield from _validate_node_affinity(nodes, f"{path}.nodeAffinity", options)
    for name in ("podAffinity", "podAntiAffinity"):
        if (pods := affinity.get(name)) is not None:
            yield from _validate_pod_affinity(pods, f"{path}.{name}", options)


def _validate_node_affinity(node_affinity: Object, path: str, options: PodOptions) -> field.Errors:
    if (required := node_affinity.get(REQUIRED)) is not None:
        yield from node_selector(required, f"{path}.{REQUIRED}", any_value=options.node_values)
    for index, term in enumerate(each(node_affinity.get(PREFERRED) or ())):
        term_path = f"{path}.{PREFERRED}[{index}]"
        yield from _validate_weight(term, term_path)
        yield from node_term(term.get("preference") or {}, f"{term_path}.preference", any_value=True)


def _validate_weight(term: Object, path: str) -> field.Errors:
    weight = term.get("weight") or 0
    if not 0 < weight <= 100:
        yield field.invalid(f"{path}.weight", weight, _WEIGHT)


def node_selector(selector: Object, path: str, *, any_value: bool = False) -> field.Errors:
    """Validate a NodeSelector. any_value: accept values that no label can have."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        yield field.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(each(terms)):
        yield from node_term(term, f"{path}.nodeSelectorTerms[{index}]", any_value=any_value)


def node_term(term: Object, path: str, *, any_value: bool) -> field.Errors:
    """Validate a NodeSelectorTerm."""
    for index, expression in enumerate(each(term.get("matchExpressions") or ())):
        yield from _validate_expression(expression, f"{path}.matchExpressions[{index}]", any_value)
    for index, entry in enumerate(each(term.get("matchFields") or ())):
        yield from _validate_field_selector(entry, f"{path}.matchFields[{index}]")


def _validate_expression(expression: Object, path: str, any_value: bool) -> field.Errors:
    operator, values, key = expression.get("operator", ""), expression.get("values") or [], expression.get("key", "")
    values_path = f"{path}.values"
    if operator in _SETS:
        if not values:
            yield field.required(values_path, "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _VALUELESS:
        if values:
            yield field.forbidden(values_path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in _COMPARED:
        if len(values) != 1:
            yield field.required(values_path, "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield field.invalid(f"{path}.operator", Named(operator), _UNKNOWN)
    yield from checks.label_key(f"{path}.key", key)
    if not any_value:
        for index, value in enumerate(each(values)):
            yield from field.invalid_details(f"{values_path}[{index}]", value, names.check_label_value(value))


def _validate_field_selector(expression: Object, path: str) -> field.Errors:
    operator, values, key = expression.get("operator", ""), expression.get("values") or [], expression.get("key", "")
    if operator not in _SETS:
        yield field.invalid(f"{path}.operator", Named(operator), _UNKNOWN)
    elif len(values) != 1:
        reason = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield field.required(f"{path}.values", reason)
    if key != "metadata.name":
        yield field.invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(each(values)):
        yield from field.invalid_details(f"{path}.values[{index}]", value, names.check_subdomain(value))


def _validate_pod_affinity(pod_affinity: Object, path: str, options: PodOptions) -> field.Errors:
    for index, term in enumerate(each(pod_affinity.get(REQUIRED) or ())):
        yield from _pod_term(term, f"{path}.{REQUIRED}[{index}]", options)
    for index, term in enumerate(each(pod_affinity.get(PREFERRED) or ())):
        term_path = f"{path}.{PREFERRED}[{index}]"
        yield from _validate_weight(term, term_path)
        yield from _pod_term(term.get("podAffinityTerm") or {}, f"{term_path}.podAffinityTerm", options)


def _pod_term(term: Object, path: str, options: PodOptions) -> field.Errors:
    for name in ("labelSelector", "namespaceSelector"):
        if (selector := term.get(name)) is not None:
            yield from selector_errors(selector, f"{path}.{name}", any_value=options.selector_values)
    for namespace in each(term.get("namespaces") or ()):
        yield from field.invalid_details(f"{path}.namespace", namespace, names.check_label_name(namespace))
    selector = term.get("labelSelector")
    yield from label_keys(path, term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or (), selector)
    key = term.get("topologyKey", "")
    if not key:
        yield field.required(f"{path}.topologyKey", "can not be empty")
    yield from checks.label_key(f"{path}.topologyKey", key)


def selector_errors(selector: Object, path: str, *, any_value: bool) -> field.Errors:
    """Validate a label selector. any_value: accept values in expressions that no label can have."""
    for error in validation.validate_selector(selector, path):
        if not (any_value and ".values[" in error.field):
            yield error


def label_keys(
    path: str, match_keys: Sequence[str], mismatch_keys: Sequence[str], selector: Object | None
) -> field.Errors:
    """Validate matchLabelKeys and mismatchLabelKeys."""
    for name, keys in (("matchLabelKeys", match_keys), ("mismatchLabelKeys", mismatch_keys)):
        if keys and selector is None:
            yield field.forbidden(f"{path}.{name}", _NO_SELECTOR)
        elif keys:
            for index, key in enumerate(each(keys)):
                yield from checks.label_key(f"{path}.{name}[{index}]", key)
    if selector is not None and match_keys:
        places = {key: index for index, key in enumerate(each(match_keys))}
        seen = set(selector.get("matchLabels") or ())
        for expression in each(selector.get("matchExpressions") or ()):
            key = expression.get("key", "")
            if key in places and key in seen:
                reason = "exists in both matchLabelKeys and labelSelector"
                yield field.invalid(f"{path}[{places[key]}]", key, reason)
            seen.add(key)
    mismatched = set(mismatch_keys)
    for index, key in enumerate(each(match_keys)):
        if key in mismatched:
            reason = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield field.invalid(f"{path}.matchLabelKeys[{index}]", key, reason)
