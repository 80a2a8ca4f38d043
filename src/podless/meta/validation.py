"""Validates metav1.LabelSelector and metav1.Condition, and reads and sets conditions.

Source: meta/v1/validation and api/meta of k8s.io/apimachinery.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from podless.codec.gotext import Named
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys

_NEEDS_VALUES = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
_NO_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_VALUES_NOT_ALLOWED = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_STATUSES = ("False", "True", "Unknown")
_MAX_REASON, _MAX_MESSAGE = 1024, 32768  # maximum bytes
_REASON = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*+(?<![,:]))?")
_MISSING = "must be set"
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


def validate_selector(selector: dict[str, Any], path: str) -> list[FieldError]:
    """Validate a LabelSelector. meta/selectors.py matches it."""
    errors: list[FieldError] = []
    labels_path = f"{path}.matchLabels"
    for key, value in each(sort_keys(selector.get("matchLabels") or {})).items():
        errors += field.invalid_details(labels_path, key, names.check_qualified_name(key))
        errors += field.invalid_details(labels_path, value, names.check_label_value(value))
    for index, requirement in enumerate(each(selector.get("matchExpressions") or [])):
        errors += validate_requirement(requirement, f"{path}.matchExpressions[{index}]")
    return errors


def validate_requirement(requirement: dict[str, Any], path: str, *, any_operator: bool = False) -> field.Errors:
    """Validate one requirement. any_operator: accept unknown operators."""
    yield from validate_operator(requirement, path, any_operator=any_operator)
    key = requirement.get("key", "")
    yield from field.invalid_details(f"{path}.key", key, names.check_qualified_name(key))
    for index, value in enumerate(each(requirement.get("values") or [])):
        yield from field.invalid_details(f"{path}.values[{index}]", value, names.check_label_value(value))


def validate_operator(requirement: dict[str, Any], path: str, *, any_operator: bool = False) -> field.Errors:
    """Validate the operator of a requirement, and the number of its values."""
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    needs_values = _NEEDS_VALUES.get(operator)
    if needs_values is None:
        if not any_operator:
            yield field.invalid(f"{path}.operator", Named(operator), "not a valid selector operator")
    elif needs_values and not values:
        yield field.required(f"{path}.values", _NO_VALUES)
    elif values and not needs_values:
        yield field.forbidden(f"{path}.values", _VALUES_NOT_ALLOWED)


def validate_conditions(conditions: Sequence[Object] | None, path: str) -> field.Errors:
    """Validate conditions, whose types must be unique."""
    seen: set[str] = set()
    for index, condition in enumerate(each(conditions or ())):
        kind = condition.get("type") or ""
        if kind in seen:
            yield field.duplicate(f"{path}[{index}].type", kind)
        seen.add(kind)
        yield from _validate_condition(condition, kind, f"{path}[{index}]")


def _validate_condition(condition: Object, kind: str, path: str) -> field.Errors:
    yield from field.invalid_details(f"{path}.type", kind, names.check_qualified_name(kind))
    yield from field.one_of(f"{path}.status", condition.get("status") or "", _STATUSES)
    if (generation := condition.get("observedGeneration") or 0) < 0:
        yield field.invalid(f"{path}.observedGeneration", generation, "must be greater than or equal to zero")
    if condition.get("lastTransitionTime") is None:
        yield field.required(f"{path}.lastTransitionTime", _MISSING)
    yield from validate_reason(condition.get("reason") or "", f"{path}.reason", _MAX_REASON, _MISSING)
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        yield field.too_long(f"{path}.message", _MAX_MESSAGE)


def validate_reason(reason: str, path: str, limit: int, missing: str = "") -> field.Errors:
    """Validate the reason of a condition: one word of at most `limit` bytes. missing: the text for an empty one."""
    if not reason:
        yield field.required(path, missing)
        return
    if not _REASON.fullmatch(reason):
        yield field.invalid(path, reason, _REASON_TEXT)
    if len(reason.encode()) > limit:
        yield field.too_long(path, limit)


def set_condition(status: Object, condition: Object) -> None:
    """Add or change a condition. Its lastTransitionTime, which must be given, changes only with its status."""
    conditions = status.get("conditions") or []
    before = next((item for item in each(conditions) if item.get("type") == condition["type"]), None)
    if before is None:
        status["conditions"] = [*conditions, condition]
        return
    kept = before.get("lastTransitionTime") if before.get("status") == condition["status"] else None
    before.update(condition | ({"lastTransitionTime": kept} if kept else {}))


def is_condition_true(obj: Object, kind: str) -> bool:
    """Return whether an object has this condition, and its status is True."""
    return bool(find_true((obj.get("status") or {}).get("conditions"), kind))


def find_true(conditions: Sequence[Object] | None, *types: str) -> str:
    """Return the first of these types whose condition is True, "" if there is none."""
    true_types = {condition.get("type") for condition in each(conditions or ()) if condition.get("status") == "True"}
    return next((kind for kind in types if kind in true_types), "")
