"""One node of an openAPIV3Schema, read once and in the form that the walks need.

Children are made when a walk first goes there, so that a schema nobody uses costs nothing beside its JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from podless.meta.meter import charge, each
from podless.meta.offloop import remember
from podless.meta.pairs import map_keys
from podless.schema import formats

EMPTY: dict[str, Any] = {}
# keywords that change nothing
_WORDS = frozenset(("description", "title", "example", "externalDocs"))
_JUNCTORS = frozenset(("allOf", "anyOf", "oneOf", "not"))


class Node:
    """A schema node.

    types: the JSON types that are allowed; none for any. format: the supported format, or "". additional: the node of
    additionalProperties when it is a schema; closed: additionalProperties is false; extra: it is given at all.
    preserve, embedded: the x-kubernetes extensions. raw: the JSON it was read from.

    With plain=True the types and formats are read as a real server does when it checks default values: formats are
    not narrowed to the supported ones and int-or-string is not a type.
    """

    __slots__ = (
        "_kids",
        "additional",
        "closed",
        "default",
        "embedded",
        "extra",
        "format",
        "int_or_string",
        "items",
        "list_keys",
        "list_type",
        "map_keys",
        "nullable",
        "plain",
        "preserve",
        "properties",
        "raw",
        "types",
    )

    def __init__(self, raw: dict[str, Any], plain: bool = False) -> None:
        self.raw = raw
        self.plain = plain
        self.int_or_string = bool(raw.get("x-kubernetes-int-or-string"))
        kind: str = raw.get("type") or ""
        if self.int_or_string and not plain:
            self.types: tuple[str, ...] = ("integer", "string")
        else:
            self.types = (kind,) if kind else ()
        name: str = raw.get("format") or ""
        self.format = name if plain else formats.narrow(name, self.types)
        self.nullable = bool(raw.get("nullable"))
        self.preserve = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = bool(raw.get("x-kubernetes-embedded-resource"))
        self.list_type: str = raw.get("x-kubernetes-list-type") or ""
        self.list_keys: list[str] = raw.get("x-kubernetes-list-map-keys") or []
        self.map_keys = map_keys(raw)
        self.properties: dict[str, Any] = raw.get("properties") or EMPTY
        additional = raw.get("additionalProperties")
        self.extra = additional is not None
        self.closed = additional is False
        self.additional = Node(additional, plain) if isinstance(additional, dict) else None
        items = raw.get("items")
        self.items = Node(items, plain) if isinstance(items, dict) else None
        self._kids: dict[str, Node] = {}
        self.default: Any = Node  # as default.given has it, in the place of Node

    def child(self, name: str) -> Node | None:
        """The node of a declared property, or None."""
        kid = self._kids.get(name)
        if kid is None and name in self.properties:
            kid = remember(self._kids, name, lambda: Node(self.properties[name] or {}, self.plain))
        return kid

    def children(self) -> Iterator[tuple[str, Node]]:
        """All declared properties with their nodes."""
        for name in each(self.properties):
            kid = self.child(name)
            assert kid is not None
            yield name, kid

    def field(self, name: str) -> Node | None:
        """The node that a field's value obeys: the property's, else that of additionalProperties."""
        return self.child(name) if name in self.properties else self.additional

    def below(self) -> Iterator[Node]:
        """The nodes of all parts that values have."""
        yield from (child for _, child in self.children())
        for part in (self.additional, self.items):
            if part is not None:
                yield part

    def branches(self, keyword: str) -> list[Node]:
        """The nodes under allOf, anyOf or oneOf."""
        return [Node(part or {}, self.plain) for part in each(self.raw.get(keyword) or ())]

    @property
    def refused(self) -> Node | None:
        """The node under not."""
        part = self.raw.get("not")
        return Node(part, self.plain) if isinstance(part, dict) else None

    @property
    def has_default(self) -> bool:
        """Whether a default value is given; null is none."""
        return self.raw.get("default") is not None


def copy(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, dict):
        charge(len(value))
        return {key: copy(item) for key, item in value.items()}
    if isinstance(value, list):
        charge(len(value))
        return [copy(item) for item in value]
    return value


def leaf(node: Node) -> bytes:
    """What a schema without parts says, to share its function with others that say the same; b"" if it has parts."""
    raw = {key: value for key, value in node.raw.items() if key not in _WORDS}
    if any(value.__class__ is dict and key != "default" for key, value in each(raw).items()):
        return b""
    return orjson.dumps(raw, option=orjson.OPT_SORT_KEYS) if not raw.keys() & _JUNCTORS else b""


def weigh(raw: Any, limit: int) -> int:
    """The number of nodes below a schema, counted up to a limit."""
    todo, count = [raw], 0
    while todo and count <= limit:
        part = todo.pop()
        charge(1)
        if not isinstance(part, dict):
            continue
        count += 1
        todo.extend((part.get("properties") or {}).values())
        todo += [part.get("items"), part.get("additionalProperties"), part.get("not")]
        for keyword in ("allOf", "anyOf", "oneOf"):
            todo.extend(part.get(keyword) or ())
    return count
