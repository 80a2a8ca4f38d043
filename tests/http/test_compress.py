"""Big answers are compressed for those who take that, whatever was asked."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.conftest import AGAIN, CRDS, Client, definition, gadget

GROUP = "compress.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


@pytest.fixture(scope="module", autouse=True)
def big(request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("server")
    client = Client(server.url, server.token)
    assert client.post(CRDS, definition(GROUP)).status in AGAIN
    assert client.post(OBJECTS, gadget(GROUP, "big", spec={"text": "x" * 200_000})).status in AGAIN
    assert client.post(OBJECTS, gadget(GROUP, "small")).status in AGAIN
    client.close()


def raw(client: Client, method: str, path: str, body: Any = None, **headers: str) -> tuple[str, bytes]:
    connection = client._connect()
    sent = {"Authorization": f"Bearer {client._token}", "Content-Type": "application/merge-patch+json"} | headers
    connection.request(method, path, body, sent)
    answer = connection.getresponse()
    found = answer.headers.get("Content-Encoding") or "", answer.read()
    connection.close()
    return found


GZIP = {"Accept-Encoding": "gzip"}


@pytest.mark.parametrize("path", [OBJECTS, f"{OBJECTS}/big"])
def test_reads(client: Client, path: str) -> None:
    encoding, body = raw(client, "GET", path, **GZIP)
    assert encoding == "gzip"
    assert len(body) < 10_000
    shown, plain = json.loads(gzip.decompress(body)), client.get(path).body
    for value in (shown, plain):
        del value["metadata"]["resourceVersion"]  # of a list: others may have written in between
    assert shown == plain


def test_writes(client: Client) -> None:
    encoding, body = raw(client, "PATCH", f"{OBJECTS}/big", b'{"metadata":{"labels":{"a":"b"}}}', **GZIP)
    assert encoding == "gzip"
    assert json.loads(gzip.decompress(body))["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize("accept", ["", "br", "gzip;q=0.5", "identity"])
def test_those_who_do_not_take_it_do_not_get_it(client: Client, accept: str) -> None:
    assert raw(client, "GET", f"{OBJECTS}/big", **{"Accept-Encoding": accept})[0] == ""


def test_small_answers_are_left_alone(client: Client) -> None:
    assert raw(client, "GET", f"{OBJECTS}/small", **GZIP)[0] == ""
    assert raw(client, "GET", "/api/v1", **GZIP)[0] == ""


def test_the_second_openapi_document_is_compressed_and_the_third_is_not(client: Client) -> None:
    encoding, body = raw(client, "GET", "/openapi/v2", **GZIP)
    assert encoding == "gzip"
    assert json.loads(gzip.decompress(body))["swagger"] == "2.0"
    for path in (f"/openapi/v3/apis/{GROUP}/v1", "/openapi/v3/api/v1"):
        assert raw(client, "GET", path, **GZIP)[0] == ""
