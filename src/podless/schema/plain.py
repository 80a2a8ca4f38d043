"""Finds, in one walk, the parts of a schema that no rule for definitions can reject.

Most of a large definition is types, descriptions and simple limits. The walks that look for errors skip these parts; a
test checks that they find no error there.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from podless.codec import serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each
from podless.schema import formats, regex, shape

_SIMPLE_TYPES = frozenset(("boolean", "integer", "number", "object", "string"))  # those that need no other keyword
_MAX_DEPTH = 50  # deeper parts are left to the walk that checks the depth
_NODES_PER_CHARGE = 64  # nodes and keywords that are charged together
# keywords whose value is valid at any place if it has the right JSON type; and those that are lists of texts
_VALID_ANYWHERE = frozenset(
    ("title", "maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "nullable")
)
_TEXT_LISTS = ("required", "enum")


def mentions_any(schema: Schema, *texts: bytes) -> bool:
    """Return whether the JSON of a schema contains one of the texts, or nests too deeply. It costs less than a walk."""
    try:
        encoded = serializer.encode_for_comparison(schema)
    except RecursionError:
        return True
    return any(encoded.rfind(text) >= 0 for text in each(texts))  # quicker than `in`


@dataclass(slots=True)
class PlainParts:
    """The result of one walk through a schema.

    ids: of the nodes below the root that are certainly valid with all their children, in any position. patterns: of all
    nodes that the walk reached, which are at least these and their parents. uncharged: nodes and keywords seen since
    the walk has charged.
    """

    ids: set[int] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    uncharged: int = 0


def find_plain_parts(schema: Schema) -> PlainParts:
    """Walk a schema, and return its plain parts."""
    plain_parts = PlainParts()
    _is_plain(schema, 0, plain_parts)
    plain_parts.ids.discard(id(schema))  # the root has more rules
    return plain_parts


def _is_plain(node: Any, depth: int, plain_parts: PlainParts) -> bool:
    """Return whether a node is plain. Adds its plain descendants to `plain_parts`."""
    if node.__class__ is not dict or depth > _MAX_DEPTH:
        return False
    plain_parts.uncharged += len(node) + 1
    if plain_parts.uncharged > _NODES_PER_CHARGE:
        charge(plain_parts.uncharged)
        plain_parts.uncharged = 0
    kind = node.get("type")
    plain = kind.__class__ is str and (
        kind in _SIMPLE_TYPES or (kind == "array" and node.get("items").__class__ is dict)
    )
    if plain and len(node) == 1:  # most nodes are only a type
        plain_parts.ids.add(id(node))
        return True
    for name, value in node.items():
        if name == "type" or (name == "description" and value.__class__ is str):
            continue
        if name == "properties":
            if value.__class__ is not dict:
                return False
            for child in value.values():
                if not _is_plain(child, depth + 1, plain_parts):
                    plain = False
        elif name == "items" or name == "additionalProperties":
            if not _is_plain(value, depth + 1, plain_parts) or "properties" in node:
                plain = False
        elif name == "format":
            plain = plain and value.__class__ is str and formats.is_known(value, (kind or "",))
        elif name == "pattern":
            if value.__class__ is str and not regex.find_problem(value):
                plain_parts.patterns.add(value)
            else:
                plain = False
        elif name in _TEXT_LISTS:
            plain = plain and shape.are_texts(value)
        elif name not in _VALID_ANYWHERE or value.__class__ not in shape.KEYWORD_TYPES[name]:
            plain = False
    if plain:
        plain_parts.ids.add(id(node))
    return plain
