"""Patches, managers and metadata (rows P)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.asks.ask import MAPS, Ask, ask, config, named, text
from bench.attacks.attack import ADMIN, CORE, Attack, Site, merge, numbers, post

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_ERROR = 96  # MB that stay with the process after an error of 12 MB
_JSON_PATCH = "application/json-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch+yaml"


def _patch(path: str, body: Any, media: str) -> Ask:
    return ask("PATCH", path, text(body), media, Authorization=f"Bearer {ADMIN}")


def _operations(make: Callable[[Site], list[Any]]) -> Callable[[Site], Sequence[Ask]]:
    """A JSON patch of an object with an array of 20,000 items."""

    def setup(site: Site) -> Sequence[Ask]:
        path = site.define(_ANY)
        site.post(path, named({"l": [{"a": number} for number in range(site.many(20_000))]}))
        return [_patch(f"{path}/a", make(site), _JSON_PATCH)]

    return setup


def _front_copies(site: Site) -> list[Any]:
    return [{"op": "copy", "from": "/spec/l/0", "path": "/spec/l/0"}] * site.many(9000)


def _moves(site: Site) -> list[Any]:
    last = site.many(20_000) - 1
    return [{"op": "move", "from": "/spec/l/0", "path": f"/spec/l/{last}"}] * site.many(5000)


def _array_copies(site: Site) -> list[Any]:
    names = numbers("m", site.many(30))
    copies = [{"op": "copy", "from": "/spec/l", "path": f"/spec/{name}"} for name in names]
    return copies + [{"op": "remove", "path": f"/spec/{name}"} for name in names]


def _containers(names: list[str], keys: list[str], value: str, **more: Any) -> list[Any]:
    env = [{"name": key, "value": value} for key in keys]
    return [{"name": name, "image": "i", "env": env, **more} for name in names]


def _ordered(*, reverse: bool) -> Callable[[Site], Sequence[Ask]]:
    """A patch of all containers, whose order is given. reverse: as the patch lists them; else this is an error."""

    def setup(site: Site) -> Sequence[Ask]:
        names, keys = numbers("c", site.many(2000)), numbers("e", 8)
        site.post(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": {"containers": _containers(names, keys, "v")}})
        spec = {"$setElementOrder/containers": [{"name": name} for name in reversed(names)]}
        if reverse:
            names, keys = names[::-1], keys[::-1]
        order = {"$setElementOrder/env": [{"name": key} for key in keys]}
        spec["containers"] = _containers(names, keys, "w", **order)
        return [_patch(f"{CORE}/pods/p?dryRun=All", {"spec": spec}, _STRATEGIC)]

    return setup


def _managers(site: Site) -> Sequence[Ask]:
    """Appliers of the same fields, a third of them each."""
    path = site.define(_ANY)
    return [
        _patch(
            f"{path}/a?fieldManager=m{number}&force=true",
            named({f"k{key}": number for key in range(number % 3, 600, 3)}),
            _APPLY,
        )
        for number in range(site.many(200))
    ]


def _metadata(site: Site) -> Sequence[Ask]:
    many = site.many(9000)
    metadata = {
        "name": "o",
        "finalizers": [f"example.com/{name}" for name in numbers("f", many)],
        "annotations": dict.fromkeys(numbers("a", many), ""),
        "labels": dict.fromkeys(numbers("l", many), "x"),
    }
    return [post(MAPS, config("o") | {"metadata": metadata}), merge(f"{MAPS}/o", {"metadata": {"finalizers": []}})]


ATTACKS = [
    Attack("P1", "9,000 copies to the front of an array of 20,000", _operations(_front_copies)),
    Attack("P2", "5,000 moves from the front of an array of 20,000 to its end", _operations(_moves)),
    Attack("P3", "30 copies of an array of 20,000", _operations(_array_copies)),
    Attack("P4", "a strategic merge patch that orders 2,000 containers", _ordered(reverse=True), keeps=_ERROR),
    Attack("P4b", "the same with containers in another order", _ordered(reverse=False), fails=True),
    Attack("P5", "200 managers apply 600 fields", _managers),
    Attack("P6", "9,000 finalizers, labels and annotations, then a patch", _metadata),
]
