"""Checks the JSON of a schema: that each keyword has its JSON type, and that it does not nest too deeply.

A server has decoded definitions into typed structs before. This check is for schemas from other sources, so that no
walk meets a list in place of an object.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from podless.codec.serializer import is_deeper
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.meter import charge, each

# maximum depth: every walk recurses
MAX_DEPTH = 150

_STRINGS = (
    *("id", "$schema", "$ref", "description", "type", "format", "title", "pattern"),
    *("x-kubernetes-list-type", "x-kubernetes-map-type"),
)
_FLAGS = (
    *("nullable", "exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "x-kubernetes-preserve-unknown-fields"),
    *("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"),
)
_COUNTS = ("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties")
_OBJECTS = ("properties", "patternProperties", "definitions", "dependencies", "externalDocs", "not")
# keyword -> Python classes of its values
KEYWORD_TYPES: dict[str, tuple[type, ...]] = (
    dict.fromkeys(_STRINGS, (str,))
    | dict.fromkeys(_FLAGS, (bool,))
    | dict.fromkeys(_COUNTS, (int,))
    | dict.fromkeys(("maximum", "minimum", "multipleOf"), (int, float))
    | dict.fromkeys(_OBJECTS, (dict,))
    | dict.fromkeys(("allOf", "anyOf", "oneOf", "enum"), (list,))
    | {"additionalProperties": (dict, bool), "additionalItems": (dict, bool)}
)
_TEXTS = ("required", "x-kubernetes-list-map-keys")
_NOUNS = {str: "a string", bool: "a boolean", int: "an integer", float: "a number", dict: "an object", list: "an array"}


def check_shape(schema: Any, path: str, plain: Collection[int] = ()) -> list[FieldError]:
    """Return errors for keywords of the wrong JSON type, and for schemas that nest too deeply. Null counts as absent.

    plain: nodes to skip (schema/plain.py).
    """
    todo: list[tuple[Any, str, int]] = [(schema, path, 0)]
    errors: list[FieldError] = []
    while todo and not errors:
        node, at, depth = todo.pop()
        charge(1)
        if node.__class__ is not dict:
            errors.append(field.invalid(at, node, "must be an object"))
        elif depth > MAX_DEPTH:
            errors.append(field.invalid(at, "", f"must not nest deeper than {MAX_DEPTH} schemas"))
        else:
            errors += _check_keywords(node, at)
            if not errors and len(node) > 1:
                todo += [(child, at, depth + 1) for child in list_child_schemas(node, plain)]
    return errors


def _check_keywords(node: dict[str, Any], path: str) -> list[FieldError]:
    errors = []
    for name, value in each(node).items():
        expected = KEYWORD_TYPES.get(name)
        # the value itself is no level
        if name in ("default", "enum", "example") and is_deeper(value, MAX_DEPTH + 1):
            errors.append(field.invalid(f"{path}.{name}", "", f"must not nest deeper than {MAX_DEPTH} levels"))
        if value is None:
            continue
        if expected is not None and value.__class__ not in expected:
            errors.append(field.invalid(f"{path}.{name}", value, f"must be {_NOUNS[expected[0]]}"))
        elif name in _TEXTS and not are_texts(value):
            errors.append(field.invalid(f"{path}.{name}", value, "must be an array of strings"))
        elif name == "x-kubernetes-validations":
            errors += _check_rules(value, f"{path}.{name}")
    return errors


def are_texts(value: Any) -> bool:
    """Return whether a JSON value is a list of texts."""
    return value.__class__ is list and all(item.__class__ is str for item in each(value))


def _check_rules(value: Any, path: str) -> list[FieldError]:
    if value.__class__ is not list or not all(item.__class__ is dict for item in each(value)):
        return [field.invalid(path, value, "must be an array of objects")]
    texts = ("rule", "message", "messageExpression", "reason", "fieldPath")
    return [
        field.invalid(f"{path}[{index}].{name}", item[name], "must be a string")
        for index, item in enumerate(each(value))
        for name in each(texts)
        if item.get(name) is not None and item[name].__class__ is not str
    ]


def list_child_schemas(node: dict[str, Any], plain: Collection[int] = ()) -> list[Any]:
    """Return the schemas directly below a node, in the order in which a real server visits them; null counts as {}.

    plain: ids of nodes to skip.
    """
    items = node.get("items")
    children: list[Any] = [*each(items)] if items.__class__ is list else [items] if items.__class__ is dict else []
    for name in ("allOf", "anyOf", "oneOf"):
        if name in node:
            children += each(node[name] or ())
    if node.get("not") is not None:
        children.append(node["not"])
    if node.get("properties"):
        children += each(node["properties"]).values()
    for name in ("additionalProperties", "additionalItems"):
        if node.get(name).__class__ is dict:
            children.append(node[name])
    for name in ("patternProperties", "definitions"):
        if name in node:
            children += each(node[name] or {}).values()
    if node.get("dependencies"):
        children += [child for child in each(node["dependencies"]).values() if child.__class__ is dict]
    return [child or {} for child in children if id(child) not in plain]
