"""Each JSON object ends its line, as from a Go encoder, but for what is indented for people."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from podless import Server

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
GROUPS = "application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2"
PATHS = [
    ("/api", ""),
    ("/apis", ""),
    ("/apis", GROUPS),
    ("/api/v1", ""),
    ("/apis/rbac.authorization.k8s.io", ""),
    ("/api/v1/namespaces", ""),
    ("/api/v1/namespaces", TABLE),
    ("/api/v1/namespaces/default", ""),
    ("/api/v1/namespaces/default", TABLE),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def get(server: Server, path: str, accept: str = "", agent: str = "test") -> bytes:
    headers = {"Authorization": f"Bearer {server.token}", "Accept": accept or "application/json", "User-Agent": agent}
    request = urllib.request.Request(server.url + path, headers=headers)
    try:
        with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
            body: bytes = answer.read()
    except urllib.error.HTTPError as error:
        body = error.read()
    return body


@pytest.mark.parametrize(("path", "accept"), PATHS)
def test_an_object_ends_its_line(server: Server, path: str, accept: str) -> None:
    body = get(server, path, accept)
    assert body.endswith(b"}\n")
    assert body.count(b"\n") == 1
    indented = get(server, path, accept, "curl/8.5.0")
    assert indented.startswith(b'{\n  "kind": ')
    assert indented.endswith(b"\n}")
    assert json.loads(indented)["kind"] == json.loads(body)["kind"]


def test_an_error_ends_its_line(server: Server) -> None:
    assert get(server, "/api/v1/namespaces/none").endswith(b'"code":404}\n')


def test_the_list_of_paths_is_for_people(server: Server) -> None:
    assert get(server, "/").startswith(b'{\n  "paths": [\n')
