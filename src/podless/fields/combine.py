"""Merges an applied configuration into an object. Nothing is removed, and applied values win.

Source: sigs.k8s.io/structured-merge-diff typed (merge).
"""

from __future__ import annotations

from typing import Any

from podless.fields.items import name_items
from podless.fields.typed import NONE, SCALARS, ListShape, MapShape, Shape
from podless.runtime.meter import charge, each

_ABSENT: Any = object()
_LEAVES = SCALARS["untyped"] - {NONE}  # values of these types replace any other value


def merge_values(live: dict[str, Any], applied: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the live object with the applied one merged into it. Both must fit the shape; neither is changed.

    Lists get the order of the applied one, as far as it determines one.
    """
    merged: dict[str, Any] = merge_value(live, applied, shape)
    return merged


def merge_value(live: Any, applied: Any, shape: Shape) -> Any:
    """Return a value merged from a live and an applied one. Neither is changed."""
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
                merged[key] = merge_value(left[key], item, shape)
    return merged


def _combine_lists(live: Any, applied: Any, form: ListShape) -> Any:
    left, right = (value if type(value) is list else [] for value in (live, applied))
    if not form.associative or not (left or right):
        return applied
    merged = _Merging(left, right, form).merge_lists()
    return merged if merged else applied


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
        """Merge the right item into the left one of the same name."""
        self.taken_names.add(name)
        if self.shared and self.shared[-1] == name:
            self.shared.pop()
        merged = merge_value(self.by_left.get(name, _ABSENT), self.by_right[name], self.form.item)
        self.result.append(merged)
