"""Frees large values in pieces, because freeing a million objects at once holds the GIL for about 100 ms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_SLICE = 2048  # items of one slice
_MANY = 256  # parts freed by one statement; the interpreter can switch threads after it
_PLACES = 127  # sets of visited ids: one large set would be resized, and freed, in one go


def collect_parts(values: Iterable[Any]) -> list[Any]:
    """Return all lists and dicts in some values, outer ones last. Long ones are followed by slices of their items.

    A caller that drops them in order frees one of them at a time.
    """
    found: list[Any] = []
    seen: list[set[int]] = [set() for _ in range(_PLACES)]  # by address
    todo = list(values)
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind is dict:
            items: Any = one.values()
        elif kind is list or kind is tuple:
            items = one
        else:
            continue
        place = id(one)
        near = seen[(place >> 4) % _PLACES]
        if place in near:
            continue
        near.add(place)
        found.append(one)
        todo += [item for item in items if type(item) in _HOLDERS]
        if len(one) > _SLICE:
            if kind is dict:
                found += _slices(list(one))
            found += _slices(list(items))
    found.reverse()
    while seen:
        seen.pop()
    return found


_HOLDERS = frozenset((dict, list, tuple))


def _slices(items: list[Any]) -> list[list[Any]]:
    return [items[start : start + _SLICE] for start in range(0, len(items), _SLICE)]


def release_parts(held: list[Any]) -> None:
    """Drop parts from the end, so that outer values go first."""
    while held:
        del held[-_MANY:]
