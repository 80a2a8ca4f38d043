"""The columns of the built-in kinds' tables, as data: one module a group, imported when a table is first asked for.

A module has COLUMNS: plural -> cells, or GROUPS: group -> them. What a column shows is told where the field is
(publish/texts.py). Source: the recorded tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from podless.publish.columns.cell import DATED, Cell

# API group -> the module of its columns
_MODULES: Mapping[str, str] = {
    "": "core",
    "admissionregistration.k8s.io": "admission",
    "apiregistration.k8s.io": "apiregistration",
    "apps": "apps",
    "autoscaling": "autoscaling",
    "batch": "batch",
    "certificates.k8s.io": "cluster",
    "coordination.k8s.io": "coordination",
    "discovery.k8s.io": "cluster",
    "events.k8s.io": "events",
    "extensions": "extensions",
    "flowcontrol.apiserver.k8s.io": "cluster",
    "networking.k8s.io": "networking",
    "node.k8s.io": "cluster",
    "policy": "policy",
    "rbac.authorization.k8s.io": "rbac",
    "resource.k8s.io": "resource",
    "scheduling.k8s.io": "cluster",
    "storage.k8s.io": "storage",
}
GROUPS = tuple(_MODULES)


def of_group(group: str) -> Mapping[str, tuple[Cell, ...]]:
    """The columns of a group's kinds by their plural."""
    name = _MODULES.get(group)
    if not name:
        return {}
    module = import_module(f"{__name__}.{name}")
    found: Mapping[str, tuple[Cell, ...]] = module.GROUPS[group] if hasattr(module, "GROUPS") else module.COLUMNS
    return found


# a server shows these lists in the order of something else than the name
_ORDERS: Mapping[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("flowcontrol.apiserver.k8s.io", "flowschemas"): lambda obj: (
        obj["spec"].get("matchingPrecedence", 0),
        obj["metadata"]["name"],
    ),
}


def order(group: str, plural: str) -> Callable[[dict[str, Any]], Any] | None:
    """What the rows of a built-in kind are sorted by; None where they are as they are listed."""
    return _ORDERS.get((group, plural))


def columns(group: str, plural: str) -> tuple[Cell, ...]:
    """The columns of a built-in kind; one that has none of its own shows when it was created, as on a real server."""
    return of_group(group).get(plural, DATED)
