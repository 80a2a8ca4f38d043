"""Operators. If the types of the operands are known, the compiler writes Python's operator."""

from __future__ import annotations

import math
from typing import Any

from podless.cel import access, arithmetic, compare
from podless.cel.decls import Library, Overload, declare_function, declare_global, overload
from podless.cel.sizes import ONE, PER_CHARACTER, UNKNOWN, ZERO, CallSite, Cost, Estimate, Range
from podless.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST_A,
    MAP_AB,
    PARAM_A,
    PARAM_B,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    optional,
)
from podless.cel.values import size_of
from podless.runtime.release import has

# names of types whose comparison costs one unit
UNIT_EQUALITY = {"kubernetes.Quantity", "kubernetes.Semver", "net.IP", "net.CIDR"}
_FORMAT = "kubernetes.NamedFormat"


def _estimate_comparison(site: CallSite) -> Estimate:
    max_size = min(site.get_size(0).high, site.get_size(1).high)
    return Range(1 if max_size else 0, max_size).scale(PER_CHARACTER), None


def _count_comparison(left: Any, right: Any, *_: Any) -> int:
    return math.ceil(min(size_of(left), size_of(right)) * PER_CHARACTER)


def _equal_estimate(site: CallSite) -> Estimate:
    kind = site.get_type(0)
    if kind == site.get_type(1) and has("CELCostOfOpaqueEquality"):
        if kind.name in UNIT_EQUALITY:
            return ONE, None
        if kind.name == _FORMAT:
            return Range(1, 64).scale(PER_CHARACTER), None
        if kind.name == "kubernetes.URL":
            return Range(1, max(1, site.get_size(1).high)).scale(PER_CHARACTER), None
    elif kind == site.get_type(1) and kind.name == "kubernetes.URL":
        return UNKNOWN.scale(PER_CHARACTER), None
    return _estimate_comparison(site)


COMPARED = Cost(_estimate_comparison, _count_comparison)
EQUAL = Cost(_equal_estimate, _count_comparison)


def _texts_joined(site: CallSite) -> Estimate:
    size = site.get_size(0).add(site.get_size(1))
    return size.scale(PER_CHARACTER), size


_JOIN = Cost(_texts_joined, lambda a, b, *_: math.ceil((size_of(a) + size_of(b)) * PER_CHARACTER))
_LIST_JOIN = Cost(lambda site: (ONE, site.get_size(0).add(site.get_size(1))), lambda *_: 1)
_IN_LIST = Cost(lambda site: (site.get_size(1), None), lambda item, container, *_: size_of(container))
_ORDERED = (
    ("bool", BOOL),
    ("int64", INT),
    ("uint64", UINT),
    ("double", DOUBLE),
    ("string", STRING),
    ("bytes", BYTES),
    ("timestamp", TIMESTAMP),
    ("duration", DURATION),
)
_MIXED = (
    ("int64_double", INT, DOUBLE),
    ("int64_uint64", INT, UINT),
    ("uint64_double", UINT, DOUBLE),
    ("uint64_int64", UINT, INT),
    ("double_int64", DOUBLE, INT),
    ("double_uint64", DOUBLE, UINT),
)


def _declare_comparison(word: str, call: Any) -> tuple[Overload, ...]:
    same_type = [
        overload(f"{word}_{name}", (kind, kind), BOOL, call, COMPARED if kind in (STRING, BYTES) else None)
        for name, kind in _ORDERED
    ]
    mixed = [overload(f"{word}_{name}", (left_type, right_type), BOOL, call) for name, left_type, right_type in _MIXED]
    return (*same_type, *mixed)


def _declare_arithmetic(word: str, call: Any, *kinds: Type) -> tuple[Overload, ...]:
    names = {"int": "int64", "uint": "uint64"}
    return tuple(overload(f"{word}_{names.get(kind.name, kind.name)}", (kind, kind), kind, call) for kind in kinds)


def _estimate_conditional(site: CallSite) -> Estimate:
    return ZERO, site.get_size(1).union(site.get_size(2))


_OPT_A = optional(PARAM_A)
LIBRARY = Library(
    "operators",
    (
        declare_global("!_", "logical_not", (BOOL,), BOOL, arithmetic.invert_bool),
        declare_global("_&&_", "logical_and", (BOOL, BOOL), BOOL, None),
        declare_global("_||_", "logical_or", (BOOL, BOOL), BOOL, None),
        declare_global(
            "_?_:_", "conditional", (BOOL, PARAM_A, PARAM_A), PARAM_A, None, Cost(_estimate_conditional, lambda *_: 0)
        ),
        declare_global("@not_strictly_false", "not_strictly_false", (BOOL,), BOOL, None),
        declare_global("_==_", "equals", (PARAM_A, PARAM_A), BOOL, compare.are_equal, EQUAL),
        declare_global("_!=_", "not_equals", (PARAM_A, PARAM_A), BOOL, compare.are_unequal, COMPARED),
        declare_function("_<_", *_declare_comparison("less", compare.is_less)),
        declare_function("_<=_", *_declare_comparison("less_equals", compare.is_less_or_equal)),
        declare_function("_>_", *_declare_comparison("greater", compare.is_greater)),
        declare_function("_>=_", *_declare_comparison("greater_equals", compare.is_greater_or_equal)),
        declare_function(
            "_+_",
            overload("add_bytes", (BYTES, BYTES), BYTES, arithmetic.add, _JOIN),
            overload("add_double", (DOUBLE, DOUBLE), DOUBLE, arithmetic.add),
            overload("add_duration_duration", (DURATION, DURATION), DURATION, arithmetic.add),
            overload("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP, arithmetic.add),
            overload("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, arithmetic.add),
            overload("add_int64", (INT, INT), INT, arithmetic.add),
            overload("add_list", (LIST_A, LIST_A), LIST_A, arithmetic.add, _LIST_JOIN),
            overload("add_string", (STRING, STRING), STRING, arithmetic.add, _JOIN),
            overload("add_uint64", (UINT, UINT), UINT, arithmetic.add),
        ),
        declare_function(
            "_-_",
            *_declare_arithmetic("subtract", arithmetic.sub, DOUBLE, INT, UINT),
            overload("subtract_duration_duration", (DURATION, DURATION), DURATION, arithmetic.sub),
            overload("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, arithmetic.sub),
            overload("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION, arithmetic.sub),
        ),
        declare_function("_*_", *_declare_arithmetic("multiply", arithmetic.mul, DOUBLE, INT, UINT)),
        declare_function("_/_", *_declare_arithmetic("divide", arithmetic.div, DOUBLE, INT, UINT)),
        declare_function("_%_", *_declare_arithmetic("modulo", arithmetic.mod, INT, UINT)),
        declare_function(
            "-_",
            overload("negate_double", (DOUBLE,), DOUBLE, arithmetic.negate_value),
            overload("negate_int64", (INT,), INT, arithmetic.negate_value),
        ),
        declare_function(
            "@in",
            overload("in_list", (PARAM_A, LIST_A), BOOL, access.contains_item, _IN_LIST),
            overload("in_map", (PARAM_A, MAP_AB), BOOL, access.contains_item),
        ),
        declare_function(
            "_[_]",
            overload("index_list", (LIST_A, INT), PARAM_A, access.get_item),
            overload("index_map", (MAP_AB, PARAM_A), PARAM_B, access.get_item),
            overload("optional_list_index_int", (optional(LIST_A), INT), _OPT_A, access.get_item),
            overload("optional_map_index_value", (optional(MAP_AB), PARAM_A), optional(PARAM_B), access.get_item),
        ),
        declare_function(
            "_[?_]",
            overload("list_optindex_optional_int", (LIST_A, INT), _OPT_A, access.get_optional_item),
            overload("optional_list_optindex_optional_int", (optional(LIST_A), INT), _OPT_A, access.get_optional_item),
            overload("map_optindex_optional_value", (MAP_AB, PARAM_A), optional(PARAM_B), access.get_optional_item),
            overload(
                "optional_map_optindex_optional_value",
                (optional(MAP_AB), PARAM_A),
                optional(PARAM_B),
                access.get_optional_item,
            ),
        ),
        declare_global("_?._", "select_optional_field", (DYN, STRING), optional(DYN), access.get_optional_item),
        declare_function(
            "cel.@mapInsert",
            overload("@mapInsert_map_key_value", (MAP_AB, PARAM_A, PARAM_B), MAP_AB, None),
            overload("@mapInsert_map_map", (MAP_AB, MAP_AB), MAP_AB, None),
        ),
    ),
)
