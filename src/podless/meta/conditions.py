"""Validates lists of metav1.Condition. Source: k8s.io/apimachinery's meta/v1/validation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

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
    yield from field.invalid_details(f"{path}.type", kind, names.qualified_name(kind))
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


def find_true(conditions: Sequence[Object] | None, *types: str) -> str:
    """Return the first of these types whose condition is True, "" if there is none."""
    true_types = {condition.get("type") for condition in each(conditions or ()) if condition.get("status") == "True"}
    return next((kind for kind in types if kind in true_types), "")
