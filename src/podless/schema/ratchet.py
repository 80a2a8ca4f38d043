"""Ratcheting: on update, what was already wrong and did not change is not held against the object.

New and old values are correlated by field name, and by key in lists of type map; other lists are one value. What no
schema declares is not correlated, and so is never unchanged, nor is what holds it. The rules are those of
kube-apiserver's CRDValidationRatcheting.
"""

from __future__ import annotations

from typing import Any

from podless.meta import gotext
from podless.meta.codec import equal
from podless.schema.node import Node

_SCALARS = frozenset((bool, float, int, str))


class Pair:
    """A value and the old value that stands at the same place. Pairs below it are made once."""

    __slots__ = ("_below", "_equal", "_keyed", "new", "node", "old")

    def __init__(self, new: Any, old: Any, node: Node | None) -> None:
        self.new, self.old, self.node = new, old, node
        self._below: dict[str | int, Pair | None] = {}
        self._equal: bool | None = None
        self._keyed: dict[Any, Any] | None = None

    def key(self, name: str) -> Pair | None:
        """The pair of a field, or None when it cannot be correlated."""
        if name not in self._below:
            self._below[name] = self._key(name)
        return self._below[name]

    def _key(self, name: str) -> Pair | None:
        if self.node is None or not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.old or name not in self.new:
            return None
        child = self.node.field(name)
        return None if child is None else Pair(self.new[name], self.old[name], child)

    def index(self, place: int) -> Pair | None:
        """The pair of a list item; only lists of type map have such."""
        if place not in self._below:
            self._below[place] = self._index(place)
        return self._below[place]

    def _index(self, place: int) -> Pair | None:
        node = self.node
        if node is None or node.list_type != "map" or node.items is None or not node.list_keys:
            return None
        if not isinstance(self.new, list) or not isinstance(self.old, list) or place >= len(self.new):
            return None
        if self._keyed is None:
            self._keyed = _by_key(self.old, node.list_keys)
        key = _identity(self.new[place], node.list_keys)
        return Pair(self.new[place], self._keyed[key], node.items) if key in self._keyed else None

    def unchanged(self) -> bool:
        """Whether both values are equal; the items of a map list may have moved."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            return len(new) == len(old) and all(_unchanged(self.key(name)) for name in new)
        if isinstance(new, list) and isinstance(old, list) and self.node is not None and self.node.list_type == "map":
            return len(new) == len(old) and all(_unchanged(self.index(place)) for place in range(len(new)))
        return equal(new, old)


def _unchanged(pair: Pair | None) -> bool:
    return pair is not None and pair.unchanged()


def _by_key(items: list[Any], names: list[str]) -> dict[Any, Any]:
    """The items by their keys; the first one counts. Those without are under no key."""
    found: dict[Any, Any] = {}
    for item in items:
        key = _identity(item, names)
        if key is not None:
            found.setdefault(key, item)
    return found


def _identity(item: Any, names: list[str]) -> Any:
    """What stands for an item's keys, or None where one is missing or no scalar."""
    if not isinstance(item, dict):
        return None
    found = [item.get(name) for name in names]
    if any(part.__class__ not in _SCALARS for part in found):
        return None
    return (found[0].__class__, found[0]) if len(found) == 1 else "\0".join(map(_text, found))


def _text(part: Any) -> str:
    """A key among several, which a real server tells apart by their texts."""
    if part.__class__ is str:
        return gotext.quote(part)
    return f"{part:f}" if part.__class__ is float else gotext.value(part)
