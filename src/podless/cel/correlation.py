"""Correlates new with old values, so that an update is not rejected for values that it does not change.

New and old values are correlated by field name, and by key in lists of type map; other lists are one value. Values that
no schema declares are not correlated, and so never unchanged; neither are values that contain them. Source:
kube-apiserver's CRDValidationRatcheting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.codec import gotext
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each

_SCALARS = frozenset((bool, float, int, str))


def list_map_keys(schema: Schema) -> Sequence[str]:
    """Return the map keys of a schema's list; empty for other lists."""
    return (schema.get("x-kubernetes-list-map-keys") or ()) if schema.get("x-kubernetes-list-type") == "map" else ()


class ValuePair:
    """The new and the old value at one path. Pairs below it are cached."""

    __slots__ = ("_children", "_equal", "_old_items", "new", "old", "schema")

    def __init__(self, new: Any, old: Any, schema: Schema) -> None:
        self.new, self.old, self.schema = new, old, schema
        self._children: dict[str | int, ValuePair | None] = {}
        self._equal: bool | None = None
        self._old_items: ItemsByKey | None = None

    def pair_field(self, name: str) -> ValuePair | None:
        """Return the pair of a field, None if it cannot be correlated."""
        if name not in self._children:
            self._children[name] = self._make_field_pair(name)
        return self._children[name]

    def _make_field_pair(self, name: str) -> ValuePair | None:
        if not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.old or name not in self.new:
            return None
        properties = self.schema.get("properties") or {}
        child = (properties[name] or {}) if name in properties else self.schema.get("additionalProperties")
        return ValuePair(self.new[name], self.old[name], child) if isinstance(child, dict) else None

    def pair_item(self, index: int) -> ValuePair | None:
        """Return the pair of a list item, None unless the list is of type map."""
        if index not in self._children:
            self._children[index] = self._make_item_pair(index)
        return self._children[index]

    def _make_item_pair(self, index: int) -> ValuePair | None:
        items = self.schema.get("items")
        if not isinstance(items, dict) or not isinstance(self.new, list) or index >= len(self.new):
            return None
        if self._old_items is None:
            self._old_items = ItemsByKey(list_map_keys(self.schema), self.old)
        old_item = self._old_items.get(self.new[index])
        return None if old_item is None else ValuePair(self.new[index], old_item, items)

    def is_unchanged(self) -> bool:
        """Return whether both values are equal. The items of a map list may be in another order."""
        if self._equal is None:
            self._equal = self._compare_values()
        return self._equal

    def _compare_values(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            return len(new) == len(old) and all(_is_unchanged(self.pair_field(name)) for name in each(new))
        if isinstance(new, list) and isinstance(old, list) and list_map_keys(self.schema):
            return len(new) == len(old) and all(_is_unchanged(self.pair_item(index)) for index in range(len(new)))
        return equal_json(new, old)


def _is_unchanged(pair: ValuePair | None) -> bool:
    return pair is not None and pair.is_unchanged()


class ItemsByKey:
    """The items of an old list by their keys. The first of equal ones counts; items without keys are left out."""

    __slots__ = ("_items", "_names")

    def __init__(self, names: Sequence[str], items: Any) -> None:
        """Index the items of a map list. names: of the keys; none if the list is not a map."""
        self._names = names
        self._items: dict[Any, Any] = {}
        if names and isinstance(items, list):
            for item in each(items):
                key = _build_key(item, names)
                if key is not None:
                    self._items.setdefault(key, item)

    def get(self, item: Any) -> Any:
        """Return the old item with the same keys, or None."""
        key = _build_key(item, self._names) if self._items else None
        return None if key is None else self._items.get(key)


def _build_key(item: Any, names: Sequence[str]) -> Any:
    """Return the identity of an item by its keys, None if one is missing or not a scalar."""
    if not isinstance(item, dict):
        return None
    values = [item.get(name) for name in names]
    if any(value.__class__ not in _SCALARS for value in values):
        return None
    return (values[0].__class__, values[0]) if len(values) == 1 else "\0".join(map(_format_key_part, values))


def _format_key_part(value: Any) -> str:
    """Return the text of one of several keys, which kube-apiserver compares as text."""
    if value.__class__ is str:
        return gotext.quote(value)
    return f"{value:f}" if value.__class__ is float else gotext.format_value(value)


def equal_json(left: Any, right: Any) -> bool:
    """Compare JSON values deeply, by Go's types: 1, 1.0 and true differ."""
    todo = [(left, right)]
    while todo:
        left_value, right_value = todo.pop()
        if left_value is right_value:
            continue
        if left_value.__class__ is not right_value.__class__:
            return False
        if isinstance(left_value, dict):
            if left_value.keys() != right_value.keys():
                return False
            charge(len(left_value))
            todo.extend((item, right_value[key]) for key, item in left_value.items())
        elif isinstance(left_value, list):
            if len(left_value) != len(right_value):
                return False
            charge(len(left_value))
            todo.extend(zip(left_value, right_value, strict=True))
        elif left_value != right_value:
            return False
    return True
