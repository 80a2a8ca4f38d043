"""What takes long does not keep others waiting."""

from __future__ import annotations

import threading

import pytest

from podless import Server
from podless.http.apart import Apart
from tests.conftest import Client


async def test_results_and_errors_come_back() -> None:
    apart = Apart()
    assert await apart.run(lambda: 1) == 1
    with pytest.raises(ZeroDivisionError):
        await apart.run(lambda: 1 // 0)
    assert await apart.run(threading.get_ident) != threading.get_ident()


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_requests_are_answered_while_a_long_yaml_body_is_read(server: Server, client: Client, verb: str) -> None:
    name = f"long-{verb.lower()}"
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\nx: [{'0,' * 100_000}0]\nx: 1\n"
    maps, kind, answers = "/api/v1/namespaces/default/configmaps", "application/yaml", []
    other = Client(server.url, server.token)
    if verb == "PATCH":
        maps, kind = f"{maps}/{name}?fieldManager=me", "application/apply-patch+yaml"

    def send() -> None:
        answers.append(other.send(verb, maps, text.encode(), Content_Type=kind))

    thread = threading.Thread(target=send)
    thread.start()
    served = 0
    while thread.is_alive():
        assert client.get("/api/v1/namespaces/default").status == 200
        served += 1
    other.close()
    if verb == "POST":
        assert answers[0].status == 201
        assert "already set in map" in answers[0].headers["Warning"]
    else:
        assert ".x: field not declared in schema" in answers[0].body["message"]
    assert served > 5


def test_what_is_wrong_with_a_long_yaml_body_is_said(client: Client) -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nx: [{'0,' * 50_000}\n".encode()
    answer = client.send("POST", "/api/v1/namespaces/default/configmaps", text, Content_Type="application/yaml")
    assert answer.status == 400
    assert "did not find expected" in answer.body["message"]
