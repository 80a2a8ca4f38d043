"""Access to values whose types are known only at evaluation: items, fields, keys, and iteration."""

from __future__ import annotations

from typing import Any

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.errors import EvaluationError, NoOverload, NoSuchKey
from podless.cel.values import LISTS, Message, Optional, Uint, are_equal
from podless.codec import gotext


def contains_item(item: Any, container: Any) -> bool:
    """Return `item in container`, for an item of a list or a key of a map."""
    kind = container.__class__
    if kind in LISTS:
        return any(are_equal(item, member) for member in charge_each(container))
    if kind is dict:
        return is_key(item) and item in container
    raise NoOverload


def is_key(key: Any) -> bool:
    """Return whether a value can be a key of a map."""
    return key.__class__ in (str, int, Uint, float, bool)


def describe_value(value: Any) -> str:
    """Return a value as error messages show it."""
    if value.__class__ is bool:
        return "true" if value else "false"
    return gotext.format_float(value) if value.__class__ is float else str(value)


def get_item(container: Any, key: Any) -> Any:
    """Return container[key]."""
    kind = container.__class__
    if kind is dict:
        try:
            return container[key]
        except (KeyError, TypeError):
            raise NoSuchKey(describe_value(key)) from None
    if kind in LISTS:
        number = convert_index(key)
        if 0 <= number < len(container):
            return container[number]
        raise EvaluationError(f"index out of bounds: {number}")
    if kind is Optional:
        return get_optional_item(container, key)
    raise NoSuchKey(describe_value(key))


def convert_index(key: Any) -> int:
    """Return a list index from an integer or an integral double."""
    kind = key.__class__
    if kind is int or kind is Uint:
        return int(key)
    if kind is float and key.is_integer():
        return int(key)
    if kind is float:
        raise EvaluationError(f"unsupported index value {describe_value(key)} in list")
    raise EvaluationError(f"unsupported index type '{values.name_of(key)}' in list")


def select_field(value: Any, field: str) -> Any:
    """Return value.field."""
    kind = value.__class__
    if kind is dict or kind is Message:
        try:
            return value[field]
        except KeyError:
            raise NoSuchKey(field) from None
    if kind is Optional:
        return get_optional_item(value, field)
    if isinstance(value, values.Fields):
        return value[field]
    if kind in LISTS:
        convert_index(field)
    raise NoSuchKey(field)


def has_field(value: Any, field: str, lenient: bool = False) -> bool:
    """Return has(value.field). lenient: return False for a value that cannot have fields, instead of an error."""
    kind = value.__class__
    if kind is dict or kind is Message:
        return field in value
    if kind is Optional:
        return bool(value.present) and has_field(value.value, field, lenient)
    if isinstance(value, values.Fields):
        return field in value
    if kind in LISTS:
        convert_index(field)
    if lenient:
        return False
    raise NoOverload


def get_optional_item(value: Any, key: Any, lenient: bool = False) -> Optional:
    """Return value[?key], or a field or item of an optional; none if it is missing. lenient: see `has_field`."""
    kind = value.__class__
    if kind is Optional:
        return get_optional_item(value.value, key, lenient) if value.present else values.NONE
    if kind is dict:
        return Optional(value[key]) if is_key(key) and key in value else values.NONE
    if kind in LISTS:
        number = convert_index(key)
        return Optional(value[number]) if 0 <= number < len(value) else values.NONE
    if isinstance(value, values.Fields):
        return Optional(value[key]) if key in value else values.NONE
    if lenient:
        return values.NONE
    raise NoOverload


def require_bool(value: Any) -> bool:
    """Return a condition, which must be a bool."""
    if value.__class__ is not bool:
        raise NoOverload
    return bool(value)


def put_item(target: dict[Any, Any], key: Any, value: Any) -> None:
    """Set an entry of a map literal; as in cel-go, the last of repeated keys wins."""
    if not is_key(key):
        raise EvaluationError(f"unsupported key type: {values.name_of(key)}")
    target[key] = value


def remove_item(target: dict[Any, Any], key: Any) -> None:
    """Remove the entry of a map literal that an absent optional of the same key replaces."""
    if is_key(key):
        target.pop(key, None)


def insert_entry(target: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to the map of a macro. Raises EvaluationError for a repeated key."""
    if is_key(key) and key in target:
        raise EvaluationError(f"insert failed: key {describe_value(key)} already exists")
    put_item(target, key, value)


def iterate_items(value: Any, with_keys: bool = False) -> Any:
    """Return an iterable for a comprehension: items or keys. with_keys: pairs of index or key, and item."""
    kind = value.__class__
    if kind in LISTS:
        return enumerate(value) if with_keys else value
    if kind is dict:
        return value.items() if with_keys else value
    raise NoOverload
