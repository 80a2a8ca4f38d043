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
        yield from checks.label_key(f"{path}.key", key)
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
        yield from taint_effect(effect, f"{path}.effect")


def taint_effect(effect: str, path: str) -> list[FieldError]:
    """Validate the effect of a taint."""
    return checks.validate_enum(path, effect, _EFFECTS)


def validate_gates(gates: list[Object], path: str) -> field.Errors:
    """Validate schedulingGates."""
    seen: set[str] = set()
    for index, gate in enumerate(each(gates)):
        name, gate_path = gate.get("name", ""), f"{path}[{index}]"
        yield from checks.label_key(gate_path, name)
        yield from checks.validate_unique(gate_path, name, seen)


def validate_spread(spread: list[Object], path: str, options: PodOptions) -> field.Errors:
    """Validate topologySpreadConstraints."""
    last = {_topology_pair(item): index for index, item in enumerate(spread)}
    separate = options.spread_keys or not has("MatchLabelKeysInPodTopologySpreadSelectorMerge")
    for index, item in enumerate(each(spread)):
        at, action = f"{path}[{index}]", item.get("whenUnsatisfiable", "")
        skew = item.get("maxSkew") or 0
        if skew <= 0:
            yield field.invalid(f"{at}.maxSkew", skew, checks.POSITIVE)
        if not item.get("topologyKey"):
            yield field.required(f"{at}.topologyKey", "can not be empty")
        yield from field.one_of(f"{at}.whenUnsatisfiable", action, _ACTIONS)
        if last[_topology_pair(item)] > index:
            pair_text = f"{{{item.get('topologyKey', '')}, {action}}}"
            yield field.duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", pair_text)
        yield from _validate_domains(item.get("minDomains"), action, f"{at}.minDomains")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            yield from field.one_of(f"{at}.{name}", item.get(name), _POLICIES)
        keys, selector = item.get("matchLabelKeys") or [], item.get("labelSelector")
        yield from (
            _validate_legacy_keys(at, keys, selector) if separate else affinity.label_keys(at, keys, (), selector)
        )
        if selector is not None and not options.spread_selectors:
            yield from validation.validate_selector(selector, f"{at}.labelSelector")


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


def _validate_legacy_keys(path: str, keys: list[str], selector: Object | None) -> field.Errors:
    """Validate matchLabelKeys by the rules of releases that do not merge them into the selector."""
    if not keys:
        return
    label_keys_path = f"{path}.matchLabelKeys"
    if selector is None:
        yield field.forbidden(label_keys_path, "must not be specified when labelSelector is not set")
    selector_keys = set((selector or {}).get("matchLabels") or ())
    selector_keys |= {expression.get("key", "") for expression in each((selector or {}).get("matchExpressions") or ())}
    for index, key in enumerate(each(keys)):
        yield from checks.label_key(f"{label_keys_path}[{index}]", key)
        if key in selector_keys:
            yield field.invalid(f"{label_keys_path}[{index}]", key, "exists in both matchLabelKeys and labelSelector")


def bad_selectors(spec: Object) -> bool:
    """Return whether a pod has spread constraints with invalid selectors."""
    topology_spread_constraints = spec.get("topologySpreadConstraints") or ()
    return any(
        constraint.get("labelSelector") is not None and validation.validate_selector(constraint["labelSelector"], "")
        for constraint in each(topology_spread_constraints)
    )


def bad_keys(spec: Object) -> bool:
    """Return whether a pod has label keys that would be rejected now."""
    return any(
        any(
            True
            for _ in affinity.label_keys(
                "", constraint.get("matchLabelKeys") or [], (), constraint.get("labelSelector")
            )
        )
        for constraint in each(spec.get("topologySpreadConstraints") or ())
    )
