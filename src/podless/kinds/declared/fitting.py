"""Checks whether the value of another field, of an expression, or a default fits into a field."""

from __future__ import annotations

from typing import Any, Final

from podless.cel.types import Type
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge
from podless.schema import Schema

_EITHER: Final = "int-or-string"
# CEL types that fit into a field, by the field's type; dyn fits into all
_KINDS: Final = {
    "string": ("string", "timestamp", "duration", "bytes"),
    "integer": ("int", "uint"),
    "number": ("double", "int", "uint"),
    "boolean": ("bool",),
    "array": ("list",),
    "object": ("map", "struct"),
    _EITHER: ("string", "int", "uint"),
}
_SCALARS: Final = ("bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp", "null")
_WITH_JSON: Final = (*_SCALARS, "list", "map", "dyn", "param")
_OBJECT: Final = "selfType"  # names of object types begin with this (cel/declared.py)


def _type_of(node: Object) -> str:
    """Return the type of a field, "" for any."""
    return _EITHER if node.get("x-kubernetes-int-or-string") else node.get("type") or ""


def check_move(source: Object, target: Object) -> str:
    """Return why a field cannot move to another one, judged by their types; "" if it can."""
    todo = [(source, target, "")]
    while todo:
        charge(1)
        one, other, at = todo.pop()
        given, wanted = _type_of(one), _type_of(other)
        if not given or not wanted:
            continue
        if given != wanted and (given, wanted) not in _WIDER:
            where = f" at {at.removeprefix('.')}" if at else ""
            return f"it is of type {given}, and the field of type {wanted}{where}"
        for keyword, mark in (("items", "[*]"), ("additionalProperties", "[*]")):
            pair = one.get(keyword), other.get(keyword)
            if isinstance(pair[0], dict) and isinstance(pair[1], dict):
                todo.append((pair[0], pair[1], at + mark))
        more = other.get("properties") or {}
        for name, part in (one.get("properties") or {}).items():
            if name in more:
                todo.append((part, more[name], f"{at}.{name}"))
    return ""


_WIDER: Final = (("integer", "number"), ("integer", _EITHER), ("string", _EITHER))


def check_value(type_: Type, node: Object) -> str:
    """Return why values of a CEL type do not fit into a field; "" if they do."""
    while type_.kind == "opaque" and type_.name == "optional_type":
        type_ = type_.params[0]
    if type_.kind not in _WITH_JSON and type_.name != "wrapper" and not type_.name.startswith(_OBJECT):
        return f"the expression must have a value with a form in JSON, and not {type_}"
    wanted = _type_of(node)
    if type_.kind in ("dyn", "param") or not wanted:
        return ""
    if type_.kind == "null":
        return "" if node.get("nullable") else "the field is not nullable"
    if type_.kind in _KINDS.get(wanted, ()) or type_.name == "wrapper":
        return ""
    return f"the expression is of type {type_}, and the field of type {wanted}"


def check_default(node: Object, value: Any) -> str:
    """Return why a value does not fit into a field; "" if it does."""
    if not node:
        return ""
    schema = Schema.compile({"type": "object", "properties": {"value": node}})
    given = {"value": value}
    errors = schema.validate(given)
    return errors[0].body if errors else ""
