"""Order and equality of values whose types are known only at evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel.bounds import afford_work, charge_each
from podless.cel.errors import EvaluationError, no_overload
from podless.cel.values import LISTS, NUMBERS, Duration, MapList, Optional, SetList, Timestamp, key_of, keys_of
from podless.runtime.meter import charge

_ORDERED = frozenset((str, bytes, bool, Timestamp, Duration))


def compare(one: Any, other: Any) -> int:
    """Return -1, 0 or 1 if `one` is less than, equal to or greater than `other`."""
    kind, its = one.__class__, other.__class__
    if kind in NUMBERS:
        if its not in NUMBERS:
            raise no_overload()
        if one != one or other != other:
            raise EvaluationError("NaN values cannot be ordered")
        if (kind is float) is not (its is float):
            one, other = float(one), float(other)
    elif kind is not its or kind not in _ORDERED:
        raise no_overload()
    return int(one > other) - int(one < other)


def less(one: Any, other: Any) -> bool:
    """Return one < other."""
    return compare(one, other) < 0


def less_equal(one: Any, other: Any) -> bool:
    """Return one <= other."""
    return compare(one, other) <= 0


def greater(one: Any, other: Any) -> bool:
    """Return one > other."""
    return compare(one, other) > 0


def greater_equal(one: Any, other: Any) -> bool:
    """Return one >= other."""
    return compare(one, other) >= 0


def equal(one: Any, other: Any, seen: list[int] | None = None) -> bool:
    """Return one == other. Values of different types are unequal, except equal numbers.

    seen: the number of parts compared so far. Raises CostExceeded for too many.
    """
    kind, its = one.__class__, other.__class__
    if kind in _CONTAINERS and its in _CONTAINERS:
        seen = [0] if seen is None else seen
        seen[0] += len(one)
        afford_work(seen[0])
        charge(len(one))
        return _CONTAINERS[kind](one, other, seen)
    if kind is not its:
        return kind in NUMBERS and its in NUMBERS and bool(one == other)
    if kind is Optional:
        return one.present is other.present and (not one.present or equal(one.value, other.value, seen))
    return bool(one == other)


def _same_lists(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is dict or len(one) != len(other):
        return False
    return all(equal(left, right, seen) for left, right in zip(charge_each(one), other, strict=True))


def _same_dicts(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is not dict or len(one) != len(other):
        return False
    return all(key in other and equal(item, other[key], seen) for key, item in charge_each(one.items()))


def _same_sets(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is dict or len(one) != len(other):
        return False
    return {key_of(item) for item in charge_each(one)} == {key_of(item) for item in charge_each(other)}


def _same_maps(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is dict or len(one) != len(other):
        return False
    known = {keys_of(item, one.keys): item for item in charge_each(one)}
    found = set()
    for item in charge_each(other):
        key = keys_of(item, one.keys)
        if key not in known or not equal(known[key], item, seen):
            return False
        found.add(key)
    return len(found) == len(known)


_CONTAINERS: dict[type, Callable[[Any, Any, list[int]], bool]] = {
    **dict.fromkeys(LISTS, _same_lists),
    dict: _same_dicts,
    SetList: _same_sets,
    MapList: _same_maps,
}


def unequal(one: Any, other: Any) -> bool:
    """Return one != other."""
    return not equal(one, other)
