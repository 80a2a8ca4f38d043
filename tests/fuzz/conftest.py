from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from tests.conftest import CRDS, definition
from tests.fuzz.wire import GROUP, Wire

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 0, "default": 1},
                "s": {"type": "string", "maxLength": 10, "pattern": "^a"},
                "l": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
                },
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "io": {"x-kubernetes-int-or-string": True},
                "m": {"type": "object", "additionalProperties": {"type": "number", "nullable": True}},
                "t": {"type": "string", "format": "date-time"},
            },
            "x-kubernetes-validations": [{"rule": "!has(self.n) || self.n < 100 || has(self.s)"}],
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


@pytest.fixture(scope="session")
def target() -> Iterator[Server]:
    with Server(tls=False) as server:
        wire = Wire(server)
        version: dict[str, Any] = {
            "schema": {"openAPIV3Schema": SCHEMA},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
            "additionalPrinterColumns": [
                {"name": "N", "type": "integer", "jsonPath": ".spec.n"},
                {"name": "T", "type": "date", "jsonPath": ".spec.t"},
                {"name": "L", "type": "string", "jsonPath": ".spec.l[?(@.k=='a')].k"},
            ],
        }
        assert wire.json("POST", CRDS, definition(GROUP, **version))[0] == 201
        yield server


@pytest.fixture
def wire(target: Server) -> Iterator[Wire]:
    wire = Wire(target)
    yield wire
    wire.close()
