"""Field sets, as managed fields keep them, their path elements, and their algebra.

A set is the decoded FieldsV1 itself, {"f:spec": {".": {}, "f:size": {}}}: its keys are path elements, and each value is
a node. The empty node is a member without members below. A node with "." is a member with members below. A node without
it is no member, it only leads to some. So nothing is converted between storage and algebra. Sets are shared freely: no
function here changes its arguments.

An element is one step from a value into it: f:name is a field, k:{"name":"x"} the item of a list with these keys, v:"x"
the item of a set, i:0 an index. Source: sigs.k8s.io/structured-merge-diff fieldpath, FieldsV1 of the API documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.codec import gotext, serializer
from podless.runtime.meter import MAX_UNCHARGED, charge, each
from podless.runtime.sorting import sort_texts

Fields = dict[str, Any]
Path = tuple[str, ...]

SELF = "."
LEAF: Fields = {}  # the node of a member without members below; shared, so never change it
_FIELD, _KEY, _VALUE, _INDEX, _UNKNOWN = range(5)
_KINDS = {"f:": _FIELD, "k:": _KEY, "v:": _VALUE, "i:": _INDEX}


def make_set(*paths: Path) -> Fields:
    """Return the set of some paths."""
    result: Fields = {}
    for path in paths:
        node: Fields = LEAF
        for element in reversed(path):
            node = {element: node}
        result = unite_sets(result, node)
    return result


def is_member(node: Fields) -> bool:
    """Return whether the field of a node is in the set, not only fields below it."""
    return not node or SELF in node


def mark_member(node: Fields | None) -> Fields:
    """Return a node (None for none) with its own field as a member."""
    if not node:
        return LEAF
    return node if SELF in node else {SELF: LEAF, **node}


def _make_node(is_member: bool, children: Fields) -> Fields | None:
    """Return a node made of its parts; None if nothing is left."""
    if not is_member:
        return children or None
    return {SELF: LEAF, **children} if children else LEAF


def has_path(fields: Fields, path: Path) -> bool:
    """Return whether a path is in the set."""
    for element in path:
        if element not in fields:
            return False
        fields = fields[element]
    return bool(path) and is_member(fields)


def list_paths(fields: Fields, base: Path = ()) -> Iterator[Path]:
    """Yield the paths in the set, in its order: first the members of a level, then those below each."""
    charge(len(fields))
    names = sort_texts([name for name in fields if name != SELF], rank_element)
    for name in names:
        if is_member(fields[name]):
            yield *base, name
    for name in names:
        if fields[name]:
            yield from list_paths(fields[name], (*base, name))


def unite_sets(left: Fields, right: Fields) -> Fields:
    """Return the union of two sets."""
    if not right or not left:
        return left or right
    merged = dict(left)
    for name, node in right.items():
        present = merged.get(name)
        merged[name] = node if present is None else _unite_below(present, node)
    return merged


def _unite_below(left: Fields, right: Fields) -> Fields:
    if not left:
        return mark_member(right)
    return unite_sets(left, right) if right else mark_member(left)


def unite_nodes(nodes: list[Fields]) -> Fields:
    """Return the union of several nodes, visiting each once."""
    if len(nodes) == 1:
        return nodes[0]
    children: dict[str, list[Fields]] = {}
    charge(len(nodes))
    for node in nodes:
        for name, child in each(node).items():
            if name != SELF:
                children.setdefault(name, []).append(child)
    joined = {name: unite_nodes(child) for name, child in children.items()}
    return _make_node(any(map(is_member, nodes)), joined) or LEAF


def unite_all(several: list[Fields]) -> Fields:
    """Return the union of several sets."""
    several = [fields for fields in several if fields]
    return unite_nodes(several) if several else {}


def intersect_sets(left: Fields, right: Fields) -> Fields:
    """Return the intersection of two sets."""
    shared: Fields = {}
    for name in left.keys() & right.keys():
        if name == SELF:
            continue
        node, other_node = left[name], right[name]
        if not node or not other_node:
            if is_member(node) and is_member(other_node):
                shared[name] = LEAF
            continue
        common = _make_node(SELF in node and SELF in other_node, intersect_sets(node, other_node))
        if common is not None:
            shared[name] = common
    return shared


def contains_set(left: Fields, right: Fields) -> bool:
    """Return whether the first set contains all members of the second."""
    if not left.keys() >= right.keys():
        return False
    for name, node in right.items():
        own_node = left[name]
        if node:  # a node's own membership is the key "." in it
            if node is not own_node and not contains_set(own_node, node):
                return False
        elif own_node and SELF not in own_node:
            return False
    return True


def subtract_set(left: Fields, right: Fields) -> Fields:
    """Return the first set without the members of the second. Fields below a member of the second stay."""
    remaining = left.copy()
    remaining.pop(SELF, None)
    for name in remaining.keys() & right.keys():
        node, removed = remaining[name], right[name]
        if node:
            kept_node = _make_node(is_member(node) and not is_member(removed), subtract_set(node, removed))
        else:
            kept_node = None if is_member(removed) else node
        if kept_node is None:
            del remaining[name]
        else:
            remaining[name] = kept_node
    return remaining


def subtract_below(left: Fields, right: Fields) -> Fields:
    """Return the first set without the members of the second and without everything below them."""
    remaining: Fields = {}
    for name, node in left.items():
        if name == SELF:
            continue
        removed = right.get(name)
        if removed is None:
            remaining[name] = node
        elif not is_member(removed):
            kept_node = _make_node(is_member(node), subtract_below(node, removed))
            if kept_node is not None:
                remaining[name] = kept_node
    return remaining


def parse_set(raw: Any) -> Fields:
    """Return the set in a client's FieldsV1, in canonical form; None is the empty set. Raises ValueError."""
    if raw is None:
        return {}
    fields, _ = _parse_node(raw)
    return fields


def _parse_node(raw: Any) -> tuple[Fields, bool]:
    """Return the set below a node, and whether the node is a member: it has ".", or nothing below."""
    if raw is None:
        return {}, True
    if not isinstance(raw, dict):
        raise ValueError("a set of fields is an object")
    children: dict[str, list[Fields]] = {}
    is_marked = False
    charge(len(raw))
    for text, item in raw.items():
        if text == SELF:
            is_marked = True
            continue
        if not (name := parse_element(text)):
            continue
        child, is_member = _parse_node(item)
        node = _make_node(is_member, child)
        if node is not None:
            children.setdefault(name, []).append(node)
    return {name: unite_nodes(nodes) for name, nodes in children.items()}, is_marked or not children


def order_set(fields: Fields) -> Fields:
    """Return the set with its elements in the order in which a real server writes them."""
    if len(fields) < 2:
        return {name: order_set(node) for name, node in fields.items()} if fields else fields
    if len(fields) > MAX_UNCHARGED:
        charge(len(fields))
    names = sort_texts([name for name in fields if name != SELF], rank_element)
    ordered: Fields = {SELF: LEAF} if SELF in fields else {}
    for name in names:
        ordered[name] = order_set(fields[name])
    return ordered


def make_key_element(keys: dict[str, Any]) -> str:
    """Return the element of a list item with these key fields."""
    return f"k:{encode_compact(keys)}"


def make_value_element(value: Any) -> str:
    """Return the element of an item of a set."""
    return f"v:{encode_compact(value)}"


def encode_compact(value: Any) -> str:
    """Return compact JSON with sorted keys."""
    return serializer.encode_sorted(value).decode()


def parse_element(text: str) -> str:
    """Return an element in canonical form: keys sorted, numbers as Go prints them. Raises ValueError.

    Elements of a kind that this version of the format lacks are "": they are dropped.
    """
    kind = _KINDS.get(text[:2])
    if kind == _FIELD:
        return text
    if len(text) < 2 or text[1] != ":":
        raise ValueError(f"not a path element: {text}")
    if kind is None:
        return ""
    if kind == _INDEX:
        return f"i:{gotext.parse_int(text[2:], name='Atoi')}"
    try:
        value = serializer.decode_json(text[2:].encode())
    except serializer.JSONError as error:
        raise ValueError(str(error)) from None
    if kind == _VALUE:
        return make_value_element(value)
    if not isinstance(value, dict):
        raise ValueError(f"not a path element: {text}")
    return make_key_element(value)


def rank_element(text: str) -> tuple[Any, ...]:
    """Return the sort key of an element: fields, then keys, values and indices, each by its content."""
    kind = _KINDS.get(text[:2], _UNKNOWN)
    if kind == _FIELD:
        return _FIELD, text
    if kind == _INDEX:
        return _INDEX, gotext.parse_natural(text[2:]) if text[2:].isdecimal() else 0
    value = serializer.decode_json(text[2:].encode())
    if kind == _KEY:
        return _KEY, tuple((name, _sort_key(item)) for name, item in sorted(value.items()))
    return kind, _sort_key(value)


def _sort_key(value: Any) -> tuple[Any, ...]:
    """Return a sort key: numbers, texts, booleans, lists, objects, null."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, (int, float)):
        return 0, value
    if isinstance(value, str):
        return 1, value
    if isinstance(value, list):
        return 3, tuple(map(_sort_key, each(value)))
    if isinstance(value, dict):
        return 4, tuple((name, _sort_key(item)) for name, item in sorted(each(value).items()))
    return (5,)


def format_element_path(path: tuple[str, ...]) -> str:
    """Return a path as messages show it: .spec.ports[name="http"].port."""
    return "".join(map(_show_element, path))


def _show_element(text: str) -> str:
    kind = _KINDS.get(text[:2])
    if kind == _FIELD:
        return f".{text[2:]}"
    if kind == _INDEX:
        return f"[{text[2:]}]"
    value = serializer.decode_json(text[2:].encode())
    if kind == _VALUE:
        return f"[={_print_value(value)}]"
    return "[" + ",".join(f"{name}={_print_value(item)}" for name, item in value.items()) + "]"


def _print_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ",".join(map(_print_value, each(value))) + "]"
    if isinstance(value, dict):
        return "".join(f"{name}={_print_value(item)}" for name, item in each(value).items())
    return gotext.format_value(value)
