"""Validates tolerations, scheduling gates and topology spread constraints.

Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

from podless.apis.podspec import affinity
from podless.apis.podspec.options import PodOptions
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field, names, validation
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_TOLERATION = load_struct("core/v1", "Toleration")

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_NUMERIC = ("Lt", "Gt")
_NO_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def validate_tolerations(tolerations: list[Object], path: str) -> field.Errors:
    """Validate tolerations."""
    for index, toleration in enumerate(each(tolerations)):
        yield from _validate_toleration(toleration, f"{path}[{index}]")


def _validate_toleration(toleration: Object, path: str) -> field.Errors:
    key, operator, value, effect = (toleration.get(name) or "" for name in ("key", "operator", "value", "effect"))
    if key:
        yield from checks.validate_label_key(f"{path}.key", key)
    elif operator != "Exists":
        yield field.invalid(f"{path}.operator", Named(operator), _NO_KEY)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        reason = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield field.invalid(f"{path}.effect", Named(effect), reason)
    operator_path = f"{path}.operator"
    if operator in ("Equal", ""):
        if errors := names.check_label_value(value):
            yield field.invalid(operator_path, value, ";".join(errors))
    elif operator == "Exists":
        if value:
            shown_value = value if has("TolerationValues") else gostructs.format_struct(_TOLERATION, toleration)
            yield field.invalid(operator_path, shown_value, "value must be empty when `operator` is 'Exists'")
    else:
        allowed = ("Equal", "Exists", *(_NUMERIC if operator in _NUMERIC else ()))
        yield field.not_supported(operator_path, operator, allowed)
    if effect:
        yield from validate_taint_effect(effect, f"{path}.effect")


def validate_taint_effect(effect: str, path: str) -> list[FieldError]:
    """Validate the effect of a taint."""
    return checks.validate_enum(path, effect, _EFFECTS)


def validate_gates(spec: Object, path: str) -> field.Errors:
    """Validate schedulingGates of a PodSpec."""
    seen: set[str] = set()
    for gate, at in checks.list_items(spec, "schedulingGates", path):
        name = gate.get("name", "")
        yield from checks.validate_label_key(at, name)
        yield from checks.validate_unique(at, name, seen)


def validate_spread(spec: Object, path: str, options: PodOptions) -> field.Errors:
    """Validate topologySpreadConstraints of a PodSpec."""
    key = "topologySpreadConstraints"
    last = {_topology_pair(item): at for item, at in checks.list_items(spec, key, path)}
    separate = options.allow_selected_spread_keys or not has("MatchLabelKeysInPodTopologySpreadSelectorMerge")
    for item, at in checks.list_items(spec, key, path):
        action, skew = item.get("whenUnsatisfiable", ""), item.get("maxSkew") or 0
        if skew <= 0:
            yield field.invalid(f"{at}.maxSkew", skew, checks.POSITIVE)
        if not item.get("topologyKey"):
            yield field.required(f"{at}.topologyKey", "can not be empty")
        yield from field.one_of(f"{at}.whenUnsatisfiable", action, _ACTIONS)
        if last[_topology_pair(item)] != at:
            pair_text = f"{{{item.get('topologyKey', '')}, {action}}}"
            yield field.duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", pair_text)
        yield from _validate_domains(item.get("minDomains"), action, f"{at}.minDomains")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            yield from field.one_of(f"{at}.{name}", item.get(name), _POLICIES)
        yield from _validate_legacy_keys(item, at) if separate else affinity.validate_label_keys(item, at)
        if item.get("labelSelector") is not None and not options.allow_invalid_spread_selectors:
            yield from validation.validate_selector(item["labelSelector"], f"{at}.labelSelector")


def _topology_pair(constraint: Object) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _validate_domains(minimum: int | None, action: str, path: str) -> field.Errors:
    if minimum is None:
        return
    if minimum <= 0:
        yield field.invalid(path, minimum, checks.POSITIVE)
    if action != "DoNotSchedule":
        reason = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield field.invalid(path, minimum, reason)


def _validate_legacy_keys(constraint: Object, path: str) -> field.Errors:
    """Validate matchLabelKeys by the rules of releases that do not merge them into the selector."""
    if constraint.get("labelSelector") is None and constraint.get("matchLabelKeys"):
        yield field.forbidden(f"{path}.matchLabelKeys", "must not be specified when labelSelector is not set")
    selector = constraint.get("labelSelector") or {}
    selector_keys = set(selector.get("matchLabels") or ())
    selector_keys |= {expression.get("key", "") for expression in each(selector.get("matchExpressions") or ())}
    for key, at in checks.list_items(constraint, "matchLabelKeys", path):
        yield from checks.validate_label_key(at, key)
        if key in selector_keys:
            yield field.invalid(at, key, "exists in both matchLabelKeys and labelSelector")


def has_invalid_selectors(spec: Object) -> bool:
    """Return whether a pod has spread constraints with invalid selectors."""
    return any(
        constraint.get("labelSelector") is not None and validation.validate_selector(constraint["labelSelector"], "")
        for constraint in each(spec.get("topologySpreadConstraints") or ())
    )


def has_invalid_keys(spec: Object) -> bool:
    """Return whether a pod has spread constraints with label keys that would be rejected now."""
    constraints = each(spec.get("topologySpreadConstraints") or ())
    return any(True for constraint in constraints for _ in affinity.validate_label_keys(constraint, ""))
