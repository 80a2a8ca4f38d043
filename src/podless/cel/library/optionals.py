"""Optional values."""

from __future__ import annotations

from typing import Any

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare, parse_type
from podless.cel.values import NONE, Optional


def _get_value(value: Optional) -> Any:
    if not value.present:
        raise EvaluationError("optional.none() dereference")
    return value.value


def is_zero(value: Any) -> bool:
    """Return whether a value is the zero value of its type."""
    if isinstance(value, values.Duration):
        return value.ns == 0
    if isinstance(value, Optional):
        return not value.present
    if isinstance(value, values.Timestamp):
        return value.ns == values.TIME_MIN
    return value is None or (not value and value.__class__ in values.NAMES)


def _make_optional(value: Any) -> Optional:
    return NONE if is_zero(value) else Optional(value)


def _unwrap_all(items: list[Optional]) -> list[Any]:
    return [item.value for item in charge_each(items) if item.present]


SECOND = "CELOptionalsV2"  # functions of version 2 of optional types
LIBRARY = Library(
    "optionals",
    (
        declare("optional.of(A) -> optional(A)", "optional_of", Optional),
        declare("optional.ofNonZeroValue(A) -> optional(A)", "optional_ofNonZeroValue", _make_optional),
        declare("optional.none() -> optional(A)", "optional_none", lambda: NONE),
        declare("<optional(A)>.value() -> A", "optional_value", _get_value),
        declare("<optional(A)>.hasValue() -> bool", "optional_hasValue", lambda value: value.present),
        declare("<optional(A)>.or(optional(A)) -> optional(A)", "optional_or_optional", None),
        declare("<optional(A)>.orValue(A) -> A", "optional_orValue_value", None),
        declare("optional.unwrap(list(optional(A))) -> list(A)", "optional_unwrap", _unwrap_all, feature=SECOND),
        declare("<list(optional(A))>.unwrapOpt() -> list(A)", "optional_unwrapOpt", _unwrap_all, feature=SECOND),
    ),
    {"optional_type": parse_type("optional(dyn)")},
)
