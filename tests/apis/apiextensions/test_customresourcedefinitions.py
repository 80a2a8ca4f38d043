"""Definitions: what of a schema counts though it is empty."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.apiextensions.group import DEFINITIONS

V1 = DEFINITIONS.by_version["v1"]


def decoded(schema: dict[str, Any], *, status: bool = False) -> dict[str, Any]:
    version: dict[str, Any] = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": {"plural": "as", "kind": "A"}}
    return DEFINITIONS.strategy.decode(
        DEFINITIONS,
        V1,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "as.example.com"},
            "spec": {**spec, "versions": [version | ({"subresources": {"status": {}}} if status else {})]},
        },
        [],
    )


def faults(schema: dict[str, Any], *, status: bool = False) -> list[str]:
    obj = decoded(schema, status=status)
    DEFINITIONS.strategy.prepare_create(V1, obj)
    return [str(error) for error in DEFINITIONS.strategy.validate(V1, obj, None)]


EMPTY: list[tuple[str, Any]] = [("enum", []), ("anyOf", []), ("definitions", {}), ("x-kubernetes-list-map-keys", [])]


@pytest.mark.parametrize(("name", "value"), EMPTY)
def test_beside_a_status_the_root_has_not_even_empty_keywords(name: str, value: Any) -> None:
    (fault,) = faults({"type": "object", name: value}, status=True)
    assert fault.endswith("fields are allowed at the root of the schema if the status subresource is enabled")
    assert not faults({"type": "object", name: value})


@pytest.mark.parametrize("name", ["required", "x-kubernetes-validations"])
def test_what_may_be_at_the_root_may_be_empty(name: str) -> None:
    obj = decoded({"type": "object", name: []}, status=True)
    assert obj["spec"]["versions"][0]["schema"] == {"openAPIV3Schema": {"type": "object"}}


@pytest.mark.parametrize(("name", "value"), [*EMPTY, ("required", []), ("properties", {})])
def test_the_pair_of_int_or_string_says_nothing_else(name: str, value: Any) -> None:
    def either(first: dict[str, Any]) -> dict[str, Any]:
        pair = {"x-kubernetes-int-or-string": True, "anyOf": [first, {"type": "string"}]}
        return {"type": "object", "properties": {"port": pair}}

    assert not faults(either({"type": "integer"}))
    assert any("anyOf[0].type: Forbidden" in fault for fault in faults(either({"type": "integer", name: value})))
