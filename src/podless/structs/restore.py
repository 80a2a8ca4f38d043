"""Converts generic values to their struct as a Go server does, without JSON.

Strategic merge patches and applies work on generic values. The converter walks the struct's fields, not the document,
has its own error texts, and truncates integers to the size of their type. Source: pkg/runtime/converter.go of
k8s.io/apimachinery, as recorded.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from operator import is_
from typing import Any

from podless.codec import jsontext
from podless.codec.gotext import MAX_INT64, MIN_INT64
from podless.runtime.meter import each
from podless.structs.gotypes import Bool, Bytes, Float, GoType, Int, ListOf, MapOf, Mismatch, String
from podless.structs.structs import Struct

_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice", dict: "map"}
# scalar type -> its Go kind, and the kinds that Go could convert to it, although the converter does not
_SCALARS: dict[type[GoType], tuple[str, tuple[type, ...]]] = {
    String: ("string", (int,)),
    Bool: ("bool", ()),
    Int: ("", ()),
    Float: ("float64", ()),
}
_FITS: dict[type[GoType], tuple[type, ...]] = {String: (str,), Bool: (bool,), Float: (int, float)}


class Misfit(ValueError):
    """A value does not fit its struct; the text is Go's."""


def restore_value(kind: GoType, value: Any) -> Any:
    """Return the value converted to its type. Parts that fit are shared.

    Raises Misfit for the first part that does not fit, in the order of the struct.
    """
    if value is None:
        return None
    if type(kind) in _SCALARS:
        return _restore_scalar(kind, value)
    form = type(value)
    if isinstance(kind, Struct):
        if form is not dict:
            raise Misfit(f"cannot restore struct from: {_KINDS[form]}")
        return _restore_fields(value, ((field.name, field.type) for field in kind if field.name in value))
    if isinstance(kind, MapOf):
        if form is not dict:
            raise Misfit(f"cannot restore map from {_KINDS[form]}")
        return _restore_fields(value, ((name, kind.item) for name in each(value)))
    if isinstance(kind, ListOf):
        if form is not list:
            raise Misfit(f"cannot restore slice from {_KINDS[form]}")
        read = [restore_value(kind.item, item) for item in each(value)]
        return value if all(map(is_, read, value)) else read
    return _restore_self_decoding(kind, value)


def _restore_fields(value: dict[str, Any], types: Iterable[tuple[str, GoType]]) -> dict[str, Any]:
    changed = {}
    for name, kind in types:
        item = value[name]
        read = restore_value(kind, item)
        if read is not item:
            changed[name] = read
    return {**value, **changed} if changed else value


def _restore_scalar(kind: GoType, value: Any) -> Any:
    if isinstance(kind, Int):
        return _restore_integer(value, kind.limit, kind.go)
    form, name = type(value), type(kind)
    if form in _FITS[name]:
        return value
    if form in _SCALARS[name][1]:
        raise Misfit(f"cannot convert {_KINDS[form]} to {kind.go}")
    raise Misfit(f"unrecognized type: {_SCALARS[name][0]}")


def _restore_integer(value: Any, limit: int, go: str) -> int:
    """Return a number as an integer: the lower bits of a large one, and -2^63 for a float beyond 64 bits."""
    form = type(value)
    if form not in (int, float):
        raise Misfit(f"unrecognized type: {go}")
    if form is float and value != math.trunc(value):
        raise Misfit(f"cannot convert float64 to {go}")
    integer = int(value)
    if not MIN_INT64 <= integer <= MAX_INT64:
        integer = MIN_INT64
    return integer if -limit <= integer < limit else (integer + limit) % (2 * limit) - limit


def _restore_self_decoding(kind: GoType, value: Any) -> Any:
    """Return the value of a type that decodes itself from JSON, or of bytes."""
    if isinstance(kind, Bytes) and type(value) is list:
        read = [0 if item is None else _restore_integer(item, MAX_INT64 + 1, "uint8") % 256 for item in each(value)]
        return base64.b64encode(bytes(read)).decode()
    if isinstance(kind, Bytes) and type(value) is not str:
        raise Misfit(f"cannot restore slice from {_KINDS[type(value)]}")
    if type(value) is float:  # such a type gets JSON as Go writes it
        value = jsontext.settle_number(value)
    try:
        kind.read_value(value, [])
    except Mismatch as error:
        raise Misfit(f"error decoding from json: {error}" if isinstance(kind, Bytes) else str(error)) from None
    return value
