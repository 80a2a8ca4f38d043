"""Validates metav1 Conditions. Source: ValidateConditions in k8s.io/apimachinery's pkg/apis/meta/v1/validation."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits
from typing import Final

from podless.apis.shared import checks
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_STATUSES: Final = ("False", "True", "Unknown")
_LETTERS: Final = frozenset(ascii_letters)
_INNER: Final = _LETTERS | frozenset(f"{digits}_,:")
_REASON_FAULT: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric"
    " characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or"
    " 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is"
    " '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)
_MAX_REASON, _MAX_MESSAGE = 1 << 10, 1 << 15  # bytes


def validate_conditions(conditions: Sequence[Object] | None, path: str) -> field.Errors:
    """Validate a list of conditions, whose types must be unique."""
    seen = set[str]()
    for index, condition in enumerate(each(conditions or ())):
        condition_path, type_ = f"{path}[{index}]", condition.get("type") or ""
        if type_ in seen:
            yield field.duplicate(condition_path, type_)
        seen.add(type_)
        yield from _validate_condition(condition, type_, condition_path)


def find_true(conditions: Sequence[Object] | None, *types: str) -> str:
    """Return the first of these types whose condition is True, "" if there is none."""
    true_types = {condition.get("type") for condition in each(conditions or ()) if condition.get("status") == "True"}
    return next((type_ for type_ in types if type_ in true_types), "")


def validate_reason(reason: str, path: str, limit: int) -> field.Errors:
    """Validate the reason of a condition: one word of at most `limit` bytes."""
    if not reason:
        yield field.required(path)
        return
    if reason[0] not in _LETTERS or reason[-1] in ",:" or not _INNER.issuperset(reason):
        yield field.invalid(path, reason, _REASON_FAULT)
    if len(reason.encode()) > limit:
        yield field.too_long(path, limit)


def _validate_condition(condition: Object, type_: str, path: str) -> field.Errors:
    status, reason = condition.get("status") or "", condition.get("reason") or ""
    if type_:
        yield from checks.label_key(f"{path}.type", type_)
    else:
        yield field.required(f"{path}.type", "is required")
    if not status:
        yield field.required(f"{path}.status")
    elif status not in _STATUSES:
        yield field.not_supported(f"{path}.status", status, _STATUSES)
    if (generation := condition.get("observedGeneration") or 0) < 0:
        yield field.invalid(f"{path}.observedGeneration", generation, "must be greater than or equal to zero")
    if condition.get("lastTransitionTime") is None:
        yield field.required(f"{path}.lastTransitionTime")
    yield from validate_reason(reason, f"{path}.reason", _MAX_REASON)
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        yield field.too_long(f"{path}.message", _MAX_MESSAGE)
