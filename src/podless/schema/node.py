"""The nodes of an openAPIV3Schema, in the form that the walks need.

Children are created when a walk first needs them, so an unused schema takes no memory besides its JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import orjson

from podless.runtime.memo import find_value, remember_value
from podless.runtime.meter import charge, each
from podless.schema import formats
from podless.schema.enums import Enum
from podless.schema.regex import Matcher, make_matcher

EMPTY: dict[str, Any] = {}
_NO_KEYS: list[str] = []
# the types of a node, which nodes share
_TYPES = {name: (name,) for name in ("object", "array", "string", "integer", "number", "boolean")}
# the class of a value by its type
CLASSES = {"object": "dict", "array": "list", "string": "str", "boolean": "bool", "integer": "int", "number": "number"}
_INT_OR_STRING = ("integer", "string")
# keywords that do not affect the walk of a value; the object above it fills in its default
_ANNOTATIONS = frozenset(("default", "description", "title", "example", "externalDocs"))
_JUNCTORS = frozenset(("allOf", "anyOf", "oneOf", "not"))
_CHILDREN = frozenset(("additionalProperties", "items", "properties"))
_DEEP = _JUNCTORS | _CHILDREN
# keys of lazy values in _cached; tuples, because the other keys are names of properties
_DEFAULTED, _PLACES, _NOT, _ENUM, _KEY = ("defaulted",), ("places",), ("not",), ("enum",), ("key",)
_NODE_STEPS = 8  # steps on the meter for a new node
# if a node has more than 8 properties for each field of an object, the fields are looked up, not the properties
_FEW_PER_FIELD = 8


class Node:
    """A schema node.

    types: the allowed JSON types; empty for any. format: the supported format, or "". additional: the node of
    additionalProperties if it is a schema; closed: additionalProperties is false; has_additional: it is set. preserve,
    embedded: the x-kubernetes extensions. deep: there are nodes below. raw: the JSON that it was read from.

    plain: read types and formats as a real server does when it checks default values. It does not narrow formats to the
    supported ones, and int-or-string is not a type.
    """

    __slots__ = (
        "_cached", "additional", "closed", "deep", "default", "embedded", "format", "has_additional", "int_or_string",
        "items", "list_keys", "list_type", "nullable", "plain", "preserve", "properties", "raw", "types",
    )  # fmt: skip

    def __init__(self, raw: dict[str, Any], plain: bool = False) -> None:
        charge(_NODE_STEPS)
        self.raw = raw
        self.plain = plain
        self.int_or_string = bool(raw.get("x-kubernetes-int-or-string"))
        kind: str = raw.get("type") or ""
        if self.int_or_string and not plain:
            self.types: tuple[str, ...] = _INT_OR_STRING
        else:
            self.types = _TYPES.get(kind) or ((kind,) if kind else ())
        name: str = raw.get("format") or ""
        self.format = name if plain else formats.narrow_format(name, self.types)
        self.deep = not _DEEP.isdisjoint(raw)
        self.nullable = bool(raw.get("nullable"))
        self.preserve = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = bool(raw.get("x-kubernetes-embedded-resource"))
        self.list_type: str = raw.get("x-kubernetes-list-type") or ""
        self.list_keys: list[str] = raw.get("x-kubernetes-list-map-keys") or _NO_KEYS
        self.properties: dict[str, Any] = raw.get("properties") or EMPTY
        additional = raw.get("additionalProperties")
        self.has_additional = additional is not None
        self.closed = additional is False
        self.additional = Node(additional, plain) if isinstance(additional, dict) else None
        items = raw.get("items")
        self.items = Node(items, plain) if isinstance(items, dict) else None
        self._cached: dict[Any, Any] = {}  # nodes by property name, and lazy values by tuple
        self.default: tuple[Any, int] | None = None  # the own default (see defaulting.get_own_default), and its bytes

    def find_child(self, name: str) -> Node | None:
        """Return the node of a declared property, or None."""
        child: Node | None = self._cached.get(name)
        if child is None and name in self.properties:
            child = remember_value(self._cached, name, lambda: Node(self.properties[name] or {}, self.plain))
        return child

    def iterate_properties(self) -> Iterator[tuple[str, Node]]:
        """Yield (name, node) for all declared properties."""
        for name in each(self.properties):
            child = self.find_child(name)
            assert child is not None
            yield name, child

    @property
    def defaulted(self) -> tuple[tuple[str, Node], ...]:
        """The declared properties that have a default, with their nodes."""
        nodes: tuple[tuple[str, Node], ...] = self._make_once(_DEFAULTED, self._list_defaulted)
        return nodes

    def _list_defaulted(self) -> tuple[tuple[str, Node], ...]:
        names = [name for name, raw in each(self.properties).items() if raw and raw.get("default") is not None]
        return tuple((name, child) for name in each(names) if (child := self.find_child(name)) is not None)

    def list_declared(self, value: dict[str, Any]) -> list[str]:
        """Return the declared properties that an object has, in the order of their declaration."""
        properties = self.properties
        if len(properties) <= _FEW_PER_FIELD * len(value) + _FEW_PER_FIELD:
            return [name for name in each(properties) if name in value]
        places = self._make_once(_PLACES, lambda: {name: index for index, name in enumerate(each(properties))})
        return sorted((name for name in each(value) if name in places), key=places.__getitem__)

    def find_field(self, name: str) -> Node | None:
        """Return the node for a field's value: that of the property, else that of additionalProperties."""
        return self.find_child(name) if name in self.properties else self.additional

    def iterate_children(self) -> Iterator[Node]:
        """Yield the nodes of all properties, additional properties and items."""
        yield from (child for _, child in self.iterate_properties())
        for node in (self.additional, self.items):
            if node is not None:
                yield node

    def list_branches(self, keyword: str) -> Sequence[Node]:
        """Return the nodes under allOf, anyOf or oneOf."""
        branches = self.raw.get(keyword)
        if not branches:
            return ()
        nodes: Sequence[Node] = self._make_once(
            (keyword,), lambda: tuple(Node(branch or {}, self.plain) for branch in each(branches))
        )
        return nodes

    @property
    def not_node(self) -> Node | None:
        """The node under not."""
        schema = self.raw.get("not")
        return self._make_once(_NOT, lambda: Node(schema, self.plain)) if isinstance(schema, dict) else None

    @property
    def enum(self) -> Enum | None:
        """The allowed values, None if there is no enum."""
        allowed = self.raw.get("enum")
        return self._make_once(_ENUM, lambda: Enum(allowed)) if allowed else None

    @property
    def pattern(self) -> Matcher | None:
        """The matcher of the pattern, None without one. The whole process shares it."""
        text = self.raw.get("pattern")
        return make_matcher(text) if text else None

    def _make_once(self, key: tuple[str], make: Callable[[], Any]) -> Any:
        """Return a value that is computed once for this node."""
        cached = self._cached.get(key)
        return cached if cached is not None else remember_value(self._cached, key, make)

    @property
    def has_default(self) -> bool:
        """Whether the node has a default value that is not null."""
        return self.raw.get("default") is not None


def copy_value(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    if isinstance(value, dict):
        charge(len(value) + 1)
        return {key: copy_value(item) for key, item in value.items()}
    if isinstance(value, list):
        charge(len(value) + 1)
        return [copy_value(item) for item in value]
    return value


def make_leaf_key(node: Node) -> bytes:
    """Return the keywords of a schema without children, as a key to share its function; b"" if it has children."""
    raw = {key: value for key, value in node.raw.items() if key not in _ANNOTATIONS}
    if any(value.__class__ is dict for value in each(raw).values()):
        return b""
    return orjson.dumps(raw, option=orjson.OPT_SORT_KEYS) if not raw.keys() & _JUNCTORS else b""


def find_key(node: Node) -> bytes:
    """Return the key that nodes with equal rules share, whatever their own default is. b"" before `note_keys`."""
    return find_value(node._cached, _KEY) or make_leaf_key(node)


def note_keys(node: Node) -> None:
    """Make the keys of a node and of all nodes below it that have children. It takes a few microseconds a node."""
    nodes = [node] if find_value(node._cached, _KEY) is None else []
    for parent in nodes:
        charge(1)
        nodes += [child for child in parent.iterate_children() if child.deep and not find_value(child._cached, _KEY)]
    for parent in reversed(nodes):
        remember_value(parent._cached, _KEY, partial(_make_key, parent))


def _make_key(node: Node) -> bytes:
    """Return a digest of a node's rules, and of the keys and defaults of its children."""
    rules = {key: value for key, value in node.raw.items() if key not in _ANNOTATIONS and key not in _CHILDREN}
    fields = {name: _describe_child(child) for name, child in node.iterate_properties()}
    others = [_describe_child(part) if part is not None else None for part in (node.additional, node.items)]
    content = rules, fields, others, node.has_additional, node.closed
    return blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest().encode()


def _describe_child(node: Node) -> tuple[Any, orjson.Fragment]:
    charge(_NODE_STEPS)
    key = find_key(node) or orjson.dumps(node.raw, option=orjson.OPT_SORT_KEYS)
    return node.raw.get("default"), orjson.Fragment(key)


def count_nodes(raw: Any, limit: int) -> int:
    """Return the number of nodes below a schema, counted up to a limit."""
    todo, count = [raw], 0
    while todo and count <= limit:
        node = todo.pop()
        charge(1)
        if not isinstance(node, dict):
            continue
        count += 1
        properties = node.get("properties") or {}
        if len(properties) > limit:
            return limit + 1
        todo.extend(properties.values())
        todo += [node.get("items"), node.get("additionalProperties"), node.get("not")]
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = node.get(keyword) or ()
            if len(branches) > limit:
                return limit + 1
            todo.extend(branches)
    return count
