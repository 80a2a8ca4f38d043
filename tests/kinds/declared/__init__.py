"""Tests of podless.kinds.declared."""

from __future__ import annotations

from podless.apis import offline
from podless.kinds.declared import CONVERSION
from podless.runtime.jsonobject import Object

V1: Object = {
    "size": {"type": "integer"},
    "time": {"type": "string", "maxLength": 20},
    "color": {"type": "string"},
    "ports": {
        "type": "array",
        "maxItems": 500,
        "items": {"type": "object", "properties": {"port": {"type": "integer"}}},
    },
    "at": {"type": "string", "format": "date-time"},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "namespace": {"type": "string"},
}
V2: Object = {
    "replicas": {"type": "integer"},
    "hours": {"type": "integer"},
    "minutes": {"type": "integer"},
    "color": {"type": "string"},
    "ports": {
        "type": "array",
        "maxItems": 500,
        "items": {"type": "object", "properties": {"number": {"type": "integer"}}},
    },
    "at": {"type": "string", "format": "date-time"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "either": {"x-kubernetes-int-or-string": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}


def define(rules: str, *, v1: Object = V1, v2: Object = V2, plural: str = "widgets", storage: str = "v1") -> Object:
    """A definition with two versions. rules: how it declares conversions between them."""
    versions = {"v1": v1, "v2": v2}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com", "annotations": {CONVERSION: rules}},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.title()[:-1]},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == storage,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": {"type": "object", "properties": properties}},
                        }
                    },
                }
                for name, properties in versions.items()
            ],
        },
    }


def convert(
    rules: str, spec: Object, *, source: str = "v1", target: str = "v2", metadata: Object | None = None
) -> Object:
    """An object of one version in the other, by rules."""
    made = offline.define_kind(define(rules))
    assert made.kind is not None, made.errors
    metadata = {"name": "a"} | (metadata or {})
    obj = {"apiVersion": f"example.com/{source}", "kind": "Widget", "metadata": metadata, "spec": spec}
    return offline.convert_object(made.kind, obj, target)
