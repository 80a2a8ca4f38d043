"""What a Go server says where a patched document does not fit its struct.

A strategic merge patch is applied to a tree of generic values, which a converter turns into the struct without a trip
through JSON: it goes by the struct's fields rather than by the document, and has words of its own.
Source: pkg/runtime/converter.go of k8s.io/apimachinery, as recorded.
"""

from __future__ import annotations

from typing import Any

from podless.meta.structs import Bool, Bytes, Float, Int, ListOf, MapOf, Mismatch, String, Struct, Type

_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice", dict: "map"}
# scalar -> the Go kind of its type, and the kinds of values that Go could convert though the converter does not
_SCALARS: dict[type[Type], tuple[str, tuple[type, ...]]] = {
    String: ("string", (int,)),
    Bool: ("bool", ()),
    Int: ("", (float,)),
    Float: ("float64", ()),
}
_FITS: dict[type[Type], tuple[type, ...]] = {String: (str,), Bool: (bool,), Int: (int,), Float: (int, float)}


def fault(struct: Struct, value: Any) -> str:
    """The first thing that does not fit, in the order of the struct; "" where everything does."""
    return _fault(struct, value)


def _fault(kind: Type, value: Any) -> str:
    if value is None:
        return ""
    form = type(value)
    if type(kind) in _SCALARS:
        return _scalar(kind, value)
    if isinstance(kind, Struct):
        if form is not dict:
            return f"cannot restore struct from: {_KINDS[form]}"
        found = (_fault(field.type, value.get(field.name)) for field in kind)
    elif isinstance(kind, MapOf):
        if form is not dict:
            return f"cannot restore map from {_KINDS[form]}"
        found = (_fault(kind.item, item) for item in value.values())
    elif isinstance(kind, ListOf):
        if form is not list:
            return f"cannot restore slice from {_KINDS[form]}"
        found = (_fault(kind.item, item) for item in value)
    else:
        return _own(kind, value)
    return next(filter(None, found), "")


def _scalar(kind: Type, value: Any) -> str:
    form, name = type(value), type(kind)
    if form in _FITS[name] or (name is Int and form is float and value == int(value)):
        return ""
    go, convertible = _SCALARS[name]
    if form in convertible:
        return f"cannot convert {_KINDS[form]} to {kind.go}"
    return f"unrecognized type: {go or kind.go}"


def _own(kind: Type, value: Any) -> str:
    """A type that decodes itself from JSON, or bytes."""
    if isinstance(kind, Bytes) and type(value) is not str:
        return f"cannot restore slice from {_KINDS[type(value)]}"
    try:
        kind.read(value, [])
    except Mismatch as error:
        return f"error decoding from json: {error}" if isinstance(kind, Bytes) else str(error)
    return ""
