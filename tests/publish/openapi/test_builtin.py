"""Documents of built-in kinds, made from the tables of their structs."""

from __future__ import annotations

from typing import Any

import pytest

from podless.kinds.builtin import ALL
from podless.kinds.kind import Kind, Version
from podless.meta.structs import BOOL, BYTES, INT32, INT64, MICRO_TIME, RAW, STRING, TIME, Field, ListOf, MapOf, Struct
from podless.publish.openapi import builtin, v2, v2pb, v3, v3pb
from podless.publish.openapi.fact import COORDINATION, CORE, EVENTS, EXTENSIONS
from podless.publish.openapi.facts import FACTS
from podless.publish.openapi.standard import META, REF

GROUPS = sorted({(kind.group, version.name) for kind in ALL for version in kind.versions})
NO_RULES: Any = None
INNER = Struct("Inner", (Field("name", STRING, always=True), Field("count", INT64, pointer=True)))
OUTER: Struct = Struct(
    "Outer",
    lambda: (
        Field("flag", BOOL),
        Field("one", INNER),
        Field("maybe", INNER, pointer=True),
        Field("many", ListOf(INNER)),
        Field("map", MapOf(BYTES)),
        Field("size", INT32),
        Field("when", TIME),
        Field("exactly", MICRO_TIME),
        Field("any", RAW),
        Field("again", OUTER, pointer=True),
    ),
)


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return {one for item in value for one in references(item)}
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(item) for item in value.values()))
    return set()


@pytest.mark.parametrize(("group", "version"), GROUPS)
def test_every_reference_leads_somewhere(group: str, version: str) -> None:
    document = v3.document(group, version, ALL)
    schemas = document["components"]["schemas"]
    assert {reference.removeprefix(REF) for reference in references(document)} <= set(schemas)
    definitions = v2.document(ALL)["definitions"]
    assert set(schemas) <= set(definitions)


@pytest.mark.parametrize(("group", "version"), GROUPS)
def test_texts_and_tables_agree(group: str, version: str) -> None:
    """Every field that has a text is in a struct, and every struct has a text."""
    schemas = v3.document(group, version, ALL)["components"]["schemas"]
    for name, shown in schemas.items():
        if name.startswith((COORDINATION, CORE, EVENTS, EXTENSIONS)):
            fact = FACTS[name]
            properties = set(shown.get("properties", {}))
            assert set(fact.fields) | set(fact.more) | set(fact.required or ()) <= properties, name


def test_all_have_a_protobuf_form() -> None:
    assert b"ResourceQuota" in v2pb.join([v2pb.part(v2.parts(kind)) for kind in ALL], "v1")
    for group, version in GROUPS:
        assert v3pb.document(v3.document(group, version, ALL))


def test_a_quantity_is_a_text_in_version_2() -> None:
    shown = v2.document(ALL)["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]
    assert (shown["type"], "oneOf" in shown) == ("string", False)


def test_namespace() -> None:
    schemas = v3.document("", "v1", ALL)["components"]["schemas"]
    status = schemas[CORE + "NamespaceStatus"]["properties"]
    assert status["phase"]["enum"] == ["Active", "Terminating"]
    assert status["conditions"]["x-kubernetes-patch-merge-key"] == "type"
    whole = schemas[CORE + "Namespace"]
    assert whole["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "Namespace", "version": "v1"}]
    assert whole["properties"]["metadata"]["allOf"] == [{"$ref": f"{REF}{META}ObjectMeta"}]


def test_shapes() -> None:
    kind = Kind(
        "a.k8s.io", "outers", "Outer", "outer", "OuterList", True, (Version("v1"),), "v1", NO_RULES, struct=OUTER
    )
    found = builtin.components(kind, kind.versions[0])
    name = "io.k8s.api.a.v1."
    inner = {"$ref": f"{REF}{name}Inner"}
    shown = found[name + "Outer"]["properties"]
    assert {key: shown[key] for key in ("flag", "one", "maybe", "many", "map", "size", "when", "again")} == {
        "flag": {"type": "boolean"},
        "one": {"default": {}, "allOf": [inner]},
        "maybe": inner,
        "many": {"type": "array", "items": inner},
        "map": {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}},
        "size": {"type": "integer", "format": "int32"},
        "when": {"$ref": f"{REF}{META}Time"},
        "again": {"$ref": f"{REF}{name}Outer"},
    }
    assert found[name + "Inner"] == {
        "type": "object",
        "required": ["name"],
        "properties": {"count": {"type": "integer", "format": "int64"}, "name": {"type": "string", "default": ""}},
    }
    assert references(found) <= {REF + key for key in found} | {f"{REF}{META}{key}" for key in ("Time", "ListMeta")}


def test_operations_are_those_that_are_served() -> None:
    paths = v3.document("", "v1", ALL)["paths"]
    assert set(paths["/api/v1/namespaces"]) == {"get", "post", "parameters"}
    assert set(paths["/api/v1/namespaces/{name}/finalize"]) == {"put", "parameters"}
    update = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" in update["requestBody"]["content"]
    assert update["operationId"] == "patchCoreV1NamespacedConfigMap"
