"""Defaults and validation of a Job's podFailurePolicy. Source: Kubernetes' pkg/apis/batch/validation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from podless.apis.shared import checks
from podless.codec import gotext
from podless.codec.gotext import Literal
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES = 20
_MOST_CODES = 255
_MOST_PATTERNS = 20


def default_failure_policy(policy: Object) -> None:
    """Set the default status True in patterns for pod conditions."""
    for rule in each(policy.get("rules") or ()):
        for pattern in each(rule.get("onPodConditions") or ()):
            if not pattern.get("status"):
                pattern["status"] = "True"


def validate_failure_policy(policy: Object, spec: Object, path: str) -> list[FieldError]:
    """Validate the podFailurePolicy of a Job spec."""
    rules, pods = policy.get("rules") or [], spec["template"]["spec"]
    errors = [field.too_many(f"{path}.rules", len(rules), _MOST_RULES)] if len(rules) > _MOST_RULES else []
    containers = {one.get("name") for part in ("containers", "initContainers") for one in each(pods.get(part) or ())}
    for place, rule in enumerate(each(rules)):
        errors += _rule(rule, spec, containers, f"{path}.rules[{place}]")
    return errors


def _rule(rule: Object, spec: Object, containers: set[Any], path: str) -> list[FieldError]:
    action, codes, patterns = rule.get("action") or "", rule.get("onExitCodes"), rule.get("onPodConditions") or []
    errors = _one_of(f"{path}.action", action, _ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(field.invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set"))
    if codes is not None:
        errors += _codes(codes, containers, f"{path}.onExitCodes")
    errors += _patterns(patterns, f"{path}.onPodConditions")
    if codes is not None and patterns:
        errors.append(_unshown(path, "specifying both OnExitCodes and OnPodConditions is not supported"))
    if codes is None and not patterns:
        errors.append(_unshown(path, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _unshown(path: str, text: str) -> FieldError:
    return field.invalid(path, Literal(text), "")


def _one_of(path: str, value: str, known: tuple[str, ...]) -> list[FieldError]:
    if not value:
        return [field.required(path, f"valid values: [{' '.join(map(gotext.quote, known))}]")]
    return [] if value in known else [field.not_supported(path, value, known)]


def _patterns(patterns: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(patterns) > _MOST_PATTERNS:
        errors.append(field.too_many(path, len(patterns), _MOST_PATTERNS))
    for place, pattern in enumerate(each(patterns)):
        kind = pattern.get("type") or ""
        errors += field.invalid_details(f"{path}[{place}].type", kind, names.qualified_name(kind))
        errors += _one_of(f"{path}[{place}].status", pattern.get("status") or "", _STATUSES)
    return errors


def _codes(codes: Object, containers: set[Any], path: str) -> list[FieldError]:
    operator, values, name = codes.get("operator") or "", codes.get("values") or [], codes.get("containerName")
    errors = _one_of(f"{path}.operator", operator, _OPERATORS)
    if name is not None and name not in containers:
        text = "must be one of the container or initContainer names in the pod template"
        errors.append(field.invalid(f"{path}.containerName", name, text))
    if not values:
        errors.append(field.invalid(f"{path}.values", codes.get("values"), "at least one value is required"))
    elif len(values) > _MOST_CODES:
        errors.append(field.too_many(f"{path}.values", len(values), _MOST_CODES))
    seen: set[int] = set()
    for place, value in enumerate(each(values)):
        if operator == "In" and value == 0:
            errors.append(field.invalid(f"{path}.values[{place}]", 0, "must not be 0 for the In operator"))
        errors += checks.validate_unique(f"{path}.values[{place}]", value, seen)
    if any(one > other for one, other in pairwise(values)):
        errors.append(field.invalid(f"{path}.values", values, "must be ordered"))
    return errors
