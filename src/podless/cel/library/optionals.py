"""Optional values."""

from __future__ import annotations

from typing import Any

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.decls import Library, declare_function, member, plain
from podless.cel.errors import EvaluationError
from podless.cel.types import BOOL, DYN, LIST_A, PARAM_A, list_of, optional
from podless.cel.values import NONE, Optional

_OPT = optional(PARAM_A)


def _value(value: Optional) -> Any:
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


def _unwrap(items: list[Optional]) -> list[Any]:
    return [item.value for item in charge_each(items) if item.present]


SECOND = "CELOptionalsV2"  # functions of version 2 of optional types
LIBRARY = Library(
    "optionals",
    (
        declare_function(
            "optional.of",
            "A value that is there.",
            ["optional.of(1).value() == 1"],
            plain("optional_of", (PARAM_A,), _OPT, Optional),
        ),
        declare_function(
            "optional.ofNonZeroValue",
            "A value that is there unless it is the zero of its type.",
            ["!optional.ofNonZeroValue('').hasValue()", "optional.ofNonZeroValue(1).hasValue()"],
            plain("optional_ofNonZeroValue", (PARAM_A,), _OPT, _make_optional),
        ),
        declare_function(
            "optional.none",
            "No value.",
            ["!optional.none().hasValue()"],
            plain("optional_none", (), _OPT, lambda: NONE),
        ),
        declare_function(
            "value",
            "The value; an error if there is none.",
            ["optional.of('a').value() == 'a'"],
            member("optional_value", (_OPT,), PARAM_A, _value),
        ),
        declare_function(
            "hasValue",
            "Whether there is a value.",
            ["optional.of(1).hasValue()"],
            member("optional_hasValue", (_OPT,), BOOL, lambda value: value.present),
        ),
        declare_function(
            "or",
            "The first that has a value.",
            ["optional.none().or(optional.of(1)).value() == 1"],
            member("optional_or_optional", (_OPT, _OPT), _OPT, None),
        ),
        declare_function(
            "orValue",
            "The value, or another.",
            ["optional.none().orValue(2) == 2"],
            member("optional_orValue_value", (_OPT, PARAM_A), PARAM_A, None),
        ),
        declare_function(
            "optional.unwrap",
            "The values of those that have one.",
            ["optional.unwrap([optional.of(1), optional.none()]) == [1]"],
            plain("optional_unwrap", (list_of(_OPT),), LIST_A, _unwrap),
            feature=SECOND,
        ),
        declare_function(
            "unwrapOpt",
            "The values of those that have one.",
            ["[optional.of(1), optional.none()].unwrapOpt() == [1]"],
            member("optional_unwrapOpt", (list_of(_OPT),), LIST_A, _unwrap),
            feature=SECOND,
        ),
    ),
    {"optional_type": optional(DYN)},
)
