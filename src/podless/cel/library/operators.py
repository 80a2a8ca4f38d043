"""Operators. If the types of the operands are known, the compiler writes Python's operator."""

from __future__ import annotations

import math
from typing import Any

from podless.cel import access, arithmetic, values
from podless.cel.cost import ONE, PER_CHARACTER, UNKNOWN, ZERO, CallSite, Cost, Estimate, Range
from podless.cel.functions import Library, Overload, declare, declare_each
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


def _estimate_equality(site: CallSite) -> Estimate:
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
EQUAL = Cost(_estimate_equality, _count_comparison)


def _estimate_text_join(site: CallSite) -> Estimate:
    size = site.get_size(0).add(site.get_size(1))
    return size.scale(PER_CHARACTER), size


_JOIN = Cost(_estimate_text_join, lambda a, b, *_: math.ceil((size_of(a) + size_of(b)) * PER_CHARACTER))
_LIST_JOIN = Cost(lambda site: (ONE, site.get_size(0).add(site.get_size(1))), lambda *_: 1)
_IN_LIST = Cost(lambda site: (site.get_size(1), None), lambda item, container, *_: size_of(container))
_GET, _FIND = access.get_item, access.get_optional_item


def _declare_comparison(operator: str, word: str, call: Any) -> tuple[Overload, ...]:
    signature, id = operator + "({0}, {0}) -> bool", word + "_{1}"
    return (
        *declare_each("bool int uint double", signature, id, call),
        *declare_each("string bytes", signature, id, call, COMPARED),
        *declare_each("timestamp duration", signature, id, call),
        *declare_each("double uint", operator + "(int, {0}) -> bool", word + "_int64_{1}", call),
        *declare_each("double int", operator + "(uint, {0}) -> bool", word + "_uint64_{1}", call),
        *declare_each("int uint", operator + "(double, {0}) -> bool", word + "_double_{1}", call),
    )


def _estimate_conditional(site: CallSite) -> Estimate:
    return ZERO, site.get_size(1).union(site.get_size(2))


LIBRARY = Library(
    "operators",
    (
        declare("!_(bool) -> bool", "logical_not", lambda a: not access.require_bool(a)),
        declare("_&&_(bool, bool) -> bool", "logical_and", None),
        declare("_||_(bool, bool) -> bool", "logical_or", None),
        declare("_?_:_(bool, A, A) -> A", "conditional", None, Cost(_estimate_conditional, lambda *_: 0)),
        declare("@not_strictly_false(bool) -> bool", "not_strictly_false", None),
        declare("_==_(A, A) -> bool", "equals", values.are_equal, EQUAL),
        declare("_!=_(A, A) -> bool", "not_equals", lambda a, b: not values.are_equal(a, b), COMPARED),
        *_declare_comparison("_<_", "less", lambda a, b: values.compare_values(a, b) < 0),
        *_declare_comparison("_<=_", "less_equals", lambda a, b: values.compare_values(a, b) <= 0),
        *_declare_comparison("_>_", "greater", lambda a, b: values.compare_values(a, b) > 0),
        *_declare_comparison("_>=_", "greater_equals", lambda a, b: values.compare_values(a, b) >= 0),
        declare("_+_(bytes, bytes) -> bytes", "add_bytes", arithmetic.add, _JOIN),
        declare("_+_(double, double) -> double", "add_double", arithmetic.add),
        declare("_+_(duration, duration) -> duration", "add_duration_duration", arithmetic.add),
        declare("_+_(duration, timestamp) -> timestamp", "add_duration_timestamp", arithmetic.add),
        declare("_+_(timestamp, duration) -> timestamp", "add_timestamp_duration", arithmetic.add),
        declare("_+_(int, int) -> int", "add_int64", arithmetic.add),
        declare("_+_(list(A), list(A)) -> list(A)", "add_list", arithmetic.add, _LIST_JOIN),
        declare("_+_(string, string) -> string", "add_string", arithmetic.add, _JOIN),
        declare("_+_(uint, uint) -> uint", "add_uint64", arithmetic.add),
        *declare_each("double int uint", "_-_({0}, {0}) -> {0}", "subtract_{1}", arithmetic.sub),
        declare("_-_(duration, duration) -> duration", "subtract_duration_duration", arithmetic.sub),
        declare("_-_(timestamp, duration) -> timestamp", "subtract_timestamp_duration", arithmetic.sub),
        declare("_-_(timestamp, timestamp) -> duration", "subtract_timestamp_timestamp", arithmetic.sub),
        *declare_each("double int uint", "_*_({0}, {0}) -> {0}", "multiply_{1}", arithmetic.mul),
        *declare_each("double int uint", "_/_({0}, {0}) -> {0}", "divide_{1}", arithmetic.div),
        *declare_each("int uint", "_%_({0}, {0}) -> {0}", "modulo_{1}", arithmetic.mod),
        *declare_each("double int", "-_({0}) -> {0}", "negate_{1}", arithmetic.negate_value),
        declare("@in(A, list(A)) -> bool", "in_list", access.contains_item, _IN_LIST),
        declare("@in(A, map(A, B)) -> bool", "in_map", access.contains_item),
        declare("_[_](list(A), int) -> A", "index_list", _GET),
        declare("_[_](map(A, B), A) -> B", "index_map", _GET),
        declare("_[_](optional(list(A)), int) -> optional(A)", "optional_list_index_int", _GET),
        declare("_[_](optional(map(A, B)), A) -> optional(B)", "optional_map_index_value", _GET),
        declare("_[?_](list(A), int) -> optional(A)", "list_optindex_optional_int", _FIND),
        declare("_[?_](optional(list(A)), int) -> optional(A)", "optional_list_optindex_optional_int", _FIND),
        declare("_[?_](map(A, B), A) -> optional(B)", "map_optindex_optional_value", _FIND),
        declare("_[?_](optional(map(A, B)), A) -> optional(B)", "optional_map_optindex_optional_value", _FIND),
        declare("_?._(dyn, string) -> optional(dyn)", "select_optional_field", _FIND),
        declare("cel.@mapInsert(map(A, B), A, B) -> map(A, B)", "@mapInsert_map_key_value", None),
        declare("cel.@mapInsert(map(A, B), map(A, B)) -> map(A, B)", "@mapInsert_map_map", None),
    ),
)
