"""Checks that lists which are sets or maps have no item, and no key, twice (x-kubernetes-list-type)."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from typing import Any

import orjson

from podless.meta import field
from podless.meta.field import FieldError, Key, Path
from podless.runtime.meter import charge, each
from podless.schema.enums import flatten_value
from podless.schema.errorvalues import MAX_ERRORS, show_value
from podless.schema.node import Node

_ITEM_STEPS = 4  # steps on the meter for an object or list that is encoded
_BYTES_PER_STEP = 256  # bytes of encoded text that count as one step
_ITEMS_PER_CHARGE = 1 << 14  # items that are put into a set at once
_HOLDERS = (dict, list)
_UNSPECIFIED = object()  # a missing key


def validate_lists(value: Any, node: Node | None) -> list[FieldError]:
    """Return an error for each duplicate in a set or map that the schema declares."""
    errors: list[FieldError] = []
    _check_node(value, node, (), errors)
    return errors


def _check_node(value: Any, node: Node | None, path: Path, errors: list[FieldError]) -> None:
    if node is None:
        return
    charge(1)
    if isinstance(value, dict):
        if node.additional is not None:
            for key, item in each(value).items():
                _check_node(item, node.additional, (*path, Key(key)), errors)
        for key, item in each(value).items():
            if key in node.properties and item.__class__ in _HOLDERS:
                _check_node(item, node.find_child(key), (*path, key), errors)
    elif isinstance(value, list):
        if node.list_type == "set":
            repeated = find_repeated(value)[:MAX_ERRORS]
            errors += [field.duplicate((*path, index), show_value(value[index])) for index in each(repeated)]
        elif node.list_type == "map":
            errors += _check_map(value, node, path)
        if node.items is not None:
            for index, item in enumerate(each(value)):
                if isinstance(item, dict | list) and len(errors) < MAX_ERRORS:
                    _check_node(item, node.items, (*path, index), errors)


def _check_map(value: list[Any], node: Node, path: Path) -> list[FieldError]:
    for index, item in enumerate(each(value)):
        if item is not None and not isinstance(item, dict):
            detail = "must be an object for an array of list-type map"
            return [field.invalid((*path, index), show_value(item), detail)]
    return [
        field.duplicate((*path, index), show_value(_select_keys(value[index], node.list_keys)))
        for index in each(_find_repeated_keys(value, node.list_keys)[:MAX_ERRORS])
    ]


def _select_keys(item: Any, names: list[str]) -> dict[str, Any]:
    """Return the keys of an item; {} for a null."""
    return {name: item[name] for name in each(names) if name in item} if item else {}


def _find_repeated_keys(items: list[Any], names: list[str]) -> list[int]:
    """Return the positions of items with the keys of an earlier item."""
    if len(names) == 1:  # a single key is compared directly, several are compared as JSON
        return find_repeated([item.get(names[0], _UNSPECIFIED) if item else _UNSPECIFIED for item in each(items)])
    return find_repeated([_select_keys(item, names) for item in each(items)])


def find_repeated(items: list[Any], *, exact: bool = False) -> list[int]:
    """Return the positions at which items occur for the second time; later repetitions are not listed.

    exact: numbers in objects and lists must also have equal Go types; else their JSON counts.
    """
    if len(items) <= 1:
        return []
    identity = _build_exact_key if exact else _build_key
    times: dict[Any, int] = {}
    repeated = []
    for index, item in enumerate(each(items)):
        key = identity(item)
        times[key] = times.get(key, 0) + 1
        if times[key] == 2:
            repeated.append(index)
    return repeated


def _build_key(item: Any) -> Any:
    """Return a hashable key: equal for scalars that Go treats as equal, and for objects and lists with equal JSON."""
    if not isinstance(item, dict | list):
        return item if item.__class__ is str else (item.__class__, item)
    try:
        text = orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # nested too deeply for orjson
        return flatten_value(item)
    charge(_ITEM_STEPS + len(text) // _BYTES_PER_STEP)
    return text if b"." not in text else orjson.dumps(_normalize_numbers(item), option=orjson.OPT_SORT_KEYS)


def _normalize_numbers(item: Any) -> Any:
    """Return a value with its numbers as JSON shows them: 1.0 becomes 1, but -0.0 does not become 0."""
    charge(1)
    if isinstance(item, dict):
        return {key: _normalize_numbers(value) for key, value in each(item).items()}
    if isinstance(item, list):
        return [_normalize_numbers(value) for value in each(item)]
    is_integer = item.__class__ is float and item.is_integer() and abs(item) < 2**63
    return int(item) if is_integer and (item or copysign(1, item) > 0) else item


def _build_exact_key(item: Any) -> Any:
    return flatten_value(item) if isinstance(item, dict | list) else (item.__class__, item)


def are_unique(items: list[Any]) -> bool:
    """Return whether the items of a set are all different."""
    try:
        if len(items) <= _ITEMS_PER_CHARGE:
            different = set(items)
        else:
            different = set()
            for start in range(0, len(items), _ITEMS_PER_CHARGE):
                charge(_ITEMS_PER_CHARGE)
                different.update(items[start : start + _ITEMS_PER_CHARGE])
        if len(different) == len(items):
            return True
    except TypeError:
        pass
    return not find_repeated(items)


def make_distinct_check(names: list[str]) -> Callable[[list[Any]], bool]:
    """Return a function that checks whether the items of a map list are objects with different keys."""

    def check_slowly(items: list[Any]) -> bool:
        if not all(item is None or item.__class__ is dict for item in each(items)):
            return False
        return not _find_repeated_keys(items, names)

    if len(names) != 1:
        return check_slowly
    key = names[0]

    def check_fast(items: list[Any]) -> bool:
        try:
            # Python treats more keys as equal than Go does, never fewer; the walk over the items has charged them
            if len({item[key] for item in items}) == len(items):
                return True
        except (KeyError, TypeError):
            pass
        return check_slowly(items)

    return check_fast
