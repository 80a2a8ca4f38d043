"""Order and equality of values whose types are known only at evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel.bounds import afford_work, charge_each
from podless.cel.errors import EvaluationError, no_overload
from podless.cel.values import LISTS, NUMBERS, Duration, MapList, Optional, SetList, Timestamp, key_of, keys_of
from podless.runtime.meter import charge

_ORDERED = frozenset((str, bytes, bool, Timestamp, Duration))


def compare_values(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 if `left` is less than, equal to or greater than `right`."""
    kind, its = left.__class__, right.__class__
    if kind in NUMBERS:
        if its not in NUMBERS:
            raise no_overload()
        if left != left or right != right:
            raise EvaluationError("NaN values cannot be ordered")
        if (kind is float) is not (its is float):
            left, right = float(left), float(right)
    elif kind is not its or kind not in _ORDERED:
        raise no_overload()
    return int(left > right) - int(left < right)


def are_equal(left: Any, right: Any, steps: list[int] | None = None) -> bool:
    """Return left == right. Values of different types are unequal, except equal numbers.

    steps: the number of parts compared so far. Raises CostExceeded for too many.
    """
    kind, its = left.__class__, right.__class__
    if kind in _CONTAINERS and its in _CONTAINERS:
        steps = [0] if steps is None else steps
        steps[0] += len(left)
        afford_work(steps[0])
        charge(len(left))
        return _CONTAINERS[kind](left, right, steps)
    if kind is not its:
        return kind in NUMBERS and its in NUMBERS and bool(left == right)
    if kind is Optional:
        return left.present is right.present and (not left.present or are_equal(left.value, right.value, steps))
    return bool(left == right)


def _are_lists_equal(left_list: Any, right_list: Any, steps: list[int]) -> bool:
    if right_list.__class__ is dict or len(left_list) != len(right_list):
        return False
    return all(are_equal(left, right, steps) for left, right in zip(charge_each(left_list), right_list, strict=True))


def _are_dicts_equal(left: Any, right: Any, steps: list[int]) -> bool:
    if right.__class__ is not dict or len(left) != len(right):
        return False
    return all(key in right and are_equal(item, right[key], steps) for key, item in charge_each(left.items()))


def _are_sets_equal(left: Any, right: Any, steps: list[int]) -> bool:
    if right.__class__ is dict or len(left) != len(right):
        return False
    return {key_of(item) for item in charge_each(left)} == {key_of(item) for item in charge_each(right)}


def _are_map_lists_equal(left: Any, right: Any, steps: list[int]) -> bool:
    if right.__class__ is dict or len(left) != len(right):
        return False
    left_items = {keys_of(item, left.keys): item for item in charge_each(left)}
    matched = set()
    for item in charge_each(right):
        key = keys_of(item, left.keys)
        if key not in left_items or not are_equal(left_items[key], item, steps):
            return False
        matched.add(key)
    return len(matched) == len(left_items)


_CONTAINERS: dict[type, Callable[[Any, Any, list[int]], bool]] = {
    **dict.fromkeys(LISTS, _are_lists_equal),
    dict: _are_dicts_equal,
    SetList: _are_sets_equal,
    MapList: _are_map_lists_equal,
}
