"""Documents of built-in kinds, made from the tables of their structs."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.catalog import ALL
from podless.fields import strategic
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import builtin, gnostic, v3
from podless.publish.openapi.standard import CORE, META, REF, find_package
from podless.structs.gotypes import BOOL, BYTES, INT32, INT64, MICRO_TIME, RAW, STRING, TIME, ListOf, MapOf
from podless.structs.structs import Field, Struct
from tests.publish.openapi.whole import encode_swagger, swagger

pytestmark = pytest.mark.slow

GROUPS = sorted({(kind.group, version.name) for kind in ALL for version in kind.versions})
NO_RULES: Strategy[Kind] = Strategy()
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
    document = v3.make_group_version_document(group, version, ALL)
    schemas = document["components"]["schemas"]
    assert {reference.removeprefix(REF) for reference in references(document)} <= set(schemas)
    definitions = swagger(ALL)["definitions"]
    assert set(schemas) <= set(definitions)


def test_a_kind_that_others_contain_says_what_it_is() -> None:
    said = [{"group": "", "kind": "PersistentVolumeClaim", "version": "v1"}]
    for shown in (
        swagger(ALL)["definitions"],
        v3.make_group_version_document("apps", "v1", ALL)["components"]["schemas"],
    ):
        assert shown["io.k8s.api.core.v1.PersistentVolumeClaim"]["x-kubernetes-group-version-kind"] == said


def test_a_union_names_what_tells_its_fields_apart() -> None:
    definitions = swagger(ALL)["definitions"]
    fields = {"exempt": "Exempt", "limited": "Limited"}
    said = definitions["io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec"]["x-kubernetes-unions"]
    assert said == [{"discriminator": "type", "fields-to-discriminateBy": fields}]
    said = definitions["io.k8s.api.core.v1.PodSchedulingGroup"]["x-kubernetes-unions"]
    assert said == [{"fields-to-discriminateBy": {"podGroupName": "PodGroupName"}}]


def test_who_deletes_a_collection_watches_nothing() -> None:
    collection = v3.make_group_version_document("", "v1", ALL)["paths"]["/api/v1/namespaces/{namespace}/configmaps"]
    assert {parameter["name"] for parameter in collection["get"]["parameters"]} >= {"allowWatchBookmarks", "watch"}
    assert not {parameter["name"] for parameter in collection["delete"]["parameters"]} & {
        "allowWatchBookmarks",
        "watch",
    }


def test_all_have_a_protobuf_form() -> None:
    assert b"ResourceQuota" in encode_swagger(swagger(ALL))
    for group, version in GROUPS:
        assert gnostic.V3.encode("Document", v3.make_group_version_document(group, version, ALL))


def test_a_quantity_is_a_text_in_version_2() -> None:
    shown = swagger(ALL)["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]
    assert (shown["type"], "oneOf" in shown) == ("string", False)


def test_namespace() -> None:
    schemas = v3.make_group_version_document("", "v1", ALL)["components"]["schemas"]
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
    found = builtin.make_kind_components(kind, kind.versions[0])
    name = "io.k8s.api.a.v1."
    inner = {"$ref": f"{REF}{name}Inner"}
    shown = found[name + "Outer"]["properties"]
    assert {key: shown[key] for key in ("flag", "one", "maybe", "many", "map", "size", "when", "again")} == {
        "flag": {"type": "boolean"},
        "one": {"default": {}, "allOf": [inner]},
        "maybe": inner,
        "many": {"x-kubernetes-list-type": "atomic", "type": "array", "items": inner},
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


def lists(schemas: dict[str, Any], name: str, path: str) -> dict[str, str]:
    """The lists of a component and of those in it that say how a strategic merge patch merges them: path -> key.

    What is taken whole has $whole, as in the table that is compared.
    """
    found = {}
    for key, shown in schemas[name].get("properties", {}).items():
        inside = f"{path}.{key}" if path else key
        if shown.get("type") == "array" and shown.get("x-kubernetes-patch-strategy", "").startswith("merge"):
            found[inside] = shown.get("x-kubernetes-patch-merge-key", "")
        elif shown.get("x-kubernetes-patch-strategy") == "replace":
            found[inside] = "$whole"
        for reference in references(shown) - {REF + name}:
            if "JSONSchemaProps" not in reference:
                found |= lists(schemas, reference.removeprefix(REF), inside)
    return found


@pytest.mark.parametrize("kind", [kind for kind in ALL if not kind.virtual], ids=lambda kind: kind.resource)
def test_lists_are_merged_as_the_document_says(kind: Kind) -> None:
    schemas = v3.make_group_version_document(kind.group, kind.versions[0].name, ALL)["components"]["schemas"]
    said = lists(schemas, find_package(kind.group, kind.versions[0].name) + kind.kind, "")
    struct = kind.struct_of(kind.versions[0])
    assert struct is not None
    known = strategic.make_merge_table(struct)
    others = ("x-kubernetes", "$fields")
    merged = {path: key for path, key in known.items() if key != "$raw" and not any(one in path for one in others)}
    assert said == merged


def test_old_watch_paths() -> None:
    paths = v3.make_group_version_document("", "v1", ALL)["paths"]
    watch = paths["/api/v1/watch/namespaces/{namespace}/configmaps"]["get"]
    assert (watch["operationId"], watch["x-kubernetes-action"]) == ("watchCoreV1NamespacedConfigMapList", "watchlist")
    one = paths["/api/v1/watch/namespaces/{name}"]["get"]
    assert (one["operationId"], one["x-kubernetes-action"]) == ("watchCoreV1Namespace", "watch")
    everywhere = paths["/api/v1/watch/configmaps"]["get"]["operationId"]
    assert everywhere == "watchCoreV1ConfigMapListForAllNamespaces"
    content = watch["responses"]["200"]["content"]
    assert list(content) == [
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json;stream=watch",
        "application/vnd.kubernetes.protobuf;stream=watch",
    ]
    assert content["application/json"]["schema"] == {"$ref": f"{REF}{META}WatchEvent"}


def test_a_group_version_has_its_list_of_resources() -> None:
    document = v3.make_group_version_document("coordination.k8s.io", "v1", ALL)
    resources = document["paths"]["/apis/coordination.k8s.io/v1/"]["get"]
    assert resources["operationId"] == "getCoordinationV1APIResources"
    assert "x-kubernetes-action" not in resources
    verbs = document["components"]["schemas"][META + "APIResource"]["properties"]["verbs"]
    assert (verbs["type"], verbs["items"], "default" in verbs) == ("array", {"type": "string"}, False)
    assert "/apis/coordination.k8s.io/v1/" in swagger(ALL)["paths"]


def test_what_is_registered_everywhere_is_shown_for_this_group_and_the_core() -> None:
    document = v3.make_group_version_document("coordination.k8s.io", "v1", ALL)
    gvks = document["components"]["schemas"][META + "DeleteOptions"]
    assert gvks["x-kubernetes-group-version-kind"] == [
        {"group": "", "kind": "DeleteOptions", "version": "v1"},
        {"group": "coordination.k8s.io", "kind": "DeleteOptions", "version": "v1"},
    ]
    assert len(swagger(ALL)["definitions"][META + "DeleteOptions"]["x-kubernetes-group-version-kind"]) > 20


def test_enums_and_defaults() -> None:
    schemas = v3.make_group_version_document("", "v1", ALL)["components"]["schemas"]
    port = schemas[CORE + "ServicePort"]["properties"]
    assert (port["protocol"]["enum"], port["protocol"]["default"]) == (["SCTP", "TCP", "UDP"], "TCP")
    assert schemas[CORE + "ServiceSpec"]["properties"]["ipFamilies"]["items"]["enum"] == ["", "IPv4", "IPv6"]
    assert schemas[CORE + "PortStatus"]["properties"]["protocol"]["default"] == ""
    assert schemas[CORE + "Event"]["properties"]["reportingComponent"]["default"] == ""
    policies = v3.make_group_version_document("admissionregistration.k8s.io", "v1", ALL)["components"]["schemas"]
    hook = policies["io.k8s.api.admissionregistration.v1.ValidatingWebhook"]
    assert hook["properties"]["sideEffects"]["enum"] == ["None", "NoneOnDryRun", "Some", "Unknown"]
    assert hook["required"] == ["name", "clientConfig", "sideEffects", "admissionReviewVersions"]


def test_only_what_the_paths_lead_to_is_shown() -> None:
    schemas = v3.make_group_version_document("authorization.k8s.io", "v1", ALL)["components"]["schemas"]
    assert META + "ObjectMeta" in schemas
    assert META + "DeleteOptions" not in schemas


def test_a_delete_that_answers_the_object_says_so() -> None:
    paths = v3.make_group_version_document("", "v1", ALL)["paths"]
    for plural, noun in (
        ("services", "Service"),
        ("serviceaccounts", "ServiceAccount"),
        ("resourcequotas", "ResourceQuota"),
    ):
        answer = paths[f"/api/v1/namespaces/{{namespace}}/{plural}/{{name}}"]["delete"]["responses"]["200"]["content"]
        shown = answer["application/json"]["schema"]["$ref"].rpartition(".")[2]
        assert shown == (noun if next(kind for kind in ALL if kind.plural == plural).shown_deleted else "Status")


def test_operations_are_those_that_are_served() -> None:
    paths = v3.make_group_version_document("", "v1", ALL)["paths"]
    assert set(paths["/api/v1/namespaces"]) == {"get", "post", "parameters"}
    assert set(paths["/api/v1/namespaces/{name}/finalize"]) == {"put", "parameters"}
    update = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" in update["requestBody"]["content"]
    assert update["operationId"] == "patchCoreV1NamespacedConfigMap"
