"""Lays an applied configuration over a live object: one walk merges the two, and compares them.

The walk goes through the parts that both have in the same form. All else is left to the walks of check.py, combine.py,
collect.py and compare.py, so each part gives what these would give.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from podless.fields.check import check_value
from podless.fields.collect import collect_stated, collect_whole
from podless.fields.combine import merge_value
from podless.fields.compare import SAME, Comparison, Nodes, compare_nodes, sort_nodes
from podless.fields.sets import LEAF, Fields, is_marked
from podless.fields.typed import NONE, ListShape, MapShape, Shape, name_items, name_leaves
from podless.runtime.meter import MAX_UNCHARGED, charge

_ABSENT = object()
_ONE = 1  # values below one that need no charge: only trees whose nodes have more grow large

# merged value, node of the applied fields (None if there are none), what differs from the live value
_Laid = tuple[Any, Fields | None, Nodes]


class Overlay(NamedTuple):
    """An applied configuration over a live object.

    merged: the result. applied: the fields that the configuration has. compared: the fields that it changes.
    """

    merged: dict[str, Any]
    applied: Fields
    compared: Comparison


def lay_over(live: dict[str, Any], applied: dict[str, Any], shape: Shape) -> Overlay:
    """Merge the applied configuration into the live object. Raises SchemaMisfit if one does not fit the shape."""
    form = shape.map
    laid = _lay_value if form is None or form.atomic else _lay_map
    merged, node, (removed, modified, added) = laid(live, applied, shape)
    return Overlay(merged, node or {}, Comparison(removed or {}, modified or {}, added or {}))


def _lay_value(ours: Any, theirs: Any, shape: Shape) -> _Laid:
    """Lay any value over any other."""
    check_value(theirs, shape)
    merged = merge_value(ours, theirs, shape)
    return merged, collect_stated(theirs, shape), compare_nodes(ours, merged, shape)


def _lay_new(item: Any, shape: Shape) -> _Laid:
    check_value(item, shape)
    return item, collect_stated(item, shape), (None, None, collect_whole(item, shape))


def _lay_map(ours: dict[str, Any], theirs: dict[str, Any], shape: Shape) -> _Laid:
    form = shape.map
    assert form is not None
    types = tuple(map(type, theirs.values()))
    below: Sequence[tuple[str, str, Shape, MapShape | None]] = ()
    names: Collection[str] = theirs
    if not form.declared and form.leaves.issuperset(types):
        stated = name_leaves(theirs)
    elif (plan := form.plans[tuple(theirs), types]) is not None:
        stated, _, below, names = plan
    else:
        return _lay_value(ours, theirs, shape)
    if NONE in types:  # null has the type of the other value
        return _lay_value(ours, theirs, shape)
    merged = {**ours, **theirs}
    if len(merged) > MAX_UNCHARGED:
        charge(len(merged))
    removed: Fields = {}
    modified: Fields = {}
    added: Fields = {}
    old, new = list(map(ours.get, names, repeat(_ABSENT))), list(map(theirs.get, names))
    if old != new or list(map(type, old)) != list(map(type, new)):  # 1 == True
        for name, before, item in zip(names, old, new, strict=True):
            if before is _ABSENT:
                added[f"f:{name}"] = LEAF
            elif type(before) is not type(item):
                inner = form.find_child(name)[1]
                assert inner is not None
                sort_nodes(f"f:{name}", compare_nodes(before, item, inner), removed, modified, added)
            elif before != item:
                modified[f"f:{name}"] = LEAF
    if below:
        stated = stated.copy()
        if len(below) > _ONE:
            charge(len(theirs))
    for key, name, child, inside in below:
        item, before = theirs[key], ours.get(key, _ABSENT)
        if before is _ABSENT:
            _, node, nodes = _lay_new(item, child)
        elif inside is not None and type(before) is dict:
            merged[key], node, nodes = _lay_map(before, item, child)
        elif child.list is not None and child.list.associative and type(item) is list is type(before):
            merged[key], node, nodes = _lay_list(before, item, child, child.list)
        else:
            merged[key], node, nodes = _lay_value(before, item, child)
        if node is not None:
            stated[name] = node if item else is_marked(node)
        elif item == {}:
            stated[name] = LEAF
        if nodes is not SAME:
            sort_nodes(name, nodes, removed, modified, added)
    if removed or modified or added:
        return merged, stated or None, (removed or None, modified or None, added or None)
    return merged, stated or None, SAME


def _lay_list(ours: list[Any], theirs: list[Any], shape: Shape, form: ListShape) -> _Laid:
    names = name_items(form, theirs)
    inner = form.item
    if inner.map is None or inner.map.atomic or names != name_items(form, ours) or len(set(names)) < len(names):
        return _lay_value(ours, theirs, shape)
    if len(names) > _ONE:
        charge(len(names))
    merged: list[Any] = []
    stated: Fields = {}
    removed: Fields = {}
    modified: Fields = {}
    added: Fields = {}
    for name, before, item in zip(names, ours, theirs, strict=True):
        lay = _lay_map if type(before) is dict is type(item) else _lay_value
        both, node, nodes = lay(before, item, inner)
        merged.append(both)
        stated[name] = is_marked(node)
        sort_nodes(name, nodes, removed, modified, added)
    if removed or modified or added:
        return merged, stated or None, (removed or None, modified or None, added or None)
    return merged, stated or None, SAME
