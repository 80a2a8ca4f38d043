"""Arithmetic on values whose types are known only at evaluation: tables by the classes of both operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from podless.cel.bounds import charge_each, check_list_size, check_size
from podless.cel.errors import EvaluationError, NoOverload
from podless.cel.values import (
    INT_MAX,
    INT_MIN,
    LISTS,
    TIME_MAX,
    TIME_MIN,
    UINT_MAX,
    ConcatenatedList,
    Duration,
    MapList,
    SetList,
    Timestamp,
    Uint,
    key_of,
    keys_of,
)

Pairs = dict[tuple[type, type], Callable[[Any, Any], Any]]


def check_int(value: int) -> int:
    """Return the integer. Raises EvaluationError if it does not fit 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def check_uint(value: int) -> Uint:
    """Return the unsigned integer. Raises EvaluationError if it does not fit 64 bits."""
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise EvaluationError("unsigned integer overflow")


def make_duration(ns: int) -> Duration:
    """Return the duration. Raises EvaluationError if it does not fit 64 bits."""
    return Duration(check_int(ns))


def make_timestamp(ns: int, offset: int = 0) -> Timestamp:
    """Return the timestamp. Raises EvaluationError outside the years 1 to 9999."""
    if TIME_MIN <= ns <= TIME_MAX:
        return Timestamp(ns, offset)
    raise EvaluationError("timestamp overflow")


def _concat_texts(left: Any, right: Any) -> Any:
    check_size(len(left) + len(right))
    return left + right


def _concat_lists(left: list[Any], right: list[Any]) -> list[Any]:
    check_list_size(len(left) + len(right))
    joined = ConcatenatedList(left)
    joined += right
    return joined


def _union_sets(left: list[Any], right: list[Any]) -> SetList:
    """Return the union of two sets: the items of the first, then the items that only the second has, in order."""
    check_list_size(len(left) + len(right))
    seen = {key_of(item) for item in charge_each(left)}
    return SetList([*left, *{key_of(item): item for item in charge_each(right) if key_of(item) not in seen}.values()])


def _merge_map_lists(left: MapList, right: list[Any]) -> MapList:
    """Return the first list's items, those with equal keys replaced by the second's, then the second's other items."""
    check_list_size(len(left) + len(right))
    indexes = {keys_of(item, left.keys): index for index, item in enumerate(charge_each(left))}
    merged = list(left)
    for item in charge_each(right):
        index = indexes.get(keys_of(item, left.keys))
        if index is None:
            indexes[keys_of(item, left.keys)] = len(merged)
            merged.append(item)
        else:
            merged[index] = item
    return MapList(merged, left.keys)


def _divide_ints(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return check_int(-quotient if (left < 0) != (right < 0) else quotient)


def _mod_ints(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if right == -1 and left == INT_MIN:
        raise EvaluationError("integer overflow")
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def _divide_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _divide_uints(left: Uint, right: Uint) -> Uint:
    if not right:
        raise EvaluationError("division by zero")
    return Uint(left // right)


def _mod_uints(left: Uint, right: Uint) -> Uint:
    if not right:
        raise EvaluationError("modulus by zero")
    return Uint(left % right)


_ADD: Pairs = {
    (int, int): lambda a, b: check_int(a + b),
    (Uint, Uint): lambda a, b: check_uint(int(a) + int(b)),
    (float, float): lambda a, b: a + b,
    (str, str): _concat_texts,
    (bytes, bytes): _concat_texts,
    **{(left, right): _concat_lists for left in LISTS for right in LISTS},
    **{(SetList, right): _union_sets for right in LISTS},
    **{(MapList, right): _merge_map_lists for right in LISTS},
    (Timestamp, Duration): lambda a, b: make_timestamp(a.ns + b.ns, a.offset),
    (Duration, Timestamp): lambda a, b: make_timestamp(a.ns + b.ns, b.offset),
    (Duration, Duration): lambda a, b: make_duration(a.ns + b.ns),
}
_SUB: Pairs = {
    (int, int): lambda a, b: check_int(a - b),
    (Uint, Uint): lambda a, b: check_uint(int(a) - int(b)),
    (float, float): lambda a, b: a - b,
    (Timestamp, Timestamp): lambda a, b: make_duration(a.ns - b.ns),
    (Timestamp, Duration): lambda a, b: make_timestamp(a.ns - b.ns, a.offset),
    (Duration, Duration): lambda a, b: make_duration(a.ns - b.ns),
}
_MUL: Pairs = {
    (int, int): lambda a, b: check_int(a * b),
    (Uint, Uint): lambda a, b: check_uint(int(a) * int(b)),
    (float, float): lambda a, b: a * b,
}
_DIV: Pairs = {(int, int): _divide_ints, (Uint, Uint): _divide_uints, (float, float): _divide_doubles}
_MOD: Pairs = {(int, int): _mod_ints, (Uint, Uint): _mod_uints}


def _make_operator(table: Pairs) -> Callable[[Any, Any], Any]:
    def apply_operation(left: Any, right: Any) -> Any:
        operation = table.get((left.__class__, right.__class__))
        if operation is None:
            raise NoOverload
        return operation(left, right)

    return apply_operation


add, sub, mul = _make_operator(_ADD), _make_operator(_SUB), _make_operator(_MUL)
div, mod = _make_operator(_DIV), _make_operator(_MOD)


def negate_value(value: Any) -> Any:
    """Return -value."""
    if value.__class__ is int:
        return check_int(-value)
    if value.__class__ is float:
        return -value
    raise NoOverload
