"""The fast path of an apply: one walk in place of check.py, combine.py, collect.py and compare.py one after another.

It merges the applied configuration into the live object and compares them, through the parts that both have in the same
form. It leaves all other parts to those four, and gives what they would give: it exists for speed alone.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from podless.fields.check import check_value
from podless.fields.collect import collect_stated, collect_whole
from podless.fields.combine import merge_values
from podless.fields.compare import SAME, Comparison, Nodes, add_nodes, compare_nodes
from podless.fields.items import make_element
from podless.fields.sets import LEAF, Fields, mark_member
from podless.fields.typed import NONE, ListShape, MapShape, Shape, name_leaves
from podless.runtime.meter import MAX_UNCHARGED, ONE_CHILD, charge

_ABSENT = object()

# merged value, node of the applied fields (None if there are none), what differs from the live value
_Laid = tuple[Any, Fields | None, Nodes]
# fields that are removed, modified and added
_Differences = tuple[Fields, Fields, Fields]


class Overlay(NamedTuple):
    """An applied configuration over a live object.

    merged: the result. applied: the fields that the configuration has. compared: the fields that it changes.
    """

    merged: dict[str, Any]
    applied: Fields
    compared: Comparison


def lay_over(live: dict[str, Any], applied: dict[str, Any], shape: Shape) -> Overlay:
    """Merge the applied configuration into the live object. Raises SchemaMisfit if one does not fit the shape.

    The sets lack the fields that no manager owns.
    """
    form = shape.map
    if form is None or form.atomic:
        merged, node, (removed, modified, added) = _lay_value(live, applied, shape)
    else:
        owned = form.owned
        assert owned.map is not None
        merged, node, (removed, modified, added) = _lay_map(live, applied, owned, owned.map)
    if node is not None and node.get("f:metadata") == LEAF:
        node = {name: child for name, child in node.items() if name != "f:metadata"}
    return Overlay(merged, node or {}, Comparison(removed or {}, modified or {}, added or {}))


def _lay_value(live: Any, applied: Any, shape: Shape) -> _Laid:
    """Lay a value over another one, of any types."""
    check_value(applied, shape)
    merged = merge_values(live, applied, shape)
    return merged, collect_stated(applied, shape), compare_nodes(live, merged, shape)


def _lay_map(live: dict[str, Any], applied: dict[str, Any], shape: Shape, form: MapShape) -> _Laid:
    types = tuple(map(type, applied.values()))
    plan = form.plans[tuple(applied), types] if form.declared else None
    merged = {**live, **applied}
    if len(merged) > MAX_UNCHARGED:
        charge(len(merged))
    differs: _Differences | None = None
    if plan is not None and plan.read is not None:
        stated, nested = plan.leaves, plan.nested
        try:
            old = plan.read(live)
            unchanged = old == plan.read(applied) and (plan.texts or tuple(map(type, old)) == plan.types)  # 1 == True
        except KeyError:
            unchanged = False
        if not unchanged:
            differs = _compare_leaves(live, applied, plan.names, form)
    elif form.leaves.issuperset(types) and NONE not in types:  # null has the type of the other value
        stated, nested = name_leaves(applied), []
        if merged != live or tuple(map(type, map(live.get, applied))) != types:
            differs = _compare_leaves(live, applied, applied, form)
    else:
        return _lay_value(live, applied, shape)
    if nested:
        stated = stated.copy()
        if len(nested) > ONE_CHILD and len(merged) <= MAX_UNCHARGED:  # otherwise they are charged already
            charge(len(applied))
    for key, name, child, inside in nested:
        item, before = applied[key], live.get(key, _ABSENT)
        if inside is not None and before.__class__ is dict:
            merged[key], node, nodes = _lay_map(before, item, child, inside)
        elif before is _ABSENT:
            check_value(item, child)
            node, nodes = collect_stated(item, child), (None, None, collect_whole(item, child))
        elif child.list is not None and child.list.associative and type(item) is list is type(before):
            merged[key], node, nodes = _lay_list(before, item, child, child.list)
        else:
            merged[key], node, nodes = _lay_value(before, item, child)
        if node is not None:
            stated[name] = node if item else mark_member(node)
        elif item == {}:
            stated[name] = LEAF
        if nodes is not SAME:
            differs = differs or ({}, {}, {})
            add_nodes(name, nodes, *differs)
    return merged, stated or None, SAME if differs is None else _join_nodes(*differs)


def _compare_leaves(
    live: dict[str, Any], applied: dict[str, Any], names: Collection[str], form: MapShape
) -> _Differences:
    removed: Fields = {}
    modified: Fields = {}
    added: Fields = {}
    for name in names:
        item, before = applied[name], live.get(name, _ABSENT)
        if before is _ABSENT:
            added[f"f:{name}"] = LEAF
        elif type(before) is not type(item):
            child_shape = form.find_child(name)[1]
            assert child_shape is not None
            add_nodes(f"f:{name}", compare_nodes(before, item, child_shape), removed, modified, added)
        elif before != item:
            modified[f"f:{name}"] = LEAF
    return removed, modified, added


def _join_nodes(removed: Fields, modified: Fields, added: Fields) -> Nodes:
    if removed or modified or added:
        return removed or None, modified or None, added or None
    return SAME


def _lay_list(live: list[Any], applied: list[Any], shape: Shape, form: ListShape) -> _Laid:
    item_shape = form.item
    if len(live) != len(applied) or item_shape.map is None or item_shape.map.atomic:
        return _lay_value(live, applied, shape)
    if len(applied) > ONE_CHILD:
        charge(len(applied))
    merged: list[Any] = []
    stated: Fields = {}
    differs: _Differences = {}, {}, {}
    for before, item in zip(live, applied, strict=True):
        name = make_element(form, item)
        if name in stated or not before.__class__ is dict is item.__class__ or make_element(form, before) != name:
            return _lay_value(live, applied, shape)
        merged_item, node, nodes = _lay_map(before, item, item_shape, item_shape.map)
        merged.append(merged_item)
        stated[name] = mark_member(node)
        if nodes is not SAME:
            add_nodes(name, nodes, *differs)
    return merged, stated or None, _join_nodes(*differs)
