"""Finds, in one walk, the parts of a schema that no rule for definitions can reject.

Most of a large definition is types, descriptions and simple limits. The walks that look for errors skip these parts; a
test checks that they find no error there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from podless.codec import serializer
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each
from podless.schema import formats, regex

_TYPES = frozenset(("array", "boolean", "integer", "number", "object", "string"))
_BYTES = 256  # bytes that are searched in the time of one step of a walk
_LONG = 1 << 18  # bytes of JSON from which on a walk, which can be suspended, is better
_DEEPEST = 50  # deeper parts are left to the walk that checks the depth


def _is_text(value: Any) -> bool:
    return value.__class__ is str


def _count(value: Any) -> bool:
    return value.__class__ is int


def _number(value: Any) -> bool:
    return value.__class__ is int or value.__class__ is float


def _flag(value: Any) -> bool:
    return value.__class__ is bool


def _texts(value: Any) -> bool:
    return value.__class__ is list and all(item.__class__ is str for item in each(value))


def _pattern(value: Any) -> bool:
    return value.__class__ is str and not regex.find_problem(value)


# keyword -> function that returns whether its value is valid at any place
_FINE: dict[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "maximum": _number,
    "minimum": _number,
    "maxLength": _count,
    "minLength": _count,
    "maxItems": _count,
    "minItems": _count,
    "required": _texts,
    "enum": _texts,
    "nullable": _flag,
    "pattern": _pattern,
}


def mentions_any(schema: Schema, *texts: bytes) -> bool:
    """Return whether the JSON of a schema contains one of the texts. This costs less than a walk."""
    encoded = _encode(schema)
    return encoded is None or any(text in encoded for text in each(texts))


def find_texts(schema: Schema, name: str) -> set[str] | None:
    """Return the texts under a name anywhere in the JSON of a schema, in its defaults and examples, too.

    This costs less than a walk. Returns None for a schema that nests too deeply, or is too long for one step.
    """
    encoded = _encode(schema)
    if encoded is None or len(encoded) > _LONG:
        return None
    found = re.findall(rb'"%b":("[^"\\]*+(?:\\.[^"\\]*+)*+")' % name.encode(), encoded)
    charge(len(encoded) // _BYTES)
    return {serializer.decode_json(text) for text in each(found)}


def _encode(schema: Schema) -> bytes | None:
    """Return the JSON of a schema, None if it nests too deeply."""
    try:
        return serializer.looked_at(schema)
    except RecursionError:
        return None


def find_plain_parts(schema: Schema) -> Collection[int]:
    """Return the ids of the nodes below the root that are certainly valid with all their children, in any position."""
    found: set[int] = set()
    _plain(schema, 0, found)
    found.discard(id(schema))  # the root has more rules
    return found


def _plain(node: Any, depth: int, found: set[int]) -> bool:
    """Return whether a node is plain. Adds the ids of its plain children to `found`."""
    charge(1)
    if node.__class__ is not dict or depth > _DEEPEST:
        return False
    kind = node.get("type")
    plain = kind.__class__ is str and kind in _TYPES and (kind != "array" or node.get("items").__class__ is dict)
    for name, value in each(node).items():
        if name == "type" or (name == "description" and value.__class__ is str):
            continue
        if name == "properties":
            if value.__class__ is not dict:
                return False
            for part in each(value).values():
                if not _plain(part, depth + 1, found):
                    plain = False
        elif name == "items" or name == "additionalProperties":
            if not _plain(value, depth + 1, found) or "properties" in node:
                plain = False
        elif name == "format":
            plain = plain and value.__class__ is str and formats.is_known(value, (kind or "",))
        else:
            fine = _FINE.get(name)
            if fine is None or not fine(value):
                plain = False
    if plain:
        found.add(id(node))
    return plain
