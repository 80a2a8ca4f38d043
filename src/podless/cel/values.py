"""CEL values: their classes, the names of their types, their order and equality.

int, float, str, bytes, bool, None, list and dict represent themselves; uint, timestamp, duration, optional and type
have classes. Unlike in Python, a bool is never a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from podless.cel.bounds import afford_work, charge_each
from podless.cel.errors import EvaluationError, NoOverload
from podless.runtime.meter import charge

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
UINT_MAX = (1 << 64) - 1
SECOND = 1_000_000_000
TIME_MIN = -62135596800 * SECOND
TIME_MAX = 253402300800 * SECOND - 1


class Uint(int):
    """An unsigned integer of 64 bits."""

    __slots__ = ()


class _Nanoseconds:
    """A point in time or a duration, in nanoseconds."""

    __slots__ = ("ns",)

    def __init__(self, ns: int) -> None:
        self.ns = ns

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and self.ns == other.ns

    def __lt__(self, other: _Nanoseconds) -> bool:
        return self.ns < other.ns

    def __le__(self, other: _Nanoseconds) -> bool:
        return self.ns <= other.ns

    def __gt__(self, other: _Nanoseconds) -> bool:
        return self.ns > other.ns

    def __ge__(self, other: _Nanoseconds) -> bool:
        return self.ns >= other.ns

    def __hash__(self) -> int:
        return hash((self.__class__, self.ns))

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.ns})"


class Timestamp(_Nanoseconds):
    """A point in time: nanoseconds since 1970, and the UTC offset in seconds from its text."""

    __slots__ = ("offset",)

    def __init__(self, ns: int, offset: int = 0) -> None:
        super().__init__(ns)
        self.offset = offset


class Duration(_Nanoseconds):
    """A duration in nanoseconds."""

    __slots__ = ()


class Optional:
    """A value that can be absent."""

    __slots__ = ("present", "value")

    def __init__(self, value: Any = None, present: bool = True) -> None:
        self.value = value
        self.present = present

    def __repr__(self) -> str:
        return f"Optional({self.value!r})" if self.present else "NONE"


NONE = Optional(present=False)


class TypeValue:
    """A type as a value, identified by its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash((TypeValue, self.name))

    def __repr__(self) -> str:
        return f"TypeValue({self.name!r})"


class SetList(list[Any]):
    """A list of type set: equal in any order; + adds only items that the list does not have."""

    __slots__ = ()


class MapList(list[Any]):
    """A list of type map: equal by key; + replaces items with the same key."""

    __slots__ = ("keys",)

    def __init__(self, items: list[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys


class ConcatenatedList(list[Any]):
    """Two concatenated lists. In Go, the result is a list of CEL values."""

    __slots__ = ()


class StringList(list[str]):
    """The parts of a string; in Go a []string."""

    __slots__ = ()


class Message(dict[str, Any]):
    """A message that an expression constructed: its fields by name. name: of its type, such as Object.spec."""

    __slots__ = ("name",)

    def __init__(self, name: str, fields: Iterable[tuple[str, Any]]) -> None:
        super().__init__(fields)
        self.name = name


class Fields:
    """A value whose fields are computed when they are used."""

    __slots__ = ()

    def __contains__(self, name: str) -> bool:
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        """Return a field's value. Raises EvaluationError."""
        raise NotImplementedError


NUMBERS = (int, Uint, float)
LISTS = (list, SetList, MapList, ConcatenatedList, StringList)
# class: name of the type, as in type() and errors; libraries add their own
NAMES: dict[type, str] = {
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    bool: "bool",
    type(None): "null_type",
    **dict.fromkeys(LISTS, "list"),
    dict: "map",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    Optional: "optional_type",
    TypeValue: "type",
    Message: "message",
}


def name_of(value: Any) -> str:
    """Return the name of a value's type."""
    return NAMES[value.__class__]


def size_of(value: Any) -> int:
    """Return the size for costs: the length of strings, bytes, lists and maps, 1 for others."""
    if value.__class__ in _SIZED:
        return len(value)
    if value.__class__ is Optional and value.present:
        return size_of(value.value)
    return 1


_ORDERED = frozenset((str, bytes, bool, Timestamp, Duration))
_SIZED = frozenset((str, bytes, dict, *LISTS))


def make_conversion_error(value: Any, target: str) -> EvaluationError:
    """Return the error for a value that cannot be converted."""
    return EvaluationError(f"type conversion error from '{name_of(value)}' to '{target}'")


def key_of(item: Any) -> Any:
    """Return a dict key for a value, by type and content."""
    kind = item.__class__
    if kind is dict:
        return ("map", frozenset((name, key_of(field_value)) for name, field_value in charge_each(item.items())))
    if kind in LISTS:
        return ("list", tuple(map(key_of, charge_each(item))))
    return ("number", item) if kind in NUMBERS else (kind, item)


def keys_of(item: Any, names: tuple[str, ...]) -> Any:
    """Return a dict key for some fields of a list item; None for a value without fields."""
    return tuple(key_of(item.get(name)) for name in names) if item.__class__ is dict else None


def compare_values(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 if `left` is less than, equal to or greater than `right`."""
    kind, its = left.__class__, right.__class__
    if kind in NUMBERS:
        if its not in NUMBERS:
            raise NoOverload
        if left != left or right != right:
            raise EvaluationError("NaN values cannot be ordered")
        if (kind is float) is not (its is float):
            left, right = float(left), float(right)
    elif kind is not its or kind not in _ORDERED:
        raise NoOverload
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
