"""Paths that are no resource: which methods they have, and what is below them."""

from __future__ import annotations

import json

import pytest

from podless.http.info import parse_query
from tests.conftest import Client

KEYS, CONFIGURATION = "/openid/v1/jwks", "/.well-known/openid-configuration"


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/v1", "/apis/apps/v1", KEYS, f"{KEYS}/", CONFIGURATION, "/version"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_a_document_is_for_reading(client: Client, path: str, method: str) -> None:
    answer = client.send(method, path)
    assert (answer.status, answer.body["reason"]) == (405, "MethodNotAllowed")
    assert client.send("HEAD", path).status == 405


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis/apps/v1", "/version"])
def test_a_route_takes_no_body_of_a_foreign_type(client: Client, path: str) -> None:
    answer = client.get(path, Content_Type="text/plain", Accept="image/png")
    assert (answer.status, answer.body["message"]) == (415, "415: Unsupported Media Type")
    assert client.get(path, Content_Type="text/plain, application/json; q=1").status == 200


@pytest.mark.parametrize("path", ["/api/v1//pods", "/api//v1/pods", "/apis/apps/v1//deployments"])
def test_a_path_below_a_known_root_is_not_found_with_a_status(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status, answer.body["reason"]) == (404, "NotFound")
    assert "X-Content-Type-Options" not in answer.headers


@pytest.mark.parametrize("path", ["/api/v1/watch", "/apis/apps/v1/watch/", "/apis/none/v1/proxy?a=<b"])
def test_a_verb_in_the_path_needs_a_resource(client: Client, path: str) -> None:
    answer, shown = client.get(path), path.replace("<", "&lt;")
    why = f"failed to create RequestInfo: unable to determine kind and namespace from url, {shown}"
    assert (answer.status, answer.body) == (500, f'Internal Server Error: "{shown}": {why}\n'.encode())


def test_keys_are_of_a_type_of_their_own(client: Client) -> None:
    assert client.get(KEYS).headers["Content-Type"] == "application/jwk-set+json"
    answer = client.get(KEYS, Accept="application/json")
    available = "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json"
    assert (answer.status, answer.body["message"]) == (406, available)
    assert client.get(CONFIGURATION, Accept="application/json").status == 200


def test_what_may_be_kept_says_so_alone(client: Client) -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    url = json.loads(client.get("/openapi/v3").body)["paths"]["version"]["serverRelativeURL"]
    for path, accept, told in (
        ("/apis", aggregated, "public"),
        ("/apis", "*/*", "no-cache, private"),
        (KEYS, "*/*", "public, max-age=3600"),
        (CONFIGURATION, "*/*", "public, max-age=3600"),
        (url, "*/*", "public, immutable"),
    ):
        assert client.get(path, Accept=accept).headers["Cache-Control"] == told, path


def test_groups_are_aggregated_under_one_name(client: Client) -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert client.get("/apis/", Accept=aggregated).status == 406
    assert client.get("/apis/", Accept=f"{aggregated},application/json").body["kind"] == "APIGroupList"
    for path in ("/apis", "/api", "/api/"):
        assert client.get(path, Accept=aggregated).body["kind"] == "APIGroupDiscoveryList"


@pytest.mark.parametrize("path", ["/apis//", "/apis//v1"])
def test_a_group_has_a_name(client: Client, path: str) -> None:
    assert (client.get(path).status, client.get(path).body) == (404, b"404 page not found\n")


@pytest.mark.parametrize(
    "path", ["/version/x", f"{KEYS}/x", f"{CONFIGURATION}/*", "/apis/apiextensions.k8s.io/v9", "/api/v2"]
)
def test_there_is_nothing_below_a_document(client: Client, path: str) -> None:
    for answer in (client.get(path), client.send("POST", path, {})):
        assert (answer.status, answer.body["message"]) == (404, "the server could not find the requested resource")


def test_openapi_has_no_slash_at_its_end(client: Client) -> None:
    assert (client.get("/openapi/v2/").status, client.get("/openapi/v2/").body) == (404, b"404 page not found\n")
    for path in ("/openapi/v3/", "/openapi/v3/api/v1/"):
        assert (client.get(path).status, client.get(path).body) == (404, b"")


def test_the_root_has_another_name(client: Client) -> None:
    assert client.get("/index.html").body == client.get("/").body


def test_the_root_lists_documents_and_checks(client: Client) -> None:
    paths = client.get("/").body["paths"]
    assert paths == sorted(set(paths))
    assert {KEYS, CONFIGURATION, "/apis/", "/openapi/v3/", "/livez/ping", "/healthz/log", "/readyz/shutdown"} <= set(
        paths
    )
    assert "/livez/shutdown" not in paths
    for path in paths:
        assert client.get(path).status == (404 if path == "/openapi/v3/" else 200), path


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_collection_of_all_namespaces_is_for_reading(client: Client, method: str) -> None:
    assert client.send(method, "/api/v1/configmaps", {}).status == 405
    assert client.send(method, "/api/v1/configmaps/x", {}).status == 404
    assert client.send(method, "/api/v1/namespaces/default/configmaps/x/y", {}).status == 404


def test_parameters_that_go_does_not_take_are_not_there() -> None:
    assert parse_query("a=1;b=2&c=3&d=%zz&e=%41&f=%4&g=%") == {"c": ["3"], "e": ["A"]}


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis/apps/v1"])
def test_lists_of_built_in_resources_have_routes(client: Client, path: str) -> None:
    answer = client.get(path, Accept="text/plain")
    assert answer.status == 406
    assert answer.body["message"].startswith("406: Not Acceptable\n\nAvailable representations: application/json")


def test_profiles_are_elsewhere(client: Client) -> None:
    moved = client.send("POST", "/debug/pprof")
    assert (moved.status, moved.headers["Location"]) == (302, "/debug/pprof/")
    assert client.get("/debug/pprof/cmdline").body == b"Unknown profile\n"
    assert client.get("/debug/pprof/heap").body == b"404 page not found\n"


def test_the_version_is_json_alone(client: Client) -> None:
    assert client.send("GET", "/version", Accept="application/json;x=1").status == 200
    refused = client.send("GET", "/version", Accept="text/html")
    said = "406: Not Acceptable\n\nAvailable representations: application/json"
    assert (refused.status, refused.body["message"]) == (406, said)
    assert client.send("POST", "/version").status == 405
