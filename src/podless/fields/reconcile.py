"""Adapts field sets to a changed schema.

Source: sigs.k8s.io/structured-merge-diff typed (reconcile): if a list or map has become one leaf, owners of its parts
own it as a whole. The other direction changes nothing, and neither does a map that declares no type of any field.
"""

from __future__ import annotations

from podless.fields.sets import LEAF, SELF, Fields, is_member
from podless.fields.typed import DEDUCED, ListShape, MapShape, Shape
from podless.runtime.meter import MAX_UNCHARGED, charge


def reconcile_set(fields: Fields, shape: Shape) -> Fields:
    """Return the set under the present schema: the same object if nothing changes."""
    if not fields:
        return fields
    if shape.map is not None:
        return _reconcile_map(fields, shape.map)
    return _reconcile_list(fields, shape.list) if shape.list is not None else fields


def _reconcile_map(node: Fields, form: MapShape) -> Fields:
    if form.atomic:
        return node if form.free else LEAF
    changed: Fields = {}
    if len(node) > MAX_UNCHARGED:
        charge(len(node))
    for name, child in node.items():
        if child and name[:2] == "f:":
            _, shape, _ = form.find_child(name[2:])
            if shape is None or shape is DEDUCED:
                continue
            reconciled = reconcile_set(child, shape)
            if reconciled is not child:
                changed[name] = reconciled
    return {**node, **changed} if changed else node


def _reconcile_list(node: Fields, form: ListShape) -> Fields:
    if not form.associative:
        return LEAF
    changed: Fields = {}
    if len(node) > MAX_UNCHARGED:
        charge(len(node))
    for name, child in node.items():
        if child and name != SELF:
            reconciled = reconcile_set(child, form.item)
            if reconciled is not child:
                changed[name] = reconciled
    return {**node, **changed} if changed else node


def name_members(fields: Fields, shape: Shape | None) -> Fields:
    """Return the set with the declared fields that lead to its members.

    Removing fields needs them: an object goes with the last of its fields. Source: fieldpath's sets of named fields.
    """
    named: Fields = {}
    form = shape.map if shape is not None else None
    charge(len(fields))
    for name, node in fields.items():
        if name == SELF or not node:
            named[name] = node
            continue
        child_shape: Shape | None = None
        declared = False
        if form is not None and name[:2] == "f:":
            _, child_shape, declared = form.find_child(name[2:])
        elif shape is not None and shape.list is not None and name[:2] == "k:":
            child_shape = shape.list.item
        child = name_members(node, child_shape)
        named[name] = child if is_member(node) or not declared else {SELF: LEAF, **child}
    return named
