"""The steps of a compiled path. Each maps values to values, or raises PathFault if it cannot be followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each

Values = list[Any]
Step = Callable[[Values], Values]

# maximum values: unions and descents can multiply them
_MAX = 1 << 20
_CHARGE_INTERVAL = 512  # values examined between two charges
_SLICE = compile_late(r"(-?[0-9]*+)(:-?[0-9]*+)?(:-?[0-9]*+)?")


class PathFault(Exception):
    """A path cannot be followed in an object. partial: the values that an existence filter counts as found."""

    def __init__(self, message: str, partial: Values) -> None:
        super().__init__(message)
        self.partial = partial


def run_steps(steps: Iterable[Step], values: Values) -> Values:
    """Return the values after all steps. Raises PathFault."""
    for step in steps:
        charge(1 + len(values))
        values = step(values)
    return values


def _check_count(values: Values) -> Values:
    if len(values) > _MAX:
        raise PathFault("too many values", [])
    return values


def make_constant(value: str) -> Step:
    """Return a step that yields a text between actions."""
    return lambda values: [value]


def repeat_literal(value: float | bool) -> Step:
    """Return a step that replaces each value by a literal."""
    return lambda values: [value] * len(values)


def refuse_word(name: str) -> Step:
    """Return a step that fails because of an unknown word."""

    def raise_fault(values: Values) -> Values:
        raise PathFault(f"unrecognized identifier {name}", values)

    return raise_fault


class FieldStep:
    """The field of the objects that have it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, values: Values) -> Values:
        name = self.name
        return [value[name] for value in values if type(value) is dict and name in value]


def _list_children(value: Any) -> Values:
    if type(value) is dict or type(value) is list:
        charge(len(value))
    if type(value) is dict:
        return list(value.values())
    if type(value) is list:
        return value
    return list(each(value.encode())) if isinstance(value, str) else []


def take_items(values: Values) -> Values:
    """Return all items and fields of the values."""
    return [child for value in values for child in _list_children(value)]


def descend_values(values: Values) -> Values:
    """Return all non-empty values at and below the given ones, outer ones first."""
    results: Values = []
    todo = values[::-1]
    steps_left = _CHARGE_INTERVAL
    while todo:
        value = todo.pop()
        steps_left -= 1
        if not steps_left:
            charge(_CHARGE_INTERVAL)
            _check_count(results)
            steps_left = _CHARGE_INTERVAL
        if not value:
            continue
        kind = type(value)
        if kind is dict:
            results.append(value)
            todo += reversed(value.values())
        elif kind is list:
            results.append(value)
            todo += reversed(value)
        elif kind is str:
            results.append(value)
    return _check_count(results)


def make_union(paths: list[list[Step]]) -> Step:
    """Return a step that yields the results of each part."""

    def join_parts(values: Values) -> Values:
        results: Values = []
        try:
            for path in paths:
                results += run_steps(path, values)
                _check_count(results)
        except PathFault as fault:
            raise PathFault(str(fault), values) from None
        return results

    return join_parts


def parse_array(text: str) -> Step:
    """Return a step for an index or slice. A single index is a slice of one. Raises ValueError for other texts."""
    match = _SLICE.fullmatch(text)
    if not match:
        raise ValueError(f"invalid array index {text}")
    start, stop, stride = (_parse_index(part.lstrip(":")) if part and part != ":" else None for part in match.groups())
    lone = not match[2]
    stop = (start or 0) + 1 if lone else stop

    def select_items(values: Values) -> Values:
        items: Values = []
        for value in values:
            if value is None:
                continue
            if type(value) is not list:
                raise PathFault("what is indexed is not a list", values)
            count = len(value)
            first = (start or 0) + count * ((start or 0) < 0)
            last = count if stop is None else stop + count * (stop < 0 or (stop == 0 and lone))
            if first == last:
                return items
            if not (0 <= first < count and first <= last <= count) or (stride is not None and stride <= 0):
                raise PathFault("the index is out of bounds", values)
            items += islice(value, first, last, stride or 1)
        return items

    return select_items


def _parse_index(text: str) -> int:
    if not text.strip("-") or len(text) > 19:
        raise ValueError(f"array index {text} is not a number")
    return int(text)


def make_existence_filter(path: list[Step]) -> Step:
    """Return a filter of items in which the inner path finds a value."""

    def finds_value(value: Any) -> bool:
        try:
            return bool(run_steps(path, [value]))
        except PathFault as fault:
            return bool(fault.partial)

    return _make_filter(finds_value)


def make_comparison(left: list[Step], operator: str, right: list[Step]) -> Step:
    """Return a filter of items for which the values of two paths meet a comparison."""

    def meets_comparison(value: Any) -> bool:
        sides = []
        for steps in (left, right):
            values = run_steps(steps, [value])
            if not values:
                return False
            if len(values) > 1:
                raise PathFault("can only compare one element at a time", [])
            sides.append(values[0])
        if operator not in _COMPARISONS:
            raise PathFault(f"unrecognized filter operator {operator}", [])
        return _compare_values(operator, *sides)

    return _make_filter(meets_comparison)


def _make_filter(accepts: Callable[[Any], bool]) -> Step:
    def filter_items(values: Values) -> Values:
        items: Values = []
        for value in values:
            if type(value) is not list:
                raise PathFault("what is filtered is not a list", values)
            try:
                items += [item for item in each(value) if accepts(item)]
            except PathFault as fault:
                raise PathFault(str(fault), values) from None
        return items

    return filter_items


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda one, other: bool(one == other),
    "!=": lambda one, other: bool(one != other),
    "<": lambda one, other: bool(one < other),
    "<=": lambda one, other: bool(one <= other),
    ">": lambda one, other: bool(one > other),
    ">=": lambda one, other: bool(one >= other),
}
_COMPARABLE = {str, int, float, bool}


def _compare_values(operator: str, left: Any, right: Any) -> bool:
    """Return whether a comparison holds.

    Only values of one type are comparable: an integer is not a float, and booleans have no order.
    """
    kind = type(left)
    if kind is not type(right) or kind not in _COMPARABLE or (kind is bool and operator not in ("==", "!=")):
        raise PathFault("incompatible types for comparison", [])
    return _COMPARISONS[operator](left, right)
