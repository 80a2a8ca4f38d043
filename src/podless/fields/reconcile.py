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
    for name, inner in node.items():
        if inner and name[:2] == "f:":
            _, shape, _ = form.find_child(name[2:])
            if shape is None or shape is DEDUCED:
                continue
            kept = reconcile_set(inner, shape)
            if kept is not inner:
                changed[name] = kept
    return {**node, **changed} if changed else node


def _reconcile_list(node: Fields, form: ListShape) -> Fields:
    if not form.associative:
        return LEAF
    changed: Fields = {}
    if len(node) > MAX_UNCHARGED:
        charge(len(node))
    for name, inner in node.items():
        if inner and name != SELF:
            kept = reconcile_set(inner, form.item)
            if kept is not inner:
                changed[name] = kept
    return {**node, **changed} if changed else node


def name_members(fields: Fields, shape: Shape | None) -> Fields:
    """Return the set with the declared fields that lead to its members.

    Removing fields needs them: an object goes with the last of its fields. Source: fieldpath's sets of named fields.
    """
    out: Fields = {}
    form = shape.map if shape is not None else None
    charge(len(fields))
    for name, node in fields.items():
        if name == SELF or not node:
            out[name] = node
            continue
        inner: Shape | None = None
        declared = False
        if form is not None and name[:2] == "f:":
            _, inner, declared = form.find_child(name[2:])
        elif shape is not None and shape.list is not None and name[:2] == "k:":
            inner = shape.list.item
        below = name_members(node, inner)
        out[name] = below if is_member(node) or not declared else {SELF: LEAF, **below}
    return out
