"""Validates lists of metav1.Condition. Source: k8s.io/apimachinery's meta/v1/validation."""

from __future__ import annotations

import re
from typing import Any

from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.meter import each

_STATUSES = ("False", "True", "Unknown")
_MAX_REASON, _MAX_MESSAGE = 1024, 32768  # maximum bytes
_REASON = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*+(?<![,:]))?")
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


def validate_conditions(conditions: list[dict[str, Any]], path: str) -> list[FieldError]:
    """Validate conditions."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(each(conditions)):
        kind = condition.get("type") or ""
        if kind in seen:
            errors.append(field.duplicate(f"{path}[{index}].type", kind))
        seen.add(kind)
        errors += _validate_condition(condition, kind, f"{path}[{index}]")
    return errors


def _validate_condition(condition: dict[str, Any], kind: str, path: str) -> list[FieldError]:
    status, reason = condition.get("status") or "", condition.get("reason") or ""
    errors = field.invalid_details(f"{path}.type", kind, names.qualified_name(kind))
    errors += field.one_of(f"{path}.status", status, _STATUSES)
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        text = "must be greater than or equal to zero"
        errors.append(field.invalid(f"{path}.observedGeneration", generation, text))
    if condition.get("lastTransitionTime") is None:
        errors.append(field.required(f"{path}.lastTransitionTime"))
    if not reason:
        errors.append(field.required(f"{path}.reason"))
    elif not _REASON.fullmatch(reason):
        errors.append(field.invalid(f"{path}.reason", reason, _REASON_TEXT))
    if len(reason.encode()) > _MAX_REASON:
        errors.append(field.too_long(f"{path}.reason", _MAX_REASON))
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        errors.append(field.too_long(f"{path}.message", _MAX_MESSAGE))
    return errors
