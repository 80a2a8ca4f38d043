"""Arithmetic on values whose types are known only at evaluation: tables by the classes of both operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from podless.cel.bounds import bounded_list, charge_each, check_size
from podless.cel.errors import EvaluationError, no_overload
from podless.cel.values import (
    INT_MAX,
    INT_MIN,
    LISTS,
    TIME_MAX,
    TIME_MIN,
    UINT_MAX,
    Duration,
    Joined,
    MapList,
    SetList,
    Timestamp,
    Uint,
    key_of,
    keys_of,
)

Pairs = dict[tuple[type, type], Callable[[Any, Any], Any]]


def whole(value: int) -> int:
    """Return the integer. Raises EvaluationError if it does not fit 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def unsigned(value: int) -> Uint:
    """Return the unsigned integer. Raises EvaluationError if it does not fit 64 bits."""
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise EvaluationError("unsigned integer overflow")


def span(ns: int) -> Duration:
    """Return the duration. Raises EvaluationError if it does not fit 64 bits."""
    return Duration(whole(ns))


def moment(ns: int, offset: int = 0) -> Timestamp:
    """Return the timestamp. Raises EvaluationError outside the years 1 to 9999."""
    if TIME_MIN <= ns <= TIME_MAX:
        return Timestamp(ns, offset)
    raise EvaluationError("timestamp overflow")


def _joined(one: Any, other: Any) -> Any:
    check_size(len(one) + len(other))
    return one + other


def _lists(one: list[Any], other: list[Any]) -> list[Any]:
    bounded_list(len(one) + len(other))
    joined = Joined(one)
    joined += other
    return joined


def _sets(one: list[Any], other: list[Any]) -> SetList:
    """Return the union of two sets: the items of the first, then the items that only the second has, in order."""
    bounded_list(len(one) + len(other))
    seen = {key_of(item) for item in charge_each(one)}
    return SetList([*one, *{key_of(item): item for item in charge_each(other) if key_of(item) not in seen}.values()])


def _maps(one: MapList, other: list[Any]) -> MapList:
    """Return the first list's items, those with equal keys replaced by the second's, then the second's other items."""
    bounded_list(len(one) + len(other))
    places = {keys_of(item, one.keys): place for place, item in enumerate(charge_each(one))}
    out = list(one)
    for item in charge_each(other):
        place = places.get(keys_of(item, one.keys))
        if place is None:
            places[keys_of(item, one.keys)] = len(out)
            out.append(item)
        else:
            out[place] = item
    return MapList(out, one.keys)


def _divide(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("division by zero")
    quotient = abs(one) // abs(other)
    return whole(-quotient if (one < 0) != (other < 0) else quotient)


def _remainder(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("modulus by zero")
    if other == -1 and one == INT_MIN:
        raise EvaluationError("integer overflow")
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _quotient(one: float, other: float) -> float:
    if other:
        return one / other
    if one == 0 or one != one:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def _udivide(one: Uint, other: Uint) -> Uint:
    if not other:
        raise EvaluationError("division by zero")
    return Uint(one // other)


def _uremainder(one: Uint, other: Uint) -> Uint:
    if not other:
        raise EvaluationError("modulus by zero")
    return Uint(one % other)


_ADD: Pairs = {
    (int, int): lambda a, b: whole(a + b),
    (Uint, Uint): lambda a, b: unsigned(int(a) + int(b)),
    (float, float): lambda a, b: a + b,
    (str, str): _joined,
    (bytes, bytes): _joined,
    **{(one, other): _lists for one in LISTS for other in LISTS},
    **{(SetList, other): _sets for other in LISTS},
    **{(MapList, other): _maps for other in LISTS},
    (Timestamp, Duration): lambda a, b: moment(a.ns + b.ns, a.offset),
    (Duration, Timestamp): lambda a, b: moment(a.ns + b.ns, b.offset),
    (Duration, Duration): lambda a, b: span(a.ns + b.ns),
}
_SUB: Pairs = {
    (int, int): lambda a, b: whole(a - b),
    (Uint, Uint): lambda a, b: unsigned(int(a) - int(b)),
    (float, float): lambda a, b: a - b,
    (Timestamp, Timestamp): lambda a, b: span(a.ns - b.ns),
    (Timestamp, Duration): lambda a, b: moment(a.ns - b.ns, a.offset),
    (Duration, Duration): lambda a, b: span(a.ns - b.ns),
}
_MUL: Pairs = {
    (int, int): lambda a, b: whole(a * b),
    (Uint, Uint): lambda a, b: unsigned(int(a) * int(b)),
    (float, float): lambda a, b: a * b,
}
_DIV: Pairs = {(int, int): _divide, (Uint, Uint): _udivide, (float, float): _quotient}
_MOD: Pairs = {(int, int): _remainder, (Uint, Uint): _uremainder}


def _binary(table: Pairs) -> Callable[[Any, Any], Any]:
    def operate(one: Any, other: Any) -> Any:
        found = table.get((one.__class__, other.__class__))
        if found is None:
            raise no_overload()
        return found(one, other)

    return operate


add, sub, mul = _binary(_ADD), _binary(_SUB), _binary(_MUL)
div, mod = _binary(_DIV), _binary(_MOD)


def negate(value: Any) -> Any:
    """Return -value."""
    if value.__class__ is int:
        return whole(-value)
    if value.__class__ is float:
        return -value
    raise no_overload()


def invert(value: Any) -> bool:
    """Return !value."""
    if value.__class__ is not bool:
        raise no_overload()
    return not value
