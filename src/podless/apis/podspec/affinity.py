"""Validates node affinity, pod affinity and node selectors. Source: pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.apis.podspec.options import PodOptions
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field, names, validation
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_POD_AFFINITIES = ("podAffinity", "podAntiAffinity")
_SETS, _VALUELESS, _COMPARED = ("In", "NotIn"), ("Exists", "DoesNotExist"), ("Gt", "Lt")
_UNKNOWN = "not a valid selector operator"
# fields with label keys: the operator that they add to the label selector
_KEYS = {"matchLabelKeys": "In", "mismatchLabelKeys": "NotIn"}


def list_pod_terms(spec: Object, path: str = "") -> Iterator[tuple[Object, str]]:
    """Yield the terms of pod affinity and anti-affinity, with their paths. path: of the spec."""
    affinity = spec.get("affinity") or {}
    for name in _POD_AFFINITIES if affinity else ():
        rules, rules_path = affinity.get(name) or {}, f"{path}.affinity.{name}"
        yield from checks.list_items(rules, REQUIRED, rules_path)
        for weighted, at in checks.list_items(rules, PREFERRED, rules_path):
            yield weighted.get("podAffinityTerm") or {}, f"{at}.podAffinityTerm"


def complete_selectors(spec: Object, labels: dict[str, str]) -> None:
    """Merge matchLabelKeys and mismatchLabelKeys of a new pod into its label selectors. labels: of the pod.

    Source: Kubernetes' pkg/registry/core/pod (strategy.go).
    """
    terms = [term for term, _ in list_pod_terms(spec)]
    if has("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
        terms += spec.get("topologySpreadConstraints") or ()
    for term in each(terms):
        selector = term.get("labelSelector")
        if selector is None:
            continue
        for name, operator in _KEYS.items():
            for key in each(term.get(name) or ()):
                if key in labels:
                    added = {"key": key, "operator": operator, "values": [labels[key]]}
                    selector.setdefault("matchExpressions", []).append(added)


def validate_affinity(affinity: Object, path: str, options: PodOptions) -> field.Errors:
    """Validate the affinity of a pod."""
    nodes = affinity.get("nodeAffinity") or {}
    if (required := nodes.get(REQUIRED)) is not None:
        yield from validate_node_selector(
            required, f"{path}.nodeAffinity.{REQUIRED}", any_value=options.allow_invalid_node_values
        )
    for term, at in checks.list_items(nodes, PREFERRED, f"{path}.nodeAffinity"):
        yield from _validate_weight(term, at)
        yield from _validate_node_term(term.get("preference") or {}, f"{at}.preference", any_value=True)
    for name in _POD_AFFINITIES:
        rules, rules_path = affinity.get(name) or {}, f"{path}.{name}"
        for term, at in checks.list_items(rules, REQUIRED, rules_path):
            yield from _validate_pod_term(term, at, options)
        for term, at in checks.list_items(rules, PREFERRED, rules_path):
            yield from _validate_weight(term, at)
            yield from _validate_pod_term(term.get("podAffinityTerm") or {}, f"{at}.podAffinityTerm", options)


def _validate_weight(term: Object, path: str) -> field.Errors:
    weight = term.get("weight") or 0
    if not 0 < weight <= 100:
        yield field.invalid(f"{path}.weight", weight, "must be in the range 1-100")


def validate_node_selector(selector: Object, path: str, *, any_value: bool = False) -> field.Errors:
    """Validate a NodeSelector. any_value: accept values that no label can have."""
    if not selector.get("nodeSelectorTerms"):
        yield field.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for term, at in checks.list_items(selector, "nodeSelectorTerms", path):
        yield from _validate_node_term(term, at, any_value=any_value)


def _validate_node_term(term: Object, path: str, *, any_value: bool) -> field.Errors:
    for expression, at in checks.list_items(term, "matchExpressions", path):
        yield from _validate_expression(expression, at, any_value)
    for entry, at in checks.list_items(term, "matchFields", path):
        yield from _validate_field_selector(entry, at)


def _validate_expression(expression: Object, path: str, any_value: bool) -> field.Errors:
    operator, values, values_path = expression.get("operator", ""), expression.get("values") or [], f"{path}.values"
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
    yield from checks.validate_label_key(f"{path}.key", expression.get("key", ""))
    if not any_value:
        for value, at in checks.list_items(expression, "values", path):
            yield from field.invalid_details(at, value, names.check_label_value(value))


def _validate_field_selector(expression: Object, path: str) -> field.Errors:
    operator, key = expression.get("operator", ""), expression.get("key", "")
    if operator not in _SETS:
        yield field.invalid(f"{path}.operator", Named(operator), _UNKNOWN)
    elif len(expression.get("values") or ()) != 1:
        reason = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield field.required(f"{path}.values", reason)
    if key != "metadata.name":
        yield field.invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for value, at in checks.list_items(expression, "values", path):
        yield from field.invalid_details(at, value, names.check_subdomain(value))


def _validate_pod_term(term: Object, path: str, options: PodOptions) -> field.Errors:
    for name in ("labelSelector", "namespaceSelector"):
        if (selector := term.get(name)) is not None:
            for error in validation.validate_selector(selector, f"{path}.{name}"):
                if not (options.allow_invalid_selector_values and ".values[" in error.field):
                    yield error
    for namespace in each(term.get("namespaces") or ()):
        yield from field.invalid_details(f"{path}.namespace", namespace, names.check_label_name(namespace))
    yield from validate_label_keys(term, path)
    key = term.get("topologyKey", "")
    if not key:
        yield field.required(f"{path}.topologyKey", "can not be empty")
    yield from checks.validate_label_key(f"{path}.topologyKey", key)


def validate_label_keys(term: Object, path: str) -> field.Errors:
    """Validate matchLabelKeys and mismatchLabelKeys of an affinity term or a topology spread constraint."""
    selector = term.get("labelSelector")
    match_keys: Sequence[str] = term.get("matchLabelKeys") or ()
    for name in _KEYS:
        if term.get(name) and selector is None:
            yield field.forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
        elif selector is not None:
            for key, at in checks.list_items(term, name, path):
                yield from checks.validate_label_key(at, key)
    if selector is not None and match_keys:
        places = {key: index for index, key in enumerate(each(match_keys))}
        seen = set(selector.get("matchLabels") or ())
        for expression in each(selector.get("matchExpressions") or ()):
            key = expression.get("key", "")
            if key in places and key in seen:
                reason = "exists in both matchLabelKeys and labelSelector"
                yield field.invalid(f"{path}[{places[key]}]", key, reason)
            seen.add(key)
    mismatched = set(term.get("mismatchLabelKeys") or ())
    for key, at in checks.list_items(term, "matchLabelKeys", path):
        if key in mismatched:
            yield field.invalid(at, key, "exists in both matchLabelKeys and mismatchLabelKeys")
