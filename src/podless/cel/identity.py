"""Values as keys of a dict: equal where the language takes them for equal, by type and content."""

from __future__ import annotations

from typing import Any

from podless.cel.bounds import charge_each
from podless.cel.values import LISTS, NUMBERS


def key_of(item: Any) -> Any:
    """A value as a dict can have it for a key: by type and content."""
    kind = item.__class__
    if kind is dict:
        return ("map", frozenset((name, key_of(part)) for name, part in charge_each(item.items())))
    if kind in LISTS:
        return ("list", tuple(map(key_of, charge_each(item))))
    return ("number", item) if kind in NUMBERS else (kind, item)


def keys_of(item: Any, names: tuple[str, ...]) -> Any:
    """The same of some fields of an item of a list; None for what has no fields."""
    return tuple(key_of(item.get(name)) for name in names) if item.__class__ is dict else None
