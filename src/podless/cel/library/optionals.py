"""Optional values."""

from __future__ import annotations

from typing import Any

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.decls import Library, declare_global, declare_method
from podless.cel.errors import EvaluationError
from podless.cel.types import BOOL, DYN, LIST_A, PARAM_A, list_of, optional
from podless.cel.values import NONE, Optional

_OPT = optional(PARAM_A)


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
        declare_global("optional.of", "optional_of", (PARAM_A,), _OPT, Optional),
        declare_global("optional.ofNonZeroValue", "optional_ofNonZeroValue", (PARAM_A,), _OPT, _make_optional),
        declare_global("optional.none", "optional_none", (), _OPT, lambda: NONE),
        declare_method("value", "optional_value", (_OPT,), PARAM_A, _get_value),
        declare_method("hasValue", "optional_hasValue", (_OPT,), BOOL, lambda value: value.present),
        declare_method("or", "optional_or_optional", (_OPT, _OPT), _OPT, None),
        declare_method("orValue", "optional_orValue_value", (_OPT, PARAM_A), PARAM_A, None),
        declare_global("optional.unwrap", "optional_unwrap", (list_of(_OPT),), LIST_A, _unwrap_all, feature=SECOND),
        declare_method("unwrapOpt", "optional_unwrapOpt", (list_of(_OPT),), LIST_A, _unwrap_all, feature=SECOND),
    ),
    {"optional_type": optional(DYN)},
)
