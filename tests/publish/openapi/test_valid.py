"""The published documents are OpenAPI 3.0 to a validator that knows nothing of Kubernetes, as client generators use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV30SpecValidator

from podless import Server
from tests.conformance import recorded
from tests.conftest import CRDS, Client

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Server() as server:
        client = Client(server.url, server.token)
        yield client
        client.close()


def faults(document: Any) -> list[str]:
    """What the validator finds.

    A default of {} where fields are required is how definitions, and the server's own kinds, say that the fields inside
    have defaults of their own; the validator does not fill them in. Where one of several texts is required, the default
    of the server's own kinds is the empty text, as a real server has it.
    """

    def of_default(error: Any) -> bool:  # such an error is found in the default by itself, outside of the document
        return (error.validator, error.instance) in (("required", {}), ("enum", "")) and not error.absolute_path

    return [error.message for error in OpenAPIV30SpecValidator(document).iter_errors() if not of_default(error)]


def _group(definition: Any) -> str:
    return str(definition["spec"]["group"])


def _real() -> list[tuple[str, list[Any]]]:
    definitions = sorted(recorded.real_definitions(), key=_group)
    return [(group, list(found)) for group, found in groupby(definitions, _group)]


@pytest.mark.slow
@pytest.mark.parametrize(("group", "definitions"), _real(), ids=lambda given: given if isinstance(given, str) else "")
def test_real_definitions(client: Client, group: str, definitions: list[Any]) -> None:
    versions = set()
    for definition in definitions:
        assert client.post(CRDS, definition).status == 201
        versions |= {version["name"] for version in definition["spec"]["versions"] if version["served"]}
    for version in sorted(versions):
        document = client.get(f"/openapi/v3/apis/{group}/{version}").body
        assert document["openapi"].startswith("3.0.")
        assert faults(document) == []


@pytest.mark.parametrize("path", ["api/v1", "apis/apiextensions.k8s.io/v1", "apis/events.k8s.io/v1"])
def test_the_servers_own_documents(client: Client, path: str) -> None:
    assert faults(client.get(f"/openapi/v3/{path}").body) == []


def test_a_definition_with_everything_a_schema_may_say(client: Client) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "description": "all of it",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "externalDocs": {"url": "https://example.com"},
                "x-kubernetes-validations": [{"rule": "self.count > 0"}],
                "properties": {
                    "count": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 1,
                        "exclusiveMinimum": True,
                        "default": 2,
                    },
                    "either": {"x-kubernetes-int-or-string": True},
                    "any": {"x-kubernetes-preserve-unknown-fields": True},
                    "map": {"type": "object", "additionalProperties": {"type": "string"}},
                    "set": {
                        "type": "array",
                        "x-kubernetes-list-type": "set",
                        "items": {"type": "string", "enum": ["a"]},
                    },
                    "null": {"type": "string", "nullable": True, "example": "x", "pattern": "^x"},
                    "choice": {"type": "number", "oneOf": [{"minimum": 9}, {"maximum": 1}], "not": {"enum": [0.5]}},
                    "inner": {
                        "type": "object",
                        "x-kubernetes-embedded-resource": True,
                        "x-kubernetes-preserve-unknown-fields": True,
                    },
                },
            }
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    version["subresources"] = {
        "status": {},
        "scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.b"},
    }
    for scope in ("Namespaced", "Cluster"):
        plural = f"{scope.lower()}things"
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.valid.example.com"},
            "spec": {
                "group": "valid.example.com",
                "scope": scope,
                "names": {"plural": plural, "kind": f"{scope}Thing"},
                "versions": [version],
            },
        }
        assert client.post(CRDS, definition).status == 201
    assert faults(client.get("/openapi/v3/apis/valid.example.com/v1").body) == []


def test_the_validator_finds_faults() -> None:
    assert faults({"openapi": "3.0.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": {}}}})
