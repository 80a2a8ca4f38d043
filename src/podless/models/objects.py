"""Converts objects to instances of classes and back: pydantic models, dataclasses, and plain dicts.

pydantic is never imported here; its models are recognized by their methods.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from functools import lru_cache
from typing import Any, TypeVar

from podless.runtime.jsonobject import Object

T = TypeVar("T")

EXTRA = "extra_"  # the attribute of a generated dataclass with the fields that the class lacks

_INTEGERS = 2**63  # larger than any int64


def get_json_name(field: dataclasses.Field[Any]) -> str:
    """Return the name that a field of a dataclass has in JSON."""
    return str(field.metadata.get("json") or field.name)


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Return whether a field of a dataclass has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def read_object(cls: type[T], value: Any) -> T:
    """Return an object in JSON as an instance of a class. Raises pydantic's errors, and TypeError."""
    validate = getattr(cls, "model_validate", None)
    if validate is not None:
        return typing.cast(T, validate(_read_numbers(value)))
    return typing.cast(T, _read_value(cls, value))


def _read_numbers(value: Any) -> Any:
    """Return a value with 1 for 1.0. Both are integers in JSON, but strict models reject a float."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _INTEGERS else value
    if isinstance(value, dict):
        return {name: _read_numbers(item) for name, item in value.items()}
    return [_read_numbers(item) for item in value] if isinstance(value, list) else value


def _read_value(target: Any, value: Any) -> Any:
    origin = typing.get_origin(target)
    if origin is typing.Annotated:
        return _read_value(typing.get_args(target)[0], value)
    if value is None:
        return None
    if origin is list and isinstance(value, list):
        (item_type,) = typing.get_args(target)
        return [_read_value(item_type, item) for item in value]
    if origin is dict and isinstance(value, dict):
        item_type = typing.get_args(target)[1]
        return {name: _read_value(item_type, item) for name, item in value.items()}
    if origin in (typing.Union, types.UnionType):
        for item_type in typing.get_args(target):
            if _is_model(item_type) and isinstance(value, dict):
                return read_object(item_type, value)
            if typing.get_origin(item_type) in (list, dict) and isinstance(value, typing.get_origin(item_type)):
                return _read_value(item_type, value)
        return value
    if dataclasses.is_dataclass(target) and isinstance(target, type):
        return _read_dataclass(target, value)
    return read_object(target, value) if _is_model(target) else value


def _is_model(target: Any) -> bool:
    return isinstance(target, type) and (dataclasses.is_dataclass(target) or hasattr(target, "model_validate"))


@lru_cache(maxsize=1000)
def _get_type_hints(target: type) -> dict[str, Any]:
    return typing.get_type_hints(target, include_extras=True)


def _read_dataclass(target: type, value: Any) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"{target.__name__}: an object is expected, not {type(value).__name__}")
    hints, arguments, unread = _get_type_hints(target), {}, dict(value)
    for field in dataclasses.fields(target):
        if not field.init or field.name == EXTRA or (name := get_json_name(field)) not in unread:
            continue
        if unread[name] is not None or is_required(field):  # a null of an optional field goes into EXTRA
            arguments[field.name] = _read_value(hints[field.name], unread.pop(name))
    if unread and any(field.name == EXTRA for field in dataclasses.fields(target)):
        arguments[EXTRA] = unread
    try:
        return target(**arguments)
    except TypeError as error:
        raise TypeError(f"{target.__name__}: {error}") from None


def write_object(value: Any) -> Any:
    """Return an instance of a class as JSON. Raises TypeError for other values.

    Of a dataclass, fields that are None are left out unless they are required; of a pydantic model, fields that were
    not set are.
    """
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        result: Object = {}
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if field.name == EXTRA:
                result = {**item, **result} if item else result
            elif item is not None or is_required(field):
                result[get_json_name(field)] = write_object(item)
        return result
    if isinstance(value, dict):
        return {str(name): write_object(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [write_object(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"{type(value).__name__} is not JSON")
