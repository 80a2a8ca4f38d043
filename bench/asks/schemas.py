"""Schemas of the kinds that requests are about."""

from __future__ import annotations

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "map": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
                },
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "numbers": {"type": "array", "items": {"type": "integer"}},
                "pattern": {"type": "string", "pattern": "^(a|b|ab)*c?(a.{0,20}b)*$"},
                "one": {"type": "string", "pattern": "(x+x+)+y"},
                "duration": {"type": "string", "format": "duration"},
                "stamp": {"type": "string", "format": "date-time"},
                "email": {"type": "string", "format": "email"},
            },
        }
    },
}

RULED = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "maxItems": 1000000,
                    "items": {
                        "type": "object",
                        "properties": {"k": {"type": "string", "maxLength": 10}, "v": {"type": "integer"}},
                        "x-kubernetes-validations": [{"rule": "self.v >= 0"}],
                    },
                },
                "names": {
                    "type": "array",
                    "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]},
                },
                "map": {
                    "type": "object",
                    "additionalProperties": {"type": "integer"},
                    "x-kubernetes-validations": [{"rule": "!('a' in self)"}],
                },
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    },
}
