"""CEL values that have no Python type, and the names of all value types.

int, float, str, bytes, bool, None, list and dict represent themselves; uint, timestamp, duration, optional and type
have classes. Unlike in Python, a bool is never a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podless.cel.bounds import charge_each
from podless.cel.errors import EvaluationError

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


# class: name of the type, as in type() and errors; libraries add their own
NAMES: dict[type, str] = {
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    bool: "bool",
    type(None): "null_type",
    list: "list",
    SetList: "list",
    MapList: "list",
    ConcatenatedList: "list",
    StringList: "list",
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


NUMBERS = (int, Uint, float)
LISTS = (list, SetList, MapList, ConcatenatedList, StringList)
_SIZED = frozenset((str, bytes, dict, *LISTS))


def conversion_error(value: Any, target: str) -> EvaluationError:
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
