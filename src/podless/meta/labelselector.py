"""Validates LabelSelector objects. meta/selectors.py matches them."""

from __future__ import annotations

from typing import Any

from podless.codec.gotext import Named
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys

_VALUES = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
_MISSING = "must be specified when `operator` is 'In' or 'NotIn'"
_NOT_ALLOWED = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def validate_selector(selector: dict[str, Any], path: str) -> list[FieldError]:
    """Validate a selector."""
    errors: list[FieldError] = []
    labels_path = f"{path}.matchLabels"
    for key, value in each(sort_keys(selector.get("matchLabels") or {})).items():
        errors += field.invalid_details(labels_path, key, names.qualified_name(key))
        errors += field.invalid_details(labels_path, value, names.label_value(value))
    for index, requirement in enumerate(each(selector.get("matchExpressions") or [])):
        errors += requirement_errors(requirement, f"{path}.matchExpressions[{index}]")
    return errors


def requirement_errors(requirement: dict[str, Any], path: str, *, any_operator: bool = False) -> field.Errors:
    """Validate one requirement. any_operator: accept unknown operators."""
    yield from operator_errors(requirement, path, any_operator=any_operator)
    key = requirement.get("key", "")
    yield from field.invalid_details(f"{path}.key", key, names.qualified_name(key))
    for index, value in enumerate(each(requirement.get("values") or [])):
        yield from field.invalid_details(f"{path}.values[{index}]", value, names.label_value(value))


def operator_errors(requirement: dict[str, Any], path: str, *, any_operator: bool = False) -> list[FieldError]:
    """Validate the operator of a requirement, and the number of its values."""
    errors: list[FieldError] = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    needs_values = _VALUES.get(operator)
    if needs_values is None:
        if not any_operator:
            errors.append(field.invalid(f"{path}.operator", Named(operator), "not a valid selector operator"))
    elif needs_values and not values:
        errors.append(field.required(f"{path}.values", _MISSING))
    elif values and not needs_values:
        errors.append(field.forbidden(f"{path}.values", _NOT_ALLOWED))
    return errors
