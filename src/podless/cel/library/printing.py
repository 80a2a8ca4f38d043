"""format() of cel-spec: version 4 of CEL's strings extension, without a locale.

Numbers of all types fit %d, %f and %e; values in lists and maps are formatted as on their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from podless.cel import gotimes
from podless.cel.library.formatting import (
    ACCEPTED_TYPES,
    INTEGER_FORMATTERS,
    TYPE_ERRORS,
    Clauses,
    Misfit,
    format_library,
    join_texts,
)
from podless.cel.values import SECOND, Duration, Timestamp, TypeValue, Uint
from podless.codec import gotext

_TYPE_ERRORS = {
    "d": "decimal clause can only be used on numbers, was given {}",
    "f": "fixed-point clause can only be used on numbers, was given {}",
    "e": "scientific clause can only be used on numbers, was given {}",
}


def _format_value(value: Any, precision: int | None = None) -> str:
    show = _TEXTS.get(value.__class__)
    if show is None:
        if isinstance(value, list):
            return f"[{join_texts(map(_format_value, value))}]"
        raise Misfit(value)
    return show(value)


def _format_map(value: dict[Any, Any]) -> str:
    entries = sorted(((_format_value(key), item) for key, item in value.items()), key=lambda entry: entry[0])
    return f"{{{join_texts(f'{key}: {_format_value(item)}' for key, item in entries)}}}"


def _format_double(value: float) -> str:
    return format(gotext.shortest_decimal(value).normalize(), "f") if math.isfinite(value) else _format_special(value)


def _format_special(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _format_duration(value: Duration) -> str:
    return f"{_format_double(value.ns / SECOND)}s"


_TEXTS: dict[type, Callable[[Any], str]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    int: str,
    Uint: lambda value: str(int(value)),
    float: _format_double,
    bytes: lambda value: value.decode("utf-8", "replace"),
    Timestamp: gotimes.format_timestamp,
    Duration: _format_duration,
    type(None): lambda value: "null",
    TypeValue: lambda value: value.name,
    dict: _format_map,
}


def _make_number_formatter(letter: str) -> Callable[[Any, int | None], str]:
    def format_number(value: Any, precision: int | None) -> str:
        if value.__class__ is str:
            raise Misfit(value)
        if not math.isfinite(value):
            return _format_special(value)
        return _format_double(value) if value.__class__ is float else str(int(value))

    def format_fixed(value: Any, precision: int | None) -> str:
        plain = format_number(value, precision)
        return f"{float(value):.{6 if precision is None else precision}{letter}}" if math.isfinite(value) else plain

    return format_number if letter == "d" else format_fixed


CLAUSES = Clauses(
    {
        "s": _format_value,
        "d": _make_number_formatter("d"),
        "f": _make_number_formatter("f"),
        "e": _make_number_formatter("e"),
        **INTEGER_FORMATTERS,
    },
    ACCEPTED_TYPES | dict.fromkeys(_TYPE_ERRORS, frozenset(("int", "uint", "double"))),
    TYPE_ERRORS | _TYPE_ERRORS,
)
LIBRARY = format_library("format 4", CLAUSES)
