"""Lists that are sets or maps: no item, and no key, twice (x-kubernetes-list-type)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from podless.meta import field
from podless.meta.field import FieldError
from podless.schema.node import Node
from podless.schema.shown import shown


def validate(value: Any, node: Node | None, path: str = "") -> list[FieldError]:
    """All duplicates, wherever the schema declares a set or a map."""
    errors: list[FieldError] = []
    _walk(value, node, path, errors)
    return errors


def _walk(value: Any, node: Node | None, path: str, errors: list[FieldError]) -> None:
    if node is None:
        return
    if isinstance(value, dict):
        if node.additional is not None:
            for key, item in value.items():
                _walk(item, node.additional, f"{path}[{key}]", errors)
        for key, item in value.items():
            if key in node.properties:
                _walk(item, node.child(key), f"{path}.{key}" if path else key, errors)
    elif isinstance(value, list):
        if node.list_type == "set":
            errors += [field.duplicate(f"{path}[{place}]", shown(value[place])) for place in repeated(value)]
        elif node.list_type == "map":
            errors += _map(value, node, path)
        if node.items is not None:
            for place, item in enumerate(value):
                if isinstance(item, dict | list):
                    _walk(item, node.items, f"{path}[{place}]", errors)


def _map(value: list[Any], node: Node, path: str) -> list[FieldError]:
    for place, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            wrong = "must be an object for an array of list-type map"
            return [field.invalid(f"{path}[{place}]", shown(item), wrong)]
    keys = [{name: item[name] for name in node.list_keys if name in item} if item else {} for item in value]
    return [field.duplicate(f"{path}[{place}]", shown(keys[place])) for place in repeated(keys)]


def repeated(items: list[Any]) -> list[int]:
    """Where an item stands for the second time; later repetitions are not told."""
    if len(items) <= 1:
        return []
    times: dict[Any, int] = {}
    found = []
    for place, item in enumerate(items):
        key = _identity(item)
        times[key] = times.get(key, 0) + 1
        if times[key] == 2:
            found.append(place)
    return found


def _identity(item: Any) -> Any:
    """A hashable stand-in: equal when Go holds the items for equal."""
    if isinstance(item, dict | list):
        try:
            return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
        except TypeError:  # nested too deep for the encoder
            return _flat(item)
    return item if item.__class__ is str else (item.__class__, item)


def _flat(item: Any) -> tuple[Any, ...]:
    """A value as the flat sequence of what is in it."""
    out: list[Any] = []
    todo = [item]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            out.append(tuple(sorted(part)))
            todo += [part[key] for key in sorted(part)]
        elif isinstance(part, list):
            out.append(len(part))
            todo += part
        else:
            out.append((part.__class__, part))
    return tuple(out)


def unique(items: list[Any]) -> bool:
    """Whether the items of a set are all different."""
    try:
        if len(set(items)) == len(items):
            return True
    except TypeError:
        pass
    return not repeated(items)


def distinct(names: list[str]) -> Callable[[list[Any]], bool]:
    """A function that says whether the items of a map list are objects with different keys."""

    def slow(items: list[Any]) -> bool:
        if not all(item is None or item.__class__ is dict for item in items):
            return False
        return not repeated([{name: item[name] for name in names if name in item} if item else {} for item in items])

    if len(names) != 1:
        return slow
    only = names[0]

    def fast(items: list[Any]) -> bool:
        try:
            # Python holds more keys for equal than Go does, never fewer
            if len({item[only] for item in items}) == len(items):
                return True
        except (KeyError, TypeError):
            pass
        return slow(items)

    return fast
