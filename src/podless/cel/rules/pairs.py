"""A value and the old value at the same place: what did not change is not held against an update."""

from __future__ import annotations

from typing import Any

from podless.meta.codec import equal

Schema = dict[str, Any]


class Pair:
    """New and old value of one schema node; fields and items of map lists can be correlated, other items cannot."""

    __slots__ = ("_same", "new", "old", "schema")

    def __init__(self, new: Any, old: Any, schema: Schema) -> None:
        self.new, self.old, self.schema = new, old, schema
        self._same: bool | None = None

    def key(self, name: str) -> Pair | None:
        """The pair of a field."""
        if not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.new or name not in self.old:
            return None
        part = (self.schema.get("properties") or {}).get(name)
        if part is None:
            part = self.schema.get("additionalProperties")
        return Pair(self.new[name], self.old[name], part) if isinstance(part, dict) else None

    def index(self, place: int) -> Pair | None:
        """The pair of an item."""
        items = self.schema.get("items")
        if not isinstance(items, dict) or not isinstance(self.new, list) or not isinstance(self.old, list):
            return None
        found = Keyed(self.schema, self.old).get(self.new[place])
        return None if found is None else Pair(self.new[place], found, items)

    def same(self) -> bool:
        """Whether both values are equal; items of map lists may have moved."""
        if self._same is None:
            self._same = self._compare()
        return self._same

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            return new.keys() == old.keys() and all(self._field(name) for name in new)
        if isinstance(new, list) and isinstance(old, list) and self.schema.get("x-kubernetes-list-type") == "map":
            return len(new) == len(old) and all(
                (pair := self.index(place)) is not None and pair.same() for place in range(len(new))
            )
        return equal(new, old)

    def _field(self, name: str) -> bool:
        # what the schema does not know counts as changed, such as the metadata of a whole object
        pair = self.key(name)
        return pair is not None and pair.same()


class Keyed:
    """The items of an old list by their keys; of other lists than those of type map there are none."""

    __slots__ = ("_items", "_keys")

    def __init__(self, schema: Schema, items: Any) -> None:
        keys = schema.get("x-kubernetes-list-map-keys") or ()
        self._keys = tuple(keys) if schema.get("x-kubernetes-list-type") == "map" else ()
        self._items: dict[Any, Any] = {}
        if self._keys and isinstance(items, list):
            for item in items:
                self._items.setdefault(self._key(item), item)

    def _key(self, item: Any) -> Any:
        if not isinstance(item, dict):
            return None
        values = [item.get(name) for name in self._keys]
        if any(isinstance(value, dict | list) for value in values):
            return None
        return tuple((value.__class__, value) for value in values)

    def get(self, item: Any) -> Any:
        """The old item with the same keys, or None."""
        key = self._key(item) if self._keys else None
        return None if key is None else self._items.get(key)
