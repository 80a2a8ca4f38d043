"""What tables of several groups show alike: containers, selectors, lists that are cut short."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from podless.publish.columns.cell import Cell, Object, Of, at
from podless.runtime.meter import each

NONE = "<none>"
_OPERATORS = {"In": "in", "NotIn": "notin"}


def containers(*path: str) -> tuple[Cell, Cell]:
    """The columns of the wide view with the names and images of the containers of a pod at a path."""

    def read(name: str) -> Callable[[Object], str]:
        return lambda obj: ",".join(at(one, name) for one in each(at(obj, *path, "containers", default=())))

    return (
        Cell("Containers", "string", Of("", "Container", "name"), read("name"), priority=1),
        Cell("Images", "string", Of("", "Container", "image"), read("image"), priority=1),
    )


def selector(told: Of, *path: str, empty: str = NONE) -> Cell:
    """The column of the wide view with the label selector at a path."""
    return Cell("Selector", "string", told, lambda obj: selected(at(obj, *path, default=None), empty), priority=1)


def selected(given: Any, empty: str = NONE) -> str:
    """A LabelSelector as a text, by key."""
    found = [(key, f"{key}={value}") for key, value in each(at(given, "matchLabels", default={})).items()]
    found += [(one["key"], _required(one)) for one in each(at(given, "matchExpressions", default=()))]
    return ",".join(text for _, text in sorted(each(found), key=lambda pair: pair[0])) or empty


def _required(one: Mapping[str, Any]) -> str:
    key, operator = one["key"], one["operator"]
    if operator in _OPERATORS:
        return f"{key} {_OPERATORS[operator]} ({','.join(sorted(one.get('values') or ()))})"
    return f"!{key}" if operator == "DoesNotExist" else str(key)


def labels(given: Any) -> str:
    """A map of labels as a text, by key."""
    return ",".join(f"{key}={value}" for key, value in sorted(each(given or {}).items())) or NONE


def cut(found: Sequence[str], joint: str = ",", most: int = 3) -> str:
    """The first of some texts, and how many more there are."""
    more = len(found) - most
    return joint.join(found[:most]) + (f" + {more} more..." if more > 0 else "")


def number(*path: str) -> Callable[[Object], int]:
    """Reads the number at a path, 0 where there is none."""
    return lambda obj: int(at(obj, *path, default=0))


def of(ready: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[[Object], str]:
    """Reads how many of how many there are."""
    return lambda obj: f"{at(obj, *ready, default=0)}/{at(obj, *wanted, default=0)}"


def joined(*path: str, empty: str = "") -> Callable[[Object], str]:
    """Reads the texts at a path, with commas between them."""
    return lambda obj: ",".join(at(obj, *path, default=())) or empty


def balanced(obj: Object) -> str:
    """The addresses that a load balancer was given."""
    ingress = at(obj, "status", "loadBalancer", "ingress", default=())
    return ",".join(sorted({at(one, "ip") or at(one, "hostname") for one in each(ingress)} - {""}))
