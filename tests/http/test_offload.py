"""What takes long does not keep others waiting."""

from __future__ import annotations

import threading

import pytest

from podless import Server
from podless.http.offload import Offload
from tests.conftest import Answer, Client

MAPS = "/api/v1/namespaces/default/configmaps"


async def test_results_and_errors_come_back() -> None:
    apart = Offload()
    assert await apart.run(lambda: 1) == 1
    with pytest.raises(ZeroDivisionError):
        await apart.run(lambda: 1 // 0)
    assert await apart.run(threading.get_ident) != threading.get_ident()


def served_meanwhile(
    server: Server, client: Client, verb: str, path: str, body: bytes, kind: str
) -> tuple[int, Answer]:
    """How many requests of another client are answered until one is, and its answer."""
    answers, slow = [], Client(server.url, server.token)
    thread = threading.Thread(target=lambda: answers.append(slow.send(verb, path, body, Content_Type=kind)))
    thread.start()
    served = 0
    while thread.is_alive():
        assert client.get("/api/v1/namespaces/default").status == 200
        served += 1
    slow.close()
    return served, answers[0]


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_requests_are_answered_while_a_long_yaml_body_is_read(server: Server, client: Client, verb: str) -> None:
    name = f"long-{verb.lower()}"
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\nx: [{'0,' * 100_000}0]\nx: 1\n"
    path, kind = MAPS, "application/yaml"
    if verb == "PATCH":
        path, kind = f"{MAPS}/{name}?fieldManager=me", "application/apply-patch+yaml"
    served, answer = served_meanwhile(server, client, verb, path, text.encode(), kind)
    if verb == "POST":
        assert answer.status == 201
        assert "already set in map" in answer.headers["Warning"]
    else:
        assert ".x: field not declared in schema" in answer.body["message"]
    assert served > 5


def test_what_is_wrong_with_a_long_yaml_body_is_said(client: Client) -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nx: [{'0,' * 50_000}\n".encode()
    answer = client.send("POST", MAPS, text, Content_Type="application/yaml")
    assert answer.status == 400
    assert "did not find expected" in answer.body["message"]


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_requests_are_answered_while_a_fault_in_a_long_json_body_is_looked_for(
    server: Server, client: Client, verb: str
) -> None:
    body = b'{"apiVersion":"v1","kind":"ConfigMap","data":{"a":["' + b'\\ud800","' * 250_000 + b'"]},}'
    path, kind = MAPS, "application/json"
    if verb == "PATCH":
        path, kind = "/api/v1/namespaces/default", "application/merge-patch+json"
    served, answer = served_meanwhile(server, client, verb, path, body, kind)
    assert answer.status == 400
    assert "invalid character '}' looking for beginning of object key string" in answer.body["message"]
    assert served > 5


def test_a_long_json_body_is_read_as_a_short_one(client: Client) -> None:
    text = '{"metadata":{"name":"long-json"},"data":{"a":"b","long":"%s","a":"c"},"more":1}' % ("x" * 300_000)
    answer = client.send("POST", f"{MAPS}?fieldValidation=Strict", text.encode())
    assert answer.status == 400
    assert 'strict decoding error: duplicate field "data.a", unknown field "more"' in answer.body["message"]
    assert client.send("POST", MAPS, text.encode()).body["data"]["a"] == "c"
    patch = '[{"op":"replace","path":"/data/a","value":"%s"}]' % ("y" * 300_000)
    answer = client.send("PATCH", f"{MAPS}/long-json", patch.encode(), Content_Type="application/json-patch+json")
    assert (answer.status, answer.body["data"]["a"]) == (200, "y" * 300_000)
