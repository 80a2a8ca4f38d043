"""Operators on values whose types are known only when they are there: tables by the classes of both operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from podless.cel import values
from podless.cel.errors import CostExceeded, EvaluationError, no_overload
from podless.cel.values import (
    INT_MAX,
    INT_MIN,
    TIME_MAX,
    TIME_MIN,
    UINT_MAX,
    Duration,
    MapList,
    Message,
    Optional,
    SetList,
    Timestamp,
    TypeValue,
    Uint,
)

Pairs = dict[tuple[type, type], Callable[[Any, Any], Any]]
# no value grows beyond so many bytes, and nothing looks at more parts of values at once, whatever it costs
MAX_SIZE = 64 << 20
MAX_WORK = 5_000_000
_ITEM = 16  # bytes that an item of a list is taken for
_LISTS = (list, SetList, MapList)
_NUMBERS = (int, Uint, float)


def whole(value: int) -> int:
    """The integer, if it is one of 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def unsigned(value: int) -> Uint:
    """The unsigned integer, if it is one of 64 bits."""
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise EvaluationError("unsigned integer overflow")


def span(ns: int) -> Duration:
    """The duration, if it fits 64 bits."""
    return Duration(whole(ns))


def moment(ns: int, offset: int = 0) -> Timestamp:
    """The timestamp, if it is of the years 1 to 9999."""
    if TIME_MIN <= ns <= TIME_MAX:
        return Timestamp(ns, offset)
    raise EvaluationError("timestamp overflow")


def bounded(size: int) -> None:
    """Refuse to make a value of such a size."""
    if size > MAX_SIZE:
        raise CostExceeded


def bounded_list(count: int) -> None:
    """Refuse to make a list of so many items."""
    bounded(count * _ITEM)


def afford(work: int) -> None:
    """Refuse to look at so many parts of values."""
    if work > MAX_WORK:
        raise CostExceeded


def _joined(one: Any, other: Any) -> Any:
    bounded(len(one) + len(other))
    return one + other


def _lists(one: list[Any], other: list[Any]) -> list[Any]:
    bounded_list(len(one) + len(other))
    return [*one, *other]


def _sets(one: list[Any], other: list[Any]) -> SetList:
    """What is in the one, and what is in the other only, each in its order."""
    bounded_list(len(one) + len(other))
    seen = {_key(item) for item in one}
    return SetList([*one, *{_key(item): item for item in other if _key(item) not in seen}.values()])


def _maps(one: MapList, other: list[Any]) -> MapList:
    """The items of the one, replaced by those of the other with the same keys, then the other's own."""
    bounded_list(len(one) + len(other))
    places = {_keys(item, one.keys): place for place, item in enumerate(one)}
    out = list(one)
    for item in other:
        place = places.get(_keys(item, one.keys))
        if place is None:
            places[_keys(item, one.keys)] = len(out)
            out.append(item)
        else:
            out[place] = item
    return MapList(out, one.keys)


def _key(item: Any) -> Any:
    """A value as a dict can have it for a key: by type and content."""
    kind = item.__class__
    if kind is dict:
        return ("map", frozenset((name, _key(part)) for name, part in item.items()))
    if kind in _LISTS:
        return ("list", tuple(map(_key, item)))
    return ("number", item) if kind in _NUMBERS else (kind, item)


def _keys(item: Any, names: tuple[str, ...]) -> Any:
    return tuple(_key(item.get(name)) for name in names) if item.__class__ is dict else None


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
    **{(one, other): _lists for one in _LISTS for other in _LISTS},
    **{(SetList, other): _sets for other in _LISTS},
    **{(MapList, other): _maps for other in _LISTS},
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
    """-value."""
    if value.__class__ is int:
        return whole(-value)
    if value.__class__ is float:
        return -value
    raise no_overload()


def invert(value: Any) -> bool:
    """!value."""
    if value.__class__ is not bool:
        raise no_overload()
    return not value


_ORDERED = frozenset((str, bytes, bool, Timestamp, Duration))


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1 as the one is less than, equal to or greater than the other."""
    kind, its = one.__class__, other.__class__
    if kind in _NUMBERS:
        if its not in _NUMBERS:
            raise no_overload()
        if one != one or other != other:
            raise EvaluationError("NaN values cannot be ordered")
        if (kind is float) is not (its is float):
            one, other = float(one), float(other)
    elif kind is not its or kind not in _ORDERED:
        raise no_overload()
    return int(one > other) - int(one < other)


def less(one: Any, other: Any) -> bool:
    """one < other."""
    return compare(one, other) < 0


def less_equal(one: Any, other: Any) -> bool:
    """one <= other."""
    return compare(one, other) <= 0


def greater(one: Any, other: Any) -> bool:
    """one > other."""
    return compare(one, other) > 0


def greater_equal(one: Any, other: Any) -> bool:
    """one >= other."""
    return compare(one, other) >= 0


def equal(one: Any, other: Any, seen: list[int] | None = None) -> bool:
    """one == other; values of different types are not equal, but numbers by what they are.

    seen: how many parts were looked at so far; raises CostExceeded for too many.
    """
    kind, its = one.__class__, other.__class__
    if kind in _CONTAINERS and its in _CONTAINERS:
        seen = [0] if seen is None else seen
        seen[0] += len(one)
        afford(seen[0])
        return _CONTAINERS[kind](one, other, seen)
    if kind is not its:
        return kind in _NUMBERS and its in _NUMBERS and bool(one == other)
    if kind is Optional:
        return one.present is other.present and (not one.present or equal(one.value, other.value, seen))
    return bool(one == other)


def _same_lists(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is dict or len(one) != len(other):
        return False
    return all(equal(left, right, seen) for left, right in zip(one, other, strict=True))


def _same_dicts(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is not dict or len(one) != len(other):
        return False
    return all(key in other and equal(item, other[key], seen) for key, item in one.items())


def _same_sets(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is dict or len(one) != len(other):
        return False
    return {_key(item) for item in one} == {_key(item) for item in other}


def _same_maps(one: Any, other: Any, seen: list[int]) -> bool:
    if other.__class__ is dict or len(one) != len(other):
        return False
    known = {_keys(item, one.keys): item for item in one}
    found = set()
    for item in other:
        key = _keys(item, one.keys)
        if key not in known or not equal(known[key], item, seen):
            return False
        found.add(key)
    return len(found) == len(known)


_CONTAINERS: dict[type, Callable[[Any, Any, list[int]], bool]] = {
    list: _same_lists,
    dict: _same_dicts,
    SetList: _same_sets,
    MapList: _same_maps,
}


def unequal(one: Any, other: Any) -> bool:
    """one != other."""
    return not equal(one, other)


def within(item: Any, place: Any) -> bool:
    """item in place: an item of a list, a key of a map."""
    kind = place.__class__
    if kind in _LISTS:
        return any(equal(item, each) for each in place)
    if kind is dict:
        return _hashable(item) and item in place
    raise no_overload()


def _hashable(key: Any) -> bool:
    return key.__class__ in (str, int, Uint, float, bool)


def show(value: Any) -> str:
    """A value as errors name it."""
    if value.__class__ is bool:
        return "true" if value else "false"
    return str(value)


def index(place: Any, key: Any) -> Any:
    """place[key]."""
    kind = place.__class__
    if kind is dict:
        try:
            return place[key]
        except (KeyError, TypeError):
            raise EvaluationError(f"no such key: {show(key)}") from None
    if kind in _LISTS:
        number = position(key)
        if 0 <= number < len(place):
            return place[number]
        raise EvaluationError(f"index out of bounds: {number}")
    if kind is Optional:
        return optional_index(place, key)
    raise EvaluationError(f"no such key: {show(key)}")


def position(key: Any) -> int:
    """A list index: an integer, or a number that is one."""
    kind = key.__class__
    if kind is int or kind is Uint:
        return int(key)
    if kind is float and key.is_integer():
        return int(key)
    if kind is float:
        raise EvaluationError(f"unsupported index value {show(key)} in list")
    raise EvaluationError(f"unsupported index type '{values.name_of(key)}' in list")


def select(value: Any, field: str) -> Any:
    """value.field."""
    kind = value.__class__
    if kind is dict or kind is Message:
        try:
            return value[field]
        except KeyError:
            raise EvaluationError(f"no such key: {field}") from None
    if kind is Optional:
        return optional_index(value, field)
    if isinstance(value, values.Fields):
        return value[field]
    if kind in _LISTS:
        position(field)
    raise EvaluationError(f"no such key: {field}")


def has(value: Any, field: str, lenient: bool = False) -> bool:
    """has(value.field). lenient: what has no fields at all has not this one, which is an error otherwise."""
    kind = value.__class__
    if kind is dict or kind is Message:
        return field in value
    if kind is Optional:
        return bool(value.present) and has(value.value, field, lenient)
    if isinstance(value, values.Fields):
        return field in value
    if kind in _LISTS:
        position(field)
    if lenient:
        return False
    raise no_overload()


def optional_index(value: Any, key: Any, lenient: bool = False) -> Optional:
    """value[?key], and any field or item of an optional: none where there is no such. lenient: see `has`."""
    kind = value.__class__
    if kind is Optional:
        return optional_index(value.value, key, lenient) if value.present else values.NONE
    if kind is dict:
        return Optional(value[key]) if _hashable(key) and key in value else values.NONE
    if kind in _LISTS:
        number = position(key)
        return Optional(value[number]) if 0 <= number < len(value) else values.NONE
    if isinstance(value, values.Fields):
        return Optional(value[key]) if key in value else values.NONE
    if lenient:
        return values.NONE
    raise no_overload()


def type_of(value: Any) -> TypeValue:
    """type(value)."""
    return TypeValue(values.name_of(value))


def truth(value: Any) -> bool:
    """A condition, which must be a bool."""
    if value.__class__ is not bool:
        raise no_overload()
    return bool(value)


def insert(target: dict[Any, Any], key: Any, value: Any) -> None:
    """Put a new entry into a map that is being made."""
    if not _hashable(key):
        raise EvaluationError(f"unsupported key type: {values.name_of(key)}")
    if key in target:
        raise EvaluationError(f"insert failed: key {show(key)} already exists")
    target[key] = value


def iterate(value: Any, two: bool = False) -> Any:
    """What a comprehension goes over: items or keys; two: pairs of place or key and item."""
    kind = value.__class__
    if kind in _LISTS:
        return enumerate(value) if two else value
    if kind is dict:
        return value.items() if two else value
    raise no_overload()
