"""Finds the change that gave each field of an object its value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from podless.history.difference import ABSENT, Step, find_key, is_same, strip_object
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge

C = TypeVar("C")


class Blamed(NamedTuple, Generic[C]):
    """One field without fields below it, its value, and the change that set it."""

    path: tuple[Step, ...]
    value: Any
    change: C


def blame_object(states: Iterable[tuple[C, Object]]) -> list[Blamed[C]]:
    """Return the fields of an object's last state, in its order, with the change that gave each its value.

    states: changes and the states that they made, of one object, oldest first. The first one is blamed for its whole
    state. An empty map or list counts as a field.
    """
    owned: Any = None
    last: Any = ABSENT
    for change, obj in states:
        state = strip_object(obj)
        owned = _find_owners(last, state, owned, change)
        last = state
    return list(_list_fields((), last, owned)) if last is not ABSENT else []


# The owners of a value have the value's shape: a dict by name, a dict by key or index, or the change itself.


def _find_owners(before: Any, after: Any, owned: Any, change: C) -> Any:
    """Return the owners of a value after a change. owned: those of the value before it."""
    charge(1)
    if isinstance(after, dict) and after:
        old = before if isinstance(before, dict) and before else {}
        return {
            name: _find_owners(old.get(name, ABSENT), value, owned.get(name) if old else None, change)
            for name, value in after.items()
        }
    if isinstance(after, list) and after:
        old_items = before if isinstance(before, list) else []
        key = find_key(after)
        if old_items and find_key(old_items) != key:
            old_items = []  # the old items have other keys, so the change set them all
        old_by_step = dict(zip(_name_items(key, old_items), old_items, strict=True))
        return {
            step: _find_owners(old_by_step.get(step, ABSENT), item, owned.get(step) if old_by_step else None, change)
            for step, item in zip(_name_items(key, after), after, strict=True)
        }
    return owned if before is not ABSENT and is_same(before, after) else change


def _name_items(key: str, items: list[Any]) -> list[Step]:
    """Return the steps of a path that lead to the items of a list."""
    return [(key, item[key]) for item in items] if key else list(range(len(items)))


def _list_fields(path: tuple[Step, ...], value: Any, owned: Any) -> Iterable[Blamed[Any]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _list_fields((*path, name), item, owned[name])
    elif isinstance(value, list) and value:
        for (step, owners), item in zip(owned.items(), value, strict=True):
            yield from _list_fields((*path, step), item, owners)
    else:
        yield Blamed(path, value, owned)
