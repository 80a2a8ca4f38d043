"""The version 2 document: what it loses, and that it is whole."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from podless.apis.release import RECORDED_FACTS
from podless.kinds.kind import Kind, Scale, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import pages, schema
from podless.publish.openapi.standard import META
from tests.publish.openapi.whole import swagger

NO_RULES: Strategy[Kind] = Strategy()


def kind(*versions: Version, namespaced: bool = True) -> Kind:
    return Kind("g.example.com", "things", "Thing", "thing", "ThingList", namespaced, versions, "v1", NO_RULES)


LOSSES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "string", "allOf": [{"minLength": 1}], "anyOf": [{}], "oneOf": [{}], "not": {}}, {"type": "string"}),
    ({"type": "string", "default": "x", "maxLength": 3}, {"type": "string", "maxLength": 3}),
    ({"type": "string", "nullable": True, "format": "date"}, {"format": "date"}),
    ({"type": "array", "nullable": True, "items": {"type": "string"}, "maxItems": 2}, {"maxItems": 2}),
    ({"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}}, {}),
    (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "string"}}},
        {"x-kubernetes-preserve-unknown-fields": True},
    ),
    (
        {"type": "array", "x-kubernetes-preserve-unknown-fields": True, "items": {"type": "string"}},
        {"x-kubernetes-preserve-unknown-fields": True},
    ),
    ({"x-kubernetes-int-or-string": True}, {"x-kubernetes-int-or-string": True}),
    (
        {
            "type": "object",
            "required": ["a", "b"],
            "properties": {"a": {"type": "string", "nullable": True}, "b": {"type": "string"}},
        },
        {"type": "object", "required": ["b"], "properties": {"a": {}, "b": {"type": "string"}}},
    ),
    (
        {"type": "object", "required": ["a"], "additionalProperties": {"type": "string", "nullable": True}},
        {"type": "object", "additionalProperties": {}},
    ),
    # names of fields are no keywords
    (
        {"type": "object", "properties": {"default": {"type": "string", "default": "x"}, "not": {"type": "string"}}},
        {"type": "object", "properties": {"default": {"type": "string"}, "not": {"type": "string"}}},
    ),
]


@pytest.mark.parametrize(("given", "want"), LOSSES)
def test_losses(given: dict[str, Any], want: dict[str, Any]) -> None:
    assert schema.convert_to_v2(given) == want


def test_a_root_that_keeps_unknown_fields_says_nothing_of_fields() -> None:
    given = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "string"}}}
    assert schema.make_component(given, v2=True) == {"type": "object"}
    assert schema.make_component(None, v2=True) == {"type": "object"}


def test_an_embedded_object_that_keeps_unknown_fields_gets_no_metadata() -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True}
    given = {"type": "object", "properties": {"a": inner, "b": inner | {"x-kubernetes-preserve-unknown-fields": True}}}
    shown = schema.make_component(given, v2=True)["properties"]
    assert set(shown["a"]["properties"]) == {"apiVersion", "kind", "metadata"}
    assert shown["a"]["required"] == ["kind", "apiVersion"]
    assert "properties" not in shown["b"]
    assert shown["metadata"]["$ref"] == f"#/definitions/{META}ObjectMeta"


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return {one for item in value for one in references(item)}
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(item) for item in value.values()))
    return set()


def test_whole() -> None:
    scaled = Version("v1", {"type": "object"}, status=True, scale=Scale(".spec.replicas", ".status.replicas"))
    document = swagger([kind(scaled, Version("v1beta1"))])
    for reference in references(document):
        _, area, name = reference.split("/")
        assert name in document[area]
    assert "default" not in json.dumps(document["definitions"][META + "Status"]["properties"]["metadata"])
    names = [op["operationId"] for path in document["paths"].values() for op in path.values() if isinstance(op, dict)]
    assert len(names) == len(set(names)) == 22 + len(pages.list_pages())
    read = document["paths"]["/apis/g.example.com/v1/namespaces/{namespace}/things/{name}"]
    assert read["parameters"][1:] == [
        {"$ref": "#/parameters/namespace-vgWSWtn3"},
        {"$ref": "#/parameters/pretty-tJGM1-ng"},
    ]
    assert read["patch"]["parameters"][1]["name"] == "dryRun"


def test_a_kind_that_is_registered_in_each_group_names_more_of_them_than_in_version_3() -> None:
    definitions = swagger([])["definitions"]
    for noun in ("DeleteOptions", "WatchEvent"):
        gvks = definitions[META + noun]["x-kubernetes-group-version-kind"]
        assert {"group": "admission.k8s.io", "kind": noun, "version": "v1beta1"} in gvks
        assert gvks == sorted(gvks, key=lambda gvk: (gvk["group"], gvk["version"]))


def test_shared_parameters_have_a_name_and_a_hash() -> None:
    for key, name in RECORDED_FACTS.parameters.items():
        noun, code = name[:-9], name[-8:]
        assert (noun, name[-9]) == (key.split()[0], "-")
        assert len(base64.urlsafe_b64decode(code)) == 6
    assert len(set(RECORDED_FACTS.parameters.values())) == len(RECORDED_FACTS.parameters)


def fnv(data: bytes) -> bytes:
    value = 0xCBF29CE484222325
    for byte in data:
        value = value * 0x100000001B3 % 2**64 ^ byte
    return value.to_bytes(8, "big")


def test_shared_bodies_are_named_by_their_hash() -> None:
    shared = swagger([])["parameters"]
    for name in RECORDED_FACTS.bodies.values():
        encoded = json.dumps(shared[name], separators=(",", ":")).encode()
        assert name == f"body-{base64.urlsafe_b64encode(fnv(encoded)[:6]).decode()}"


def test_a_patch_of_a_custom_object_has_a_body_of_three_types() -> None:
    path = swagger([kind(Version("v1"))])["paths"]["/apis/g.example.com/v1/namespaces/{namespace}/things/{name}"]
    assert path["patch"]["parameters"][0] == {"$ref": "#/parameters/body-78PwaGsr"}
    types = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]
    assert path["patch"]["consumes"] == types


def test_the_version_has_no_patch() -> None:
    assert swagger([])["info"]["version"] == "1.36"


@pytest.mark.parametrize("levels", [1, 3, 9])
@pytest.mark.parametrize(
    "part",
    [
        {}, {"description": ""}, {"title": "a"}, {"type": ""}, {"type": "array"}, {"required": []}, {"required": ["b"]},
        {"maxLength": 0}, {"maxLength": 2}, {"pattern": "a"}, {"nullable": True}, {"nullable": False}, {"default": 1},
        {"enum": ["a"]}, {"minimum": 1e30}, {"minimum": 2.0}, {"uniqueItems": False}, {"allOf": [{"minLength": 1}]},
        {"items": {}}, {"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}},
        {"properties": {}}, {"properties": {"b": {}}}, {"properties": {"b": {"type": "array"}}},
        {"additionalProperties": True}, {"additionalProperties": {"type": "string", "nullable": True}},
        {"x-kubernetes-int-or-string": True}, {"x-kubernetes-list-type": "atomic"}, {"externalDocs": {"url": "a"}},
        {"id": "a"},
    ],
)  # fmt: skip
def test_a_schema_that_is_shown_as_it_is_shows_what_a_walk_makes_of_it(
    levels: int, part: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    node: dict[str, Any] = {"type": "object", **part}
    for _ in range(levels):
        node = {"type": "object", "properties": {"a": {"description": "A.", "type": "string"}, "b": node}}
    if not schema._is_unchanged(node, 99):
        return
    monkeypatch.setattr(schema, "_is_unchanged", lambda schema: False)
    assert schema.publish_schema(node) == schema.convert_to_v2(node) == node
