"""Operators. If the types of the operands are known, the compiler writes Python's operator."""

from __future__ import annotations

import math
from typing import Any

from podless.cel import access, arithmetic, compare
from podless.cel.decls import Library, Overload, declare_function, plain
from podless.cel.sizes import ONE, PER_CHARACTER, UNKNOWN, ZERO, Cost, Estimate, Range, Site
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


def _compared(site: Site) -> Estimate:
    most = min(site.size(0).high, site.size(1).high)
    return Range(1 if most else 0, most).scaled(PER_CHARACTER), None


def _compared_actual(one: Any, other: Any, *_: Any) -> int:
    return math.ceil(min(size_of(one), size_of(other)) * PER_CHARACTER)


def _equal_estimate(site: Site) -> Estimate:
    kind = site.type(0)
    if kind == site.type(1) and has("CELCostOfOpaqueEquality"):
        if kind.name in UNIT_EQUALITY:
            return ONE, None
        if kind.name == _FORMAT:
            return Range(1, 64).scaled(PER_CHARACTER), None
        if kind.name == "kubernetes.URL":
            return Range(1, max(1, site.size(1).high)).scaled(PER_CHARACTER), None
    elif kind == site.type(1) and kind.name == "kubernetes.URL":
        return UNKNOWN.scaled(PER_CHARACTER), None
    return _compared(site)


COMPARED = Cost(_compared, _compared_actual)
EQUAL = Cost(_equal_estimate, _compared_actual)


def _texts_joined(site: Site) -> Estimate:
    size = site.size(0).plus(site.size(1))
    return size.scaled(PER_CHARACTER), size


_JOIN = Cost(_texts_joined, lambda a, b, *_: math.ceil((size_of(a) + size_of(b)) * PER_CHARACTER))
_LIST_JOIN = Cost(lambda site: (ONE, site.size(0).plus(site.size(1))), lambda *_: 1)
_IN_LIST = Cost(lambda site: (site.size(1), None), lambda item, place, *_: size_of(place))
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


def _comparison(word: str, call: Any) -> tuple[Overload, ...]:
    same = [
        plain(f"{word}_{name}", (kind, kind), BOOL, call, COMPARED if kind in (STRING, BYTES) else None)
        for name, kind in _ORDERED
    ]
    mixed = [plain(f"{word}_{name}", (one, other), BOOL, call) for name, one, other in _MIXED]
    return (*same, *mixed)


def _arithmetic(word: str, call: Any, *kinds: Type) -> tuple[Overload, ...]:
    names = {"int": "int64", "uint": "uint64"}
    return tuple(plain(f"{word}_{names.get(kind.name, kind.name)}", (kind, kind), kind, call) for kind in kinds)


def _condition(site: Site) -> Estimate:
    return ZERO, site.size(1).union(site.size(2))


_OPT_A = optional(PARAM_A)
LIBRARY = Library(
    "operators",
    (
        declare_function("!_", plain("logical_not", (BOOL,), BOOL, arithmetic.invert)),
        declare_function("_&&_", plain("logical_and", (BOOL, BOOL), BOOL, None)),
        declare_function("_||_", plain("logical_or", (BOOL, BOOL), BOOL, None)),
        declare_function(
            "_?_:_", plain("conditional", (BOOL, PARAM_A, PARAM_A), PARAM_A, None, Cost(_condition, lambda *_: 0))
        ),
        declare_function("@not_strictly_false", plain("not_strictly_false", (BOOL,), BOOL, None)),
        declare_function("_==_", plain("equals", (PARAM_A, PARAM_A), BOOL, compare.equal), cost=EQUAL),
        declare_function("_!=_", plain("not_equals", (PARAM_A, PARAM_A), BOOL, compare.unequal), cost=COMPARED),
        declare_function("_<_", *_comparison("less", compare.less)),
        declare_function("_<=_", *_comparison("less_equals", compare.less_equal)),
        declare_function("_>_", *_comparison("greater", compare.greater)),
        declare_function("_>=_", *_comparison("greater_equals", compare.greater_equal)),
        declare_function(
            "_+_",
            plain("add_bytes", (BYTES, BYTES), BYTES, arithmetic.add, _JOIN),
            plain("add_double", (DOUBLE, DOUBLE), DOUBLE, arithmetic.add),
            plain("add_duration_duration", (DURATION, DURATION), DURATION, arithmetic.add),
            plain("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP, arithmetic.add),
            plain("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, arithmetic.add),
            plain("add_int64", (INT, INT), INT, arithmetic.add),
            plain("add_list", (LIST_A, LIST_A), LIST_A, arithmetic.add, _LIST_JOIN),
            plain("add_string", (STRING, STRING), STRING, arithmetic.add, _JOIN),
            plain("add_uint64", (UINT, UINT), UINT, arithmetic.add),
        ),
        declare_function(
            "_-_",
            *_arithmetic("subtract", arithmetic.sub, DOUBLE, INT, UINT),
            plain("subtract_duration_duration", (DURATION, DURATION), DURATION, arithmetic.sub),
            plain("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, arithmetic.sub),
            plain("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION, arithmetic.sub),
        ),
        declare_function("_*_", *_arithmetic("multiply", arithmetic.mul, DOUBLE, INT, UINT)),
        declare_function("_/_", *_arithmetic("divide", arithmetic.div, DOUBLE, INT, UINT)),
        declare_function("_%_", *_arithmetic("modulo", arithmetic.mod, INT, UINT)),
        declare_function(
            "-_",
            plain("negate_double", (DOUBLE,), DOUBLE, arithmetic.negate),
            plain("negate_int64", (INT,), INT, arithmetic.negate),
        ),
        declare_function(
            "@in",
            plain("in_list", (PARAM_A, LIST_A), BOOL, access.within, _IN_LIST),
            plain("in_map", (PARAM_A, MAP_AB), BOOL, access.within),
        ),
        declare_function(
            "_[_]",
            plain("index_list", (LIST_A, INT), PARAM_A, access.index),
            plain("index_map", (MAP_AB, PARAM_A), PARAM_B, access.index),
            plain("optional_list_index_int", (optional(LIST_A), INT), _OPT_A, access.index),
            plain("optional_map_index_value", (optional(MAP_AB), PARAM_A), optional(PARAM_B), access.index),
        ),
        declare_function(
            "_[?_]",
            plain("list_optindex_optional_int", (LIST_A, INT), _OPT_A, access.optional_index),
            plain("optional_list_optindex_optional_int", (optional(LIST_A), INT), _OPT_A, access.optional_index),
            plain("map_optindex_optional_value", (MAP_AB, PARAM_A), optional(PARAM_B), access.optional_index),
            plain(
                "optional_map_optindex_optional_value",
                (optional(MAP_AB), PARAM_A),
                optional(PARAM_B),
                access.optional_index,
            ),
        ),
        declare_function("_?._", plain("select_optional_field", (DYN, STRING), optional(DYN), access.optional_index)),
        declare_function(
            "cel.@mapInsert",
            plain("@mapInsert_map_key_value", (MAP_AB, PARAM_A, PARAM_B), MAP_AB, None),
            plain("@mapInsert_map_map", (MAP_AB, MAP_AB), MAP_AB, None),
        ),
    ),
)
