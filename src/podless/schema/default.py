"""Defaulting, and the null rules that go with it.

A null where the schema says neither nullable nor default is dropped from objects; where there is a default and no
nullable it becomes the default; other nulls stay. Defaults are given to absent fields, and inside given defaults.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from podless.meta.meter import charge, each
from podless.meta.offloop import fill as fill_in
from podless.schema import embedded, prune
from podless.schema.node import Node, copy

_HOLDERS = (dict, list)


def given(node: Node) -> Any:
    """The default value of a node that has one, as this very node prunes and coerces it; to be copied before use."""
    return fill_in(node, "default", partial(_given, node), needed=False) if node.default is Node else node.default


def _given(node: Node) -> Any:
    value = copy(node.raw["default"])
    prune.prune(value, node, embedded=node.embedded)
    embedded.coerce(value, node, drop=True)
    return value


def drop_nulls(value: Any, node: Node, skip: frozenset[str] = frozenset()) -> None:
    """Drop the nulls of objects that can neither stay nor be defaulted; skip: root fields to leave alone."""
    charge(1)
    if isinstance(value, dict):
        for key, item in list(each(value).items()):
            if item is not None and not isinstance(item, _HOLDERS):
                continue
            child = None if key in skip else node.field(key)
            if child is None:
                continue
            if item is not None:
                drop_nulls(item, child)
            elif not child.nullable and not child.has_default:
                del value[key]
    elif isinstance(value, list) and node.items is not None:
        for item in each(value):
            if isinstance(item, _HOLDERS):
                drop_nulls(item, node.items)


def fill(value: Any, node: Node, skip: frozenset[str] = frozenset()) -> None:
    """Give defaults, in place; skip: root fields to leave alone."""
    charge(1)
    if isinstance(value, dict):
        _fields(value, node, skip)
    elif isinstance(value, list) and node.items is not None:
        items = node.items
        for index, item in enumerate(each(value)):
            if item is None and not items.nullable and items.has_default:
                item = value[index] = copy(given(items))
            if isinstance(item, dict | list):
                fill(item, items)


def _fields(value: dict[str, Any], node: Node, skip: frozenset[str]) -> None:
    for name, child in node.children():
        if name in skip or not child.has_default:
            continue
        if name not in value or (value[name] is None and not child.nullable):
            value[name] = copy(given(child))
    for key, item in each(value).items():
        child_or_none = None if key in skip else node.field(key)
        if child_or_none is None:
            continue
        if item is None and not child_or_none.nullable and child_or_none.has_default:
            item = value[key] = copy(given(child_or_none))
        if isinstance(item, dict | list):
            fill(item, child_or_none)
