"""The definitions and objects that benchmarks work with: an object of 1.2 KB, definitions of 72 properties."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

GROUP, VERSION, PLURAL, KIND = "bench.podless.example", "v1", "engines", "Engine"
OBJECTS = f"/apis/{GROUP}/{VERSION}/namespaces/default/{PLURAL}"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
SHARDS = 100  # values of a label, from s100 on

RULES = (
    "self.lowest <= self.cylinders && self.cylinders <= self.highest",
    "!has(self.valves) || self.valves.all(v, v.size > 0 && v.size < 65536)",
)
_TEXT = {"type": "string", "maxLength": 300}
_PART = {
    "type": "object",
    "description": "One of the many parts that such an engine may have, told at some length in plain words.",
    "properties": {
        "maker": {"type": "string"},
        "weight": {"type": "integer"},
        "serials": {"type": "array", "items": {"type": "string"}},
    },
}
_VALVE = {
    "type": "object",
    "required": ["name", "size"],
    "properties": {"name": _TEXT, "size": {"type": "integer"}, "steel": {"type": "string", "default": "X45CrSi9-3"}},
}
_SPEC: dict[str, Any] = {
    "model": {"type": "string", "maxLength": 200, "pattern": "^[a-z0-9./:-]+$"},
    "cylinders": {"type": "integer", "minimum": 0, "maximum": 100_000},
    "lowest": {"type": "integer", "default": 0},
    "highest": {"type": "integer", "default": 1_000_000},
    "service": {"type": "string", "default": "every 10000 km"},
    "fuel": {"type": "string", "enum": ["Petrol", "Diesel", "Gas"], "default": "Petrol"},
    "valves": {
        "type": "array",
        "maxItems": 20,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": _VALVE,
    },
    "settings": {
        "type": "array",
        "maxItems": 50,
        "items": {"type": "object", "properties": {"name": _TEXT, "value": _TEXT}},
    },
    "marks": {"type": "object", "additionalProperties": {"type": "string"}},
    "limits": {
        "type": "object",
        "properties": {name: {"x-kubernetes-int-or-string": True} for name in ("power", "torque")},
    },
}


def definition(
    plural: str = PLURAL, kind: str = KIND, group: str = GROUP, rules: Sequence[str] = RULES, parts: int = 0
) -> dict[str, Any]:
    """A CustomResourceDefinition. rules: of its spec. parts: how many properties more its spec has."""
    properties = {**_SPEC, **{f"part{number}": _PART for number in range(parts)}}
    spec: dict[str, Any] = {"type": "object", "required": ["model", "cylinders"], "properties": properties}
    if rules:
        spec["x-kubernetes-validations"] = [{"rule": rule} for rule in rules]
    status = {"type": "object", "properties": {"ready": {"type": "integer"}, "phase": {"type": "string"}}}
    columns = [
        {"name": "Cylinders", "type": "integer", "jsonPath": ".spec.cylinders"},
        {"name": "Fuel", "type": "string", "jsonPath": ".spec.fuel"},
    ]
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [version],
        },
    }


def wide(plural: str, kind: str, group: str) -> dict[str, Any]:
    """A definition of 72 properties."""
    return definition(plural, kind, group, parts=72 - len(_SPEC) - 2)


def engine(name: str, shard: str = "s100", group: str = GROUP) -> dict[str, Any]:
    """An object of about 1.2 KB; 1.9 KB as stored."""
    return {
        "apiVersion": f"{group}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": name, "labels": {"app": "bench", "shard": shard}, "annotations": {"note": "n" * 120}},
        "spec": {
            "model": "works.example.com/series/engine:1.2.3",
            "cylinders": 6,
            "valves": [{"name": f"valve-{number}", "size": 30 + number} for number in range(6)],
            "settings": [{"name": f"SETTING_{number}", "value": "v" * 24} for number in range(8)],
            "marks": {f"mark{number}": "m" for number in range(5)},
            "limits": {"power": "150k", "torque": 320},
        },
    }


def text(obj: dict[str, Any]) -> str:
    """JSON without spaces, as clients send it."""
    return json.dumps(obj, separators=(",", ":"))
