"""Compares values, and two states of an object by its shape.

Source: sigs.k8s.io/structured-merge-diff typed (compare).
"""

from __future__ import annotations

from itertools import compress, repeat
from operator import is_not
from typing import Any, NamedTuple, TypeVar

import orjson

from podless.codec import serializer
from podless.fields.check import check_value
from podless.fields.collect import collect_whole
from podless.fields.items import name_items
from podless.fields.sets import LEAF, Fields, unite_sets
from podless.fields.typed import ListShape, SchemaMisfit, Shape
from podless.runtime.meter import ONE_CHILD, charge


class Comparison(NamedTuple):
    """The fields that the second state no longer has, has with another value, or has in addition."""

    removed: Fields
    modified: Fields
    added: Fields


_T = TypeVar("_T", dict[str, Any], list[Any])
Nodes = tuple[Fields | None, Fields | None, Fields | None]
_ABSENT = object()
SAME: Nodes = (None, None, None)
_MODIFIED: Nodes = (None, LEAF, None)


def compare_values(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> Comparison:
    """Return the fields that a change removes, modifies and adds.

    Raises SchemaMisfit for a state that does not fit the shape, but only if the misfit is in a changed part.
    """
    removed, modified, added = compare_nodes(old, new, shape)
    return Comparison(removed or {}, modified or {}, added or {})


def compare_nodes(old: Any, new: Any, shape: Shape) -> Nodes:
    """Return the nodes that a value that exists in both states removes, modifies and adds."""
    if old is new:
        return SAME
    kind = old.__class__
    if kind is not new.__class__ or old is None:
        return SAME if old is None and new is None else _compare_types(old, new, shape)
    if old == new and _is_same_text(old, new):  # encoded, because 1 == True in Python
        return SAME
    if kind is dict and shape.map is not None:
        return _compare_maps(old, new, old, new, shape)
    if kind is list and shape.list is not None:
        return _compare_lists(old, new, old, new, shape)
    return _compare_leaves(old, new, shape)


def _is_same_text(old: Any, new: Any) -> bool:
    """Return whether equal values certainly have the same JSON."""
    try:
        return orjson.dumps(old) == orjson.dumps(new)
    except TypeError:  # nested too deep for the encoder, or a number past 64 bits
        return False


def _compare_leaves(old: Any, new: Any, shape: Shape) -> Nodes:
    is_equal = equal_values(old, new)
    if not (type(new) in shape.types or (is_equal and type(new) in (dict, list))):
        check_value(new, shape, repeats=True)
    return SAME if is_equal else _MODIFIED


def _compare_types(old: Any, new: Any, shape: Shape) -> Nodes:
    """Compare a value of another type, or null, under each type that it had. Raises SchemaMisfit for a wrong one."""
    if new is not None:
        check_value(new, shape, repeats=True)
    result = SAME
    for form in dict.fromkeys((shape.find_form(old), shape.find_form(new))):
        if form == "map" and shape.map is not None:
            nodes = _compare_maps(old, new, _cast_or_empty(dict, old), _cast_or_empty(dict, new), shape)
        elif form == "list" and shape.list is not None:
            nodes = _compare_lists(old, new, _cast_or_empty(list, old), _cast_or_empty(list, new), shape)
        else:
            nodes = _compare_leaves(old, new, shape)
        result = _unite_nodes(result, nodes)
    return result


def _cast_or_empty(kind: type[_T], value: Any) -> _T:
    return value if type(value) is kind else kind()


def _unite_nodes(left: Nodes, right: Nodes) -> Nodes:
    first, second, third = (
        a if b is None else b if a is None else unite_sets(a, b) for a, b in zip(left, right, strict=True)
    )
    return first, second, third


def _compare_maps(old: Any, new: Any, old_fields: dict[str, Any], new_fields: dict[str, Any], shape: Shape) -> Nodes:
    form = shape.map
    if form is None or form.atomic or not (old_fields or new_fields):
        return _compare_leaves(old, new, shape)
    children = form.children
    removed: Fields = {}
    modified: Fields = {}
    added: Fields = {}
    # declared fields with the identical value cannot differ
    differ = map(is_not, new_fields.values(), map(old_fields.get, new_fields, repeat(_ABSENT)))
    keys = [*compress(new_fields, differ)] if children.keys() >= new_fields.keys() else [*new_fields]
    if len(keys) > ONE_CHILD:
        charge(len(keys))
    for key in keys:
        item, old_item = new_fields[key], old_fields.get(key, _ABSENT)
        name, child_shape, _ = children.get(key) or form.find_child(key)
        if child_shape is None:
            raise SchemaMisfit(f".{key}: field not declared in schema")
        if old_item is _ABSENT:
            added[name] = LEAF if type(item) in child_shape.types else collect_whole(item, child_shape)
            continue
        if item.__class__ is old_item.__class__ in child_shape.types:
            if item != old_item:
                modified[name] = LEAF
            continue
        add_nodes(name, compare_nodes(old_item, item, child_shape), removed, modified, added)
    if len(new_fields) - len(added) < len(old_fields):
        if len(old_fields) > ONE_CHILD:
            charge(len(old_fields))
        for key, item in old_fields.items():
            if key not in new_fields:
                name, child_shape, _ = form.find_child(key)
                removed[name] = LEAF if child_shape is None else collect_whole(item, child_shape)
    return removed or None, modified or None, added or None


def add_nodes(name: str, nodes: Nodes, removed: Fields, modified: Fields, added: Fields) -> None:
    """Add the nodes of a field to those of the value that has it."""
    if nodes is SAME:
        return
    lost, changed, new = nodes
    if lost is not None:
        removed[name] = lost
    if changed is not None:
        modified[name] = changed
    if new is not None:
        added[name] = new


def _compare_lists(old: Any, new: Any, old_items: list[Any], new_items: list[Any], shape: Shape) -> Nodes:
    form = shape.list
    if form is None or not form.associative or not (old_items or new_items):
        return _compare_leaves(old, new, shape)
    charge(len(old_items) + len(new_items))
    before, after = _index_items(old_items, form), _index_items(new_items, form)
    removed: Fields = {}
    modified: Fields = {}
    added: Fields = {}
    for name in {**before, **after}:
        nodes = _compare_items(before.get(name, ()), after.get(name, ()), form.item)
        add_nodes(name, nodes, removed, modified, added)
    return removed or None, modified or None, added or None


def _index_items(items: list[Any], form: ListShape) -> dict[str, list[Any]]:
    result: dict[str, list[Any]] = {}
    for name, item in zip(name_items(form, items), items, strict=True):
        result.setdefault(name, []).append(item)
    return result


def _compare_items(before: Any, after: Any, shape: Shape) -> Nodes:
    """Compare all items with one path element. Duplicates count as one leaf together."""
    if len(before) <= 1 and len(after) <= 1:
        if not after:
            return collect_whole(before[0], shape), None, None
        return compare_nodes(before[0], after[0], shape) if before else (None, None, collect_whole(after[0], shape))
    if len(before) >= 2 and len(after) >= 2:
        return SAME if equal_values(before, after) else _MODIFIED
    if len(before) >= 2:
        return LEAF, None, collect_whole(after[0], shape) if after else None
    return collect_whole(before[0], shape) if before else None, None, LEAF


def equal_values(left: Any, right: Any) -> bool:
    """Return whether values are equal: numbers by value, but true is not 1."""
    if type(left) in (dict, list):
        if left is right:
            return True
        if left != right:
            return False
        if type(left) is dict and find_replaced(left, right) == []:
            return True
        if serializer.encode_for_comparison(left) == serializer.encode_for_comparison(right):  # the most frequent case
            return True
    if type(left) in (dict, list):
        charge(len(left))
    if type(left) is dict and type(right) is dict:
        return left.keys() == right.keys() and all(equal_values(item, right[name]) for name, item in left.items())
    if type(left) is list and type(right) is list:
        return len(left) == len(right) and all(map(equal_values, left, right))
    if type(left) is bool or type(right) is bool:
        return left is right
    return bool(left == right)


def find_replaced(new: dict[str, Any], old: dict[str, Any]) -> list[str] | None:
    """Return the keys whose values are not identical in two dicts; None if these have different keys."""
    if new.keys() != old.keys():
        return None
    return list(compress(new, map(is_not, new.values(), map(old.__getitem__, new))))
