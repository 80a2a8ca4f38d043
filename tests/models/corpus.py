"""Definitions of the recordings, and random objects of a schema: sound ones, and ones with a fault."""

from __future__ import annotations

import functools
import random
from typing import Any

from podless.runtime.jsonobject import Object
from tests.conformance import recorded
from tests.conformance.replay import CRDS

EVERY = "PODLESS_EVERY_DEFINITION"  # the environment variable that asks for more than a sample


@functools.cache
def definitions() -> list[Object]:
    """The definitions that a real server accepted, one for each kind, in the order of their names."""
    found: dict[tuple[str, str], Object] = {}
    for area in recorded.areas():
        for scenario in recorded.scenarios(area):
            for step in scenario["steps"]:
                body = step.get("body")
                if step.get("method") != "POST" or step.get("path") != CRDS or not isinstance(body, dict):
                    continue
                accepted = (step.get("expect") or {}).get("status") == 201
                v1 = body.get("apiVersion") == "apiextensions.k8s.io/v1"
                if accepted and v1 and not body["spec"].get("preserveUnknownFields"):
                    found.setdefault((body["spec"]["group"], body["spec"]["names"]["kind"]), body)
    return [found[key] for key in sorted(found)]


_TEXTS = ("", "a", "abc", "on", "x" * 70, "10.0.0.1", "2024-01-01T00:00:00Z", "5Gi", "é")
_WRONG: tuple[Any, ...] = (None, 0, -1, 1.5, "text", True, [], {}, [1], {"a": 1})


def make_value(node: Object, chance: random.Random, depth: int = 0) -> Any:
    """A value that a schema mostly allows."""
    if chance.random() < 0.01:
        # the server accepts an array in place of a text with a format (kube-openapi's type.go), and no type says that
        skipped = list if node.get("type") == "string" and node.get("format") else ()
        return chance.choice([value for value in _WRONG if not isinstance(value, skipped)])
    if node.get("enum") and chance.random() < 0.9:
        return chance.choice(node["enum"])
    if node.get("x-kubernetes-int-or-string"):
        return chance.choice([1, "1", "50%", 0])
    match node.get("type"):
        case "string":
            return chance.choice(_TEXTS)
        case "integer":
            return chance.choice([0, 1, 5, 100, -3])
        case "number":
            return chance.choice([0, 1, 2.5, -0.5])
        case "boolean":
            return chance.random() < 0.5
        case "array":
            count = chance.choice([0, 1, 2]) if depth < 12 else 0
            return [make_value(node.get("items") or {}, chance, depth + 1) for _ in range(count)]
        case "object":
            return _make_object(node, chance, depth)
    return chance.choice([1, "a", {"b": 1}, [1]])


def _make_object(node: Object, chance: random.Random, depth: int) -> Object:
    required = node.get("required") or ()
    share = 0.6 if depth < 3 else 0.2
    made = {
        name: make_value(part, chance, depth + 1)
        for name, part in (node.get("properties") or {}).items()
        if chance.random() < (0.97 if name in required else share)
    }
    inner = node.get("additionalProperties")
    if isinstance(inner, dict):
        made |= {name: make_value(inner, chance, depth + 1) for name in ("k", "l")[: chance.choice([0, 1, 2])]}
    if chance.random() < 0.05:
        made["unknownToAll"] = 1
    return made


def make_object(definition: Object, version: Object, chance: random.Random) -> Object:
    """An object of one version of a definition."""
    node = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    made = _make_object({**node, "type": "object"}, chance, 0)
    head = {
        "apiVersion": f"{definition['spec']['group']}/{version['name']}",
        "kind": definition["spec"]["names"]["kind"],
        "metadata": {"name": "a"},
    }
    return made | head
