"""Merges an applied configuration into an object, and removes fields from it.

Source: sigs.k8s.io/structured-merge-diff typed (merge, remove). From v6.3.2 on, maps and lists that a removal empties
stay empty; before, they became null.
"""

from __future__ import annotations

from typing import Any

from podless.fields.items import make_element, name_items
from podless.fields.sets import Fields, is_member
from podless.fields.typed import NONE, SCALARS, ListShape, MapShape, Shape
from podless.runtime.meter import charge, each
from podless.runtime.release import has

_ABSENT: Any = object()
_LEAVES = SCALARS["untyped"] - {NONE}  # values of these types replace any other value


def merge_values(live: Any, applied: Any, shape: Shape) -> Any:
    """Return the live value with the applied one merged into it. Both must fit the shape; neither is changed.

    Nothing is removed, and applied values win. Lists get the order of the applied one, as far as it determines one.
    """
    if live is _ABSENT:
        return applied
    decides = live if applied is None and shape.single else applied  # null is treated as having the other value's type
    if shape.map is not None and (type(decides) is dict or (applied is None and not shape.single)):
        return _combine_maps(live, applied, shape.map)
    if shape.list is not None and type(decides) is list:
        return _combine_lists(live, applied, shape.list)
    return applied


def _combine_maps(live: Any, applied: Any, form: MapShape) -> Any:
    left = live if type(live) is dict else {}
    right = applied if type(applied) is dict else {}
    if form.atomic or not (left or right):
        return applied
    merged = {**left, **right}
    if _LEAVES.issuperset(map(type, right.values())):  # as in most maps: nothing to merge deeper
        return merged
    for key, item in each(right).items():
        if type(item) not in _LEAVES and key in left:
            shape = form.find_child(key)[1]
            if shape is not None:
                merged[key] = merge_values(left[key], item, shape)
    return merged


def _combine_lists(live: Any, applied: Any, form: ListShape) -> Any:
    left, right = (value if type(value) is list else [] for value in (live, applied))
    if not form.associative or not (left or right):
        return applied
    return _Merging(left, right, form).merge_lists() or applied


class _Merging:
    """Merges the items of two lists.

    Items of one list only keep their place beside their neighbours. The right list decides the order of common items.
    """

    def __init__(self, left: list[Any], right: list[Any], form: ListShape) -> None:
        self.left, self.right, self.form = left, right, form
        charge(len(left) + len(right))
        self.left_names = name_items(form, left)
        self.right_names = name_items(form, right)
        self.by_left: dict[str, Any] = {}
        for name, item in zip(self.left_names, left, strict=True):
            self.by_left[name] = None if name in self.by_left else item  # a duplicate item is not merged
        self.by_right = dict(zip(self.right_names, right, strict=True))
        # names that both lists have, the next one last
        self.shared = [name for name in reversed(self.right_names) if name in self.by_left]
        self.taken_names: set[str] = set()
        self.result: list[Any] = []

    def merge_lists(self) -> list[Any]:
        """Return the merged list."""
        at, to = 0, 0
        while at < len(self.left) or to < len(self.right):
            if at < len(self.left) and to < len(self.right):
                name = self.left_names[at]
                if name == self.right_names[to]:
                    self._merge_item(name)
                    at, to = at + 1, to + 1
                    continue
                if name in self.by_right and self.shared and self.shared[-1] != name:
                    at += 1  # common, and not the next one
                    continue
            if at < len(self.left):
                name = self.left_names[at]
                if name not in self.by_right:
                    self.result.append(self.left[at])
                    at += 1
                    continue
                at += name in self.taken_names
            if to < len(self.right):
                self._merge_item(self.right_names[to])
                to += 1
        return self.result

    def _merge_item(self, name: str) -> None:
        self.taken_names.add(name)
        if self.shared and self.shared[-1] == name:
            self.shared.pop()
        self.result.append(merge_values(self.by_left.get(name, _ABSENT), self.by_right[name], self.form.item))


def remove_fields(value: Any, fields: Fields, shape: Shape) -> Any:
    """Return the value without the fields of a set, as a copy. A leaf of which the set has only a part is emptied."""
    if not fields:
        return value
    if type(value) is dict and shape.map is not None:
        return _keep_map(value, fields, shape.map)
    if type(value) is list and shape.list is not None:
        return _keep_list(value, fields, shape.list)
    return value


def _keep_map(value: dict[str, Any], fields: Fields, form: MapShape) -> dict[str, Any] | None:
    remaining: dict[str, Any] = {}
    if form.atomic:
        return remaining if has("EmptiedFields") else None
    charge(len(value))
    for key, item in value.items():
        name, shape, _ = form.find_child(key)
        node = fields.get(name)
        if node is None:
            remaining[key] = item
        elif not is_member(node):
            remaining[key] = item if shape is None else remove_fields(item, node, shape)
    return remaining if remaining or has("EmptiedFields") else None


def _keep_list(value: list[Any], fields: Fields, form: ListShape) -> list[Any] | None:
    remaining: list[Any] = []
    if not form.associative:
        return remaining if has("EmptiedFields") else None
    charge(len(value))
    for item in value:
        node = fields.get(make_element(form, item))
        if node is None:
            remaining.append(item)
        elif not is_member(node):
            remaining.append(remove_fields(item, node, form.item))
    return remaining if remaining or has("EmptiedFields") else None
