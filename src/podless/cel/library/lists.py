"""Lists: Kubernetes' own functions, and version 3 of CEL's lists extension."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from podless.cel import arithmetic, bounds, values
from podless.cel.cost import (
    MAX_COST,
    NEW_LIST,
    ONE,
    PER_CHARACTER,
    CallSite,
    Cost,
    Estimate,
    Range,
    measure_value,
    scale_count,
)
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare, declare_each
from podless.cel.library.optionals import SECOND as OPTIONALS
from podless.cel.values import NONE, Duration, Optional, Timestamp, Uint, size_of
from podless.runtime.meter import charge

_ORDERED = frozenset((bool, bytes, Duration, float, int, str, Timestamp, Uint))
_ZEROS: dict[str, Any] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}


def _is_sorted(items: list[Any]) -> bool:
    return all(values.compare_values(left, right) <= 0 for left, right in itertools.pairwise(bounds.charge_each(items)))


def _make_sum(zero: Any) -> Callable[[list[Any]], Any]:
    return lambda items: functools.reduce(arithmetic.add, bounds.charge_each(items), zero)


def _make_extreme(name: str, sign: int) -> Callable[[list[Any]], Any]:
    def find_extreme(items: list[Any]) -> Any:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        result = items[0]
        for item in itertools.islice(bounds.charge_each(items), 1, None):
            if values.compare_values(item, result) == sign:
                result = item
        return result

    return find_extreme


def _find_index(items: list[Any], value: Any) -> int:
    return next((index for index, item in enumerate(bounds.charge_each(items)) if values.are_equal(item, value)), -1)


def _find_last_index(items: list[Any], value: Any) -> int:
    indexes = range(len(items) - 1, -1, -1)
    return next((index for index in bounds.charge_each(indexes) if values.are_equal(items[index], value)), -1)


def _slice_list(items: list[Any], start: int, end: int) -> list[Any]:
    text = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise EvaluationError(f"{text}negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{text}start index must be less than or equal to end index")
    if len(items) < end:
        raise EvaluationError(f"{text}list is length {len(items)}")
    return list(items[start:end])


def _flatten_list(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    for item in bounds.charge_each(items):
        if isinstance(item, list) and depth:
            flat += _flatten_list(item, depth - 1)
        else:
            flat.append(item)
        bounds.check_list_size(len(flat))
    return flat


def _sort_by(items: list[Any], keys: list[Any]) -> list[Any]:
    if len(items) != len(keys):
        text = "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got"
        raise EvaluationError(f"{text} {len(items)} and {len(keys)} elements respectively")
    if keys and keys[0].__class__ not in _ORDERED:
        raise EvaluationError("list elements must be comparable")
    if any(key.__class__ is not keys[0].__class__ for key in keys):
        raise EvaluationError("list elements must have the same type")
    bounds.afford_work(len(items) ** 2)
    order = functools.cmp_to_key(values.compare_values)
    return [items[index] for index in sorted(range(len(items)), key=lambda index: order(keys[index]))]


def _list_distinct(items: list[Any]) -> list[Any]:
    bounds.afford_work(len(items) ** 2)
    distinct: list[Any] = []
    for item in items:
        charge(len(distinct))
        if not any(values.are_equal(item, kept_item) for kept_item in distinct):
            distinct.append(item)
    return distinct


def _list_range(count: int) -> list[int]:
    bounds.check_list_size(count)
    return list(range(count))


def _estimate_text_scan(site: CallSite) -> Estimate:
    item = site.get_item_size(0)
    if item is None:
        return site.get_size(0).scale(PER_CHARACTER), None
    return site.get_size(0).multiply(ONE.add(item.scale(PER_CHARACTER))), None


def _estimate_scan(site: CallSite) -> Estimate:
    kind = site.get_type(0)
    if kind.params and kind.params[0].kind in ("string", "bytes"):
        return _estimate_text_scan(site)
    return site.get_size(0), None


def _estimate_list(factor: float, size: Range) -> Estimate:
    return size.scale(factor).add(Range(1 + NEW_LIST, 1 + NEW_LIST)), size


def _count_new_list(factor: float, size: int) -> int:
    return min(scale_count(size, factor) + 1 + NEW_LIST, MAX_COST)


def _estimate_slice(site: CallSite) -> Estimate:
    size = site.get_size(0)
    start, end = _read_constant(site, 1), _read_constant(site, 2)
    count = (size.high if end is None else end) - (start or 0)
    return _estimate_list(1, Range(count % (MAX_COST + 1), count % (MAX_COST + 1)))


def _read_constant(site: CallSite, index: int) -> int | None:
    """Return the value of a literal argument, 0 for a negative one; None for others."""
    value = site.get_constant(index)
    return None if value is None else max(value, 0)


def _estimate_range(site: CallSite) -> Estimate:
    count = _read_constant(site, 0)
    return _estimate_list(1, Range(MAX_COST, MAX_COST) if count is None else Range(count, count))


def _estimate_flatten(site: CallSite) -> Estimate:
    depth = 1 if site.count < 2 else _read_constant(site, 1)
    return _estimate_list(float(MAX_COST if depth is None else depth), site.get_size(0))


def _make_comparison_cost(index: int) -> Cost:
    """Return the cost of comparing all items of an argument with each other."""

    def estimate_call(site: CallSite) -> Estimate:
        kind = site.get_type(index)
        texts = bool(kind.params) and kind.params[0].kind in ("string", "bytes")
        size = site.get_size(index)
        return _estimate_list(2.0 + PER_CHARACTER * texts, size.multiply(size))

    def count_cost(*args: Any) -> int:
        items = args[index]
        texts = bool(items) and items[0].__class__ in (str, bytes)
        return _count_new_list(2.0 + PER_CHARACTER * texts, len(items) ** 2)

    return Cost(estimate_call, count_cost)


def _estimate_distinct(site: CallSite) -> Estimate:
    size = site.get_size(0)
    return _estimate_list(2.0, size.multiply(size))


_SCAN = Cost(_estimate_scan, lambda items, *_: measure_value(items))
_OUTPUT = Cost(_estimate_slice, lambda *args: _count_new_list(1, size_of(args[-1])))
_RANGE = Cost(_estimate_range, lambda *args: _count_new_list(1, size_of(args[-1])))
_REVERSE = Cost(lambda site: _estimate_list(1, site.get_size(0)), lambda *args: _count_new_list(1, size_of(args[-1])))
_FLATTEN = Cost(
    _estimate_flatten, lambda items, *args: _count_new_list(float(args[0]) if len(args) == 2 else 1.0, len(items))
)


_SORT, _SORT_BY = _make_comparison_cost(0), _make_comparison_cost(1)
_DISTINCT = _SORT._replace(estimate=_estimate_distinct)
_THIRD = "CELListsV3"  # functions of version 3
_ALL = "int uint double bool duration timestamp string bytes"  # types with an order
LIBRARY = Library(
    "lists",
    (
        *declare_each(_ALL, "<list({0})>.isSorted() -> bool", "list_{0}_is_sorted_bool", _is_sorted, _SCAN),
        *(
            declare(f"<list({kind})>.sum() -> {kind}", f"list_{kind}_sum_{kind}", _make_sum(zero), _SCAN)
            for kind, zero in _ZEROS.items()
        ),
        *declare_each(_ALL, "<list({0})>.min() -> {0}", "list_{0}_min_{0}", _make_extreme("min", -1), _SCAN),
        *declare_each(_ALL, "<list({0})>.max() -> {0}", "list_{0}_max_{0}", _make_extreme("max", 1), _SCAN),
        declare("<list(A)>.indexOf(A) -> int", "list_a_index_of_int", _find_index, _SCAN),
        declare("<list(A)>.lastIndexOf(A) -> int", "list_a_last_index_of_int", _find_last_index, _SCAN),
        declare("<list(A)>.slice(int, int) -> list(A)", "list_slice", _slice_list, _OUTPUT, _THIRD),
        declare("<list(list(A))>.flatten() -> list(A)", "list_flatten", _flatten_list, _FLATTEN, _THIRD),
        declare("<list(dyn)>.flatten(int) -> list(dyn)", "list_flatten_int", _flatten_list, _FLATTEN, _THIRD),
        *declare_each(
            _ALL, "<list({0})>.sort() -> list({0})", "list_{0}_sort", lambda a: _sort_by(a, a), _SORT, _THIRD
        ),
        *declare_each(
            _ALL,
            "<list(A)>.@sortByAssociatedKeys(list({0})) -> list(A)",
            "list_{0}_sortByAssociatedKeys",
            _sort_by,
            _SORT_BY,
            _THIRD,
        ),
        declare("lists.range(int) -> list(int)", "lists_range", _list_range, _RANGE, _THIRD),
        declare("<list(A)>.reverse() -> list(A)", "list_reverse", lambda items: items[::-1], _REVERSE, _THIRD),
        declare("<list(A)>.distinct() -> list(A)", "list_distinct", _list_distinct, _DISTINCT, _THIRD),
        declare(
            "<list(A)>.first() -> optional(A)", "list_first", lambda a: Optional(a[0]) if a else NONE, feature=OPTIONALS
        ),
        declare(
            "<list(A)>.last() -> optional(A)", "list_last", lambda a: Optional(a[-1]) if a else NONE, feature=OPTIONALS
        ),
    ),
)
