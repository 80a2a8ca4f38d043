"""Documents of what is of no kind: groups, versions, the release, the keys of tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podless.apis.catalog import ALL
from podless.http.nonresource import version_info
from podless.publish.openapi import gnostic, pages, v3
from podless.publish.openapi.serve import DocumentLibrary, DocumentRequest, complete_answer
from podless.publish.openapi.standard import META, REF
from tests.conftest import Client, definition
from tests.publish.openapi.whole import swagger

GROUPS = ["", "apps", "flowcontrol.apiserver.k8s.io", "rbac.authorization.k8s.io"]
RELEASE = "io.k8s.apimachinery.pkg.version.Info"


def operation(name: str) -> tuple[str, dict[str, Any]]:
    document = v3.make_page_document(pages.list_pages(GROUPS)[name])
    ((path, item),) = document["paths"].items()
    return path, item["get"]


@pytest.mark.parametrize(
    ("name", "tag", "identity", "schema"),
    [
        ("api", "core", "getCoreAPIVersions", "APIVersions"),
        ("apis", "apis", "getAPIVersions", "APIGroupList"),
        ("apis/apps", "apps", "getAppsAPIGroup", "APIGroup"),
        (
            "apis/flowcontrol.apiserver.k8s.io",
            "flowcontrolApiserver",
            "getFlowcontrolApiserverAPIGroup",
            "APIGroup",
        ),
        ("apis/rbac.authorization.k8s.io", "rbacAuthorization", "getRbacAuthorizationAPIGroup", "APIGroup"),
    ],
)
def test_a_list_of_versions_or_groups(name: str, tag: str, identity: str, schema: str) -> None:
    path, get = operation(name)
    assert (path, get["tags"], get["operationId"]) == (f"/{name}/", [tag], identity)
    content = get["responses"]["200"]["content"]
    assert sorted(content) == ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"]
    assert content["application/yaml"]["schema"] == {"$ref": f"{REF}{META}{schema}"}
    assert not {"requestBody", "parameters", "x-kubernetes-action"} & get.keys()


def test_a_page_has_the_components_that_it_leads_to() -> None:
    schemas = v3.make_page_document(pages.list_pages()["apis"])["components"]["schemas"]
    nouns = ["APIGroup", "APIGroupList", "GroupVersionForDiscovery", "ServerAddressByClientCIDR"]
    assert list(schemas) == [META + noun for noun in nouns]
    group = schemas[META + "APIGroup"]
    assert group["required"] == ["name", "versions"]
    assert group["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "APIGroup", "version": "v1"}]
    assert group["properties"]["preferredVersion"]["default"] == {}


def test_keys_are_a_text_of_a_type_of_their_own() -> None:
    document = v3.make_page_document(pages.list_pages()["openid/v1/jwks"])
    content = document["paths"]["/openid/v1/jwks/"]["get"]["responses"]["200"]["content"]
    assert content == {"application/jwk-set+json": {"schema": {"type": "string"}}}
    assert list(document["components"]) == ["securitySchemes"]
    assert "consumes" not in swagger([])["paths"]["/openid/v1/jwks/"]["get"]


def test_the_release_is_described_whole() -> None:
    schema = v3.make_page_document(pages.list_pages()["version"])["components"]["schemas"][RELEASE]
    assert set(schema["properties"]) == set(version_info())
    assert set(version_info()) - set(schema["required"]) == {
        "emulationMajor",
        "emulationMinor",
        "minCompatibilityMajor",
        "minCompatibilityMinor",
    }
    assert all(field["description"] for field in schema["properties"].values())


@pytest.mark.slow
def test_version_2_has_them_all() -> None:
    paths = swagger(ALL)["paths"]
    groups = {kind.group for kind in ALL}
    assert {f"/{name}/" for name in pages.list_pages(groups)} <= set(paths)
    assert paths["/version/"]["get"]["consumes"] == ["application/json"]


@pytest.mark.slow
def test_options_of_what_leads_on_are_shared_in_version_2() -> None:
    document = swagger(ALL)
    paths, shared = document["paths"], document["parameters"]
    pod = "/api/v1/namespaces/{namespace}/pods/{name}"
    names = [
        parameter["$ref"].rpartition("/")[2] for parameter in paths[f"{pod}/exec"]["parameters"] if "$ref" in parameter
    ]
    assert "command-Py3eQybp" in names
    assert set(names) <= set(shared)
    both = [
        parameter["$ref"]
        for parameter in paths[f"{pod}/proxy/{{path}}"]["parameters"]
        if "path-" in parameter.get("$ref", "")
    ]
    assert both == ["#/parameters/path-z6Ciiujn", "#/parameters/path-oPbzgLUj"]
    assert shared["path-z6Ciiujn"]["required"] is True
    inline = [parameter["name"] for parameter in paths[f"{pod}/log"]["parameters"] if "$ref" not in parameter]
    assert inline == ["name"]
    assert shared["tailLines-9xQLWHMV"]["type"] == "integer"
    assert paths[f"{pod}/log"]["get"]["produces"][0] == "text/plain"


def test_pages_are_in_the_index_with_hashes_of_their_own() -> None:
    apps = [kind for kind in ALL if kind.group == "apps"][:1]
    library = DocumentLibrary(lambda: apps)
    index = json.loads(bytes(complete_answer(library.answer_index()).body))["paths"]
    assert {"api", "apis", "apis/apps", "apis/apps/v1", "version"} <= index.keys()
    hashes = {name: entry["serverRelativeURL"].partition("?hash=")[2] for name, entry in index.items()}
    assert len(set(hashes.values())) == len(hashes)
    asked = DocumentRequest("apis/apps", hash=hashes["apis/apps"])
    got = complete_answer(library.answer_document(asked))
    assert (got.status, got.headers["Cache-Control"]) == (200, "public, immutable")
    moved = complete_answer(library.answer_document(DocumentRequest("apis/apps", hash="OLD")))
    assert (moved.status, moved.headers["Location"]) == (301, index["apis/apps"]["serverRelativeURL"])
    unchanged = DocumentRequest("apis/apps", if_none_match=got.headers["Etag"])
    assert complete_answer(library.answer_document(unchanged)).status == 304
    assert complete_answer(library.answer_document(DocumentRequest("apis/batch"))).status == 404
    assert gnostic.V3.encode("Document", v3.make_page_document(pages.list_pages()["version"]))


def test_a_group_of_definitions_has_no_page(client: Client) -> None:
    given = definition("pages.example.com", schema={"openAPIV3Schema": {"type": "object"}})
    assert client.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", given).status == 201
    assert client.get("/openapi/v3/apis/pages.example.com/v1").status == 200
    assert client.get("/openapi/v3/apis/pages.example.com").status == 404
    assert client.get("/openapi/v3/.well-known/openid-configuration").status == 200
