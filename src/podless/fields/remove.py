"""Removes fields from an object.

Source: sigs.k8s.io/structured-merge-diff typed (remove). From v6.3.2 on, emptied maps and lists stay empty; before,
they became null.
"""

from __future__ import annotations

from typing import Any

from podless.fields.sets import Fields, is_member
from podless.fields.typed import ListShape, MapShape, Shape, make_element
from podless.runtime.meter import charge
from podless.runtime.release import has


def remove_fields(value: Any, fields: Fields, shape: Shape) -> Any:
    """Return the value without the fields of a set. The given value is not changed.

    If the set names only a part of a leaf, the whole leaf is emptied.
    """
    if not fields:
        return value
    if type(value) is dict and shape.map is not None:
        return _map(value, fields, shape.map)
    if type(value) is list and shape.list is not None:
        return _list(value, fields, shape.list)
    return value


def _map(value: dict[str, Any], fields: Fields, form: MapShape) -> dict[str, Any] | None:
    kept: dict[str, Any] = {}
    if form.atomic:
        return kept if has("EmptiedFields") else None
    charge(len(value))
    for key, item in value.items():
        name, shape, _ = form.child(key)
        node = fields.get(name)
        if node is None:
            kept[key] = item
        elif not is_member(node):
            kept[key] = item if shape is None else remove_fields(item, node, shape)
    return kept if kept or has("EmptiedFields") else None


def _list(value: list[Any], fields: Fields, form: ListShape) -> list[Any] | None:
    kept: list[Any] = []
    if not form.associative:
        return kept if has("EmptiedFields") else None
    charge(len(value))
    for item in value:
        node = fields.get(make_element(form, item))
        if node is None:
            kept.append(item)
        elif not is_member(node):
            kept.append(remove_fields(item, node, form.item))
    return kept if kept or has("EmptiedFields") else None
