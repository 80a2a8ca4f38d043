"""Ratcheting: on update, what was already wrong and did not change is not held against the object.

New and old values are correlated by field name, and by key in lists of type map; other lists are one value.
The rules are those of kube-apiserver's CRDValidationRatcheting.
"""

from __future__ import annotations

from typing import Any

from podless.meta.codec import equal
from podless.schema.node import Node


class Pair:
    """A value and the old value that stands at the same place."""

    __slots__ = ("_equal", "new", "node", "old")

    def __init__(self, new: Any, old: Any, node: Node | None) -> None:
        self.new, self.old, self.node = new, old, node
        self._equal: bool | None = None

    def key(self, name: str) -> Pair | None:
        """The pair of a field, or None when it cannot be correlated."""
        if self.node is None or not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.old or name not in self.new:
            return None
        child = self.node.field(name)
        return None if child is None else Pair(self.new[name], self.old[name], child)

    def index(self, place: int) -> Pair | None:
        """The pair of a list item; only lists of type map have such."""
        node = self.node
        if node is None or node.list_type != "map" or node.items is None:
            return None
        if not isinstance(self.new, list) or not isinstance(self.old, list) or place >= len(self.new):
            return None
        key = _key(self.new[place], node.list_keys)
        if key is None:
            return None
        for item in self.old:
            if equal(_key(item, node.list_keys), key):
                return Pair(self.new[place], item, node.items)
        return None

    def unchanged(self) -> bool:
        """Whether both values are equal; the items of a map list may have moved."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if new is None or old is None:
            return new is None and old is None
        if isinstance(new, dict) and isinstance(old, dict):
            return new.keys() == old.keys() and all(self._field(name) for name in new)
        if isinstance(new, list) and isinstance(old, list):
            if len(new) != len(old):
                return False
            if self.node is None or self.node.list_type != "map":
                return equal(new, old)
            pairs = [self.index(place) for place in range(len(new))]
            return all(pair is not None and pair.unchanged() for pair in pairs)
        return equal(new, old)

    def _field(self, name: str) -> bool:
        pair = self.key(name)
        return pair.unchanged() if pair is not None else equal(self.new[name], self.old[name])


def _key(item: Any, names: list[str]) -> list[Any] | None:
    """The values of an item's keys, or None where one is missing or no scalar."""
    if not isinstance(item, dict):
        return None
    found = [item.get(name) for name in names]
    return None if any(part is None or isinstance(part, dict | list) for part in found) else found
