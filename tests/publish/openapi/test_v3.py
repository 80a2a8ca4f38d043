"""The documents of custom group-versions against those that a real server was recorded with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podless.kinds.kind import Kind, Scale, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import v3
from tests.conformance.recorded import scenarios

NO_RULES: Strategy[Kind] = Strategy()
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def version_of(body: dict[str, Any]) -> Version:
    subresources = body.get("subresources") or {}
    scale = subresources.get("scale")
    return Version(
        body["name"],
        source=(body.get("schema") or {}).get("openAPIV3Schema"),
        status="status" in subresources,
        scale=Scale(scale["specReplicasPath"], scale["statusReplicasPath"]) if scale else None,
        selectable=tuple(field["jsonPath"] for field in body.get("selectableFields") or ()),
    )


def kind_of(body: dict[str, Any]) -> Kind:
    spec = body["spec"]
    names = spec["names"]
    return Kind(
        group=spec["group"],
        plural=names["plural"],
        kind=names["kind"],
        singular=names.get("singular") or names["kind"].lower(),
        list_kind=names.get("listKind") or names["kind"] + "List",
        namespaced=spec["scope"] == "Namespaced",
        versions=tuple(version_of(version) for version in spec["versions"] if version["served"]),
        storage_version=next(version["name"] for version in spec["versions"] if version["storage"]),
        strategy=NO_RULES,
    )


def patch(body: dict[str, Any], operations: list[dict[str, Any]]) -> dict[str, Any]:
    """The additions of a JSON patch, which is all that the recordings need."""
    body = json.loads(json.dumps(body))
    for operation in operations:
        assert operation["op"] == "add"
        *parents, last = operation["path"].strip("/").split("/")
        place: Any = body
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place[name]
        place[last] = operation["value"]
    return body


def recorded() -> list[Any]:
    """(kinds, group, version, the parts that were recorded) of every document."""
    found = []
    for recording in scenarios("openapi"):
        definitions: dict[str, dict[str, Any]] = {}
        for number, step in enumerate(recording["steps"]):
            path = step.get("path", "")
            if step.get("method") == "POST" and path == CRDS:
                definitions[step["body"]["metadata"]["name"]] = step["body"]
            elif step.get("method") == "PATCH":
                name = path.rpartition("/")[2]
                definitions[name] = patch(definitions[name], step["body"])
            elif path.startswith("/openapi/v3/") and isinstance(step["expect"].get("body"), dict):
                group, version = path.split("/")[-2:]
                kinds = [kind_of(body) for body in definitions.values()]
                found.append(
                    pytest.param(kinds, group, version, step["expect"]["body"], id=f"{recording['name']}-{number}")
                )
    return found


def pick(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[name]
    return value


def told(value: Any) -> set[str]:
    """All descriptions in a value."""
    if isinstance(value, list):
        return set().union(*map(told, value))
    if isinstance(value, dict):
        own = value.get("description")
        return set().union({own} if isinstance(own, str) else (), *map(told, value.values()))
    return set()


def masked(value: Any, known: set[str]) -> Any:
    """The value with a mark in place of each description that its definitions did not bring: those are our own."""
    if isinstance(value, list):
        return [masked(item, known) for item in value]
    if isinstance(value, dict):
        return {
            key: "ours" if key == "description" and isinstance(item, str) and item not in known else masked(item, known)
            for key, item in value.items()
        }
    return value


def text(value: Any) -> str:
    """Equal as JSON, where 1 and 1.0 and true differ; readable in a diff."""
    return json.dumps(value, sort_keys=True, indent=1)


@pytest.mark.parametrize(("kinds", "group", "version", "want"), recorded())
def test_as_recorded(kinds: list[Kind], group: str, version: str, want: dict[str, Any]) -> None:
    document = json.loads(json.dumps(v3.make_group_version_document(group, version, kinds)))
    metadata = document["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    assert metadata["properties"].pop("managedFields"), "which recordings leave out everywhere"
    known = told([version.schema for kind in kinds for version in kind.versions])
    for path, value in want.items():
        assert text(masked(pick(document, path), known)) == text(masked(value, known))
