"""Collects the field set of a value: the leaves that an apply specifies, or all fields.

Source: sigs.k8s.io/structured-merge-diff typed (toFieldSet; compare, if one side is absent).
"""

from __future__ import annotations

from typing import Any

from podless.fields.check import check_value
from podless.fields.items import make_element, make_elements
from podless.fields.sets import LEAF, SELF, Fields, mark_member
from podless.fields.typed import ListShape, MapPlan, MapShape, Shape, name_leaves
from podless.runtime.meter import MAX_UNCHARGED, ONE_CHILD, charge, each


def collect_leaves(value: dict[str, Any], shape: Shape) -> Fields:
    """Return the field set of an applied object that fits its shape: leaves, list items, keys without a schema."""
    return collect_stated(value, shape) or {}


def collect_stated(value: Any, shape: Shape) -> Fields | None:
    """Return the node of a value; None if it contributes no field."""
    if type(value) in shape.types and value is not None:
        return LEAF
    form = shape.find_form(value)
    if form == "map" and shape.map is not None:
        return LEAF if shape.map.atomic else _collect_map(value or {}, shape.map)
    if form == "list" and shape.list is not None:
        return _collect_list(value or [], shape.list) if shape.list.associative else LEAF
    return LEAF


def _collect_map(value: dict[str, Any], form: MapShape) -> Fields | None:
    types = tuple(map(type, value.values()))
    if form.leaves.issuperset(types):
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        return name_leaves(value) or None
    plan = form.plans[tuple(value), types] if form.declared else None
    if plan is not None:
        return _collect_below(value, plan)
    if len(value) > ONE_CHILD:
        charge(len(value))
    fields: Fields = {}
    for key, item in value.items():
        name, shape, declared = form.find_child(key)
        assert shape is not None
        node = collect_stated(item, shape)
        if form.unowned.get(name) == LEAF:
            continue
        if not declared or item is None or item == {}:
            fields[name] = mark_member(node)
        elif node is not None:
            fields[name] = node
    return fields or None


def _collect_below(value: dict[str, Any], plan: MapPlan) -> Fields | None:
    if not plan.nested:
        return plan.leaves or None
    if len(plan.nested) > ONE_CHILD:
        charge(len(value))
    fields = plan.leaves.copy()
    for key, name, shape, _ in plan.nested:
        item = value[key]
        node = collect_stated(item, shape)
        if node is not None:
            fields[name] = node if item else mark_member(node)
        elif item == {}:
            fields[name] = LEAF
    return fields or None


def _collect_list(value: list[Any], form: ListShape) -> Fields | None:
    if len(value) > MAX_UNCHARGED and (equal_items := _collect_equal_items(value, form)) is not None:
        return equal_items
    fields: Fields = {}
    repeated = set()
    shape = form.item
    scalars = shape.types if shape.single and shape.scalar else ()
    for item in each(value):
        name = make_element(form, item)
        if name in fields:
            repeated.add(name)
        fields[name] = LEAF if type(item) in scalars else mark_member(collect_stated(item, shape))
    for name in repeated:  # the fields of duplicate items cannot be told apart, so they are one leaf
        fields[name] = LEAF
    return fields or None


def collect_created(value: dict[str, Any], shape: Shape, *, is_valid: bool = False) -> Fields:
    """Return the fields of a new custom object that managers own. Its metadata must be decoded.

    is_valid: the value is known to fit the shape. Raises SchemaMisfit for another one that does not.
    """
    if not is_valid:
        check_value(value, shape, repeats=True)
    fields = _collect_all(value, shape.map.owned if shape.map is not None else shape)
    if fields.get("f:metadata") == LEAF:
        del fields["f:metadata"]
    return fields


def collect_whole(value: Any, shape: Shape) -> Fields:
    """Return the node of a new value: every field of it, down to the leaves. Raises SchemaMisfit if it does not fit."""
    if type(value) in shape.types:
        return LEAF
    check_value(value, shape, repeats=True)
    return _collect_all(value, shape)


def _collect_all(value: Any, shape: Shape) -> Fields:
    if value.__class__ is dict and shape.map is not None and not shape.map.atomic:
        return _collect_all_of_map(value, shape.map)
    if value.__class__ is list and shape.list is not None and shape.list.associative and value:
        return _collect_all_of_list(value, shape.list)
    return LEAF


def _collect_all_of_map(value: dict[str, Any], form: MapShape) -> Fields:
    if not value:
        return LEAF
    plan = form.node_plans[tuple(value)] if form.declared else None
    if plan is not None:
        marked, nested = plan
        if not nested:
            return marked
        if len(nested) > ONE_CHILD:
            charge(len(value))
        fields = marked.copy()
        for key, name, map_form, list_form in nested:
            item = value[key]
            if map_form is not None and item.__class__ is dict:
                fields[name] = _collect_all_of_map(item, map_form)
            elif list_form is not None and item.__class__ is list and item:
                fields[name] = _collect_all_of_list(item, list_form)
        return fields
    if form.leaves.issuperset(map(type, value.values())):
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        return {SELF: LEAF, **name_leaves(value)}
    if len(value) > ONE_CHILD:
        charge(len(value))
    fields = {} if SELF in form.unowned else {SELF: LEAF}
    for key, item in value.items():
        name, shape, _ = form.find_child(key)
        assert shape is not None
        if form.unowned.get(name) != LEAF:
            fields[name] = _collect_all(item, shape)
    return fields


def _collect_equal_items(value: list[Any], form: ListShape) -> Fields | None:
    """Return the field set of a list of distinct items with the same fields, all of them leaves; else None.

    Of few items, one after the other takes less time.
    """
    shape = form.item
    if shape.map is None or shape.map.atomic or (plan := shape.map.plan_all(value)) is None:
        return None
    names = make_elements(form, value)
    if names is None or len(set(names)) < len(names):
        return None
    charge(len(names))
    return dict.fromkeys(names, mark_member(plan.leaves))


def _collect_all_of_list(value: list[Any], form: ListShape) -> Fields:
    if len(value) > MAX_UNCHARGED and (equal_items := _collect_equal_items(value, form)) is not None:
        return {SELF: LEAF, **equal_items}
    shape = form.item
    map_form = shape.map if shape.map is not None and not shape.map.atomic else None
    fields: Fields = {SELF: LEAF}
    if len(value) > ONE_CHILD:
        charge(len(value))
    for item in value:
        name = make_element(form, item)
        if name in fields:
            fields[name] = LEAF
        elif map_form is not None and item.__class__ is dict:
            fields[name] = _collect_all_of_map(item, map_form)
        else:
            fields[name] = _collect_all(item, shape)
    return fields
