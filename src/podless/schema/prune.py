"""Pruning: drops fields that the schema does not declare, at every level.

The rules are those of structural schemas: x-kubernetes-preserve-unknown-fields keeps unknown fields, and declared
fields below it are pruned again. apiVersion, kind and metadata of a resource are never pruned here.
"""

from __future__ import annotations

from typing import Any

from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts
from podless.schema.node import Node

META = frozenset(("apiVersion", "kind", "metadata"))
CONTAINERS = frozenset((dict, list))


def prune_value(value: Any, node: Node | None, unknown: list[str] | None = None, embedded: bool = False) -> None:
    """Prune a value in place.

    unknown: receives the sorted paths of dropped fields. embedded: the value is a resource even if the schema does not
    say so, as the root of an object is.
    """
    paths: list[str] = []
    if node is None:
        _prune_unknown(value, "", paths)
    else:
        _prune_node(value, node, "", paths, embedded or node.embedded)
    if unknown is not None:
        unknown += sort_texts(paths)


def _prune_node(value: Any, node: Node | None, path: str, texts: list[str], embedded: bool, kept: bool = False) -> None:
    """Prune a value. kept: it is an item of a list whose node keeps unknown fields."""
    charge(1)
    if node is None:
        _prune_unknown(value, path, texts)
        return
    kept = kept or node.preserve
    if isinstance(value, dict):
        for key in list(each(value)):
            if embedded and key in META:
                continue
            at = f"{path}.{key}" if path else key
            if key in node.properties or node.has_additional:
                child = node.find_field(key)
                _prune_node(value[key], child, at, texts, child is not None and child.embedded)
            elif not kept:
                texts.append(at)
                del value[key]
    elif isinstance(value, list) and (node.items is not None or not kept):
        items = node.items
        for index, item in enumerate(each(value)):
            if isinstance(item, dict | list):
                _prune_node(item, items, f"{path}[{index}]", texts, items is not None and items.embedded, kept)


def _prune_unknown(value: Any, path: str, texts: list[str]) -> None:
    """Prune a value without a schema: objects become empty, and lists are searched for objects at any depth."""
    todo = [(value, path)]
    while todo:
        item, at = todo.pop()
        charge(1)
        if isinstance(item, dict):
            texts.extend(f"{at}.{key}" if at else key for key in each(item))
            item.clear()
        elif isinstance(item, list):
            todo.extend(
                (child, f"{at}[{index}]") for index, child in enumerate(each(item)) if isinstance(child, dict | list)
            )


def holds_containers(items: list[Any]) -> bool:
    """Return whether any item is an object or a list."""
    charge(len(items))
    return any(item.__class__ in CONTAINERS for item in items)


def has_unknown_container(value: dict[str, Any], declared: frozenset[str]) -> bool:
    """Return whether an object has an unknown field that contains an object or a list, which must be pruned."""
    charge(len(value))
    return any(item.__class__ in CONTAINERS and item and key not in declared for key, item in value.items())
