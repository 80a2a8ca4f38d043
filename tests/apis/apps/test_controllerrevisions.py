"""ControllerRevisions: their data stays as it was written."""

from __future__ import annotations

from typing import Any

from tests.conftest import Client

PATH = "/apis/apps/v1/namespaces/default/controllerrevisions"


def revision(name: str, **more: Any) -> dict[str, Any]:
    head = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": name}}
    return {**head, "revision": 1, "data": {"z": [1], "a": {}}, **more}


def test_data_stays(client: Client) -> None:
    assert client.post(PATH, revision("kept")).status == 201
    assert client.merge(f"{PATH}/kept", {"revision": 2}).status == 200
    assert client.merge(f"{PATH}/kept", {"revision": -2}).status == 422
    refused = client.merge(f"{PATH}/kept", {"data": {"z": None, "a": None}})
    assert refused.body["message"].endswith("data: Invalid value: {}: field is immutable")


def test_what_is_patched_has_its_keys_sorted(client: Client) -> None:
    assert client.post(PATH, revision("sorted")).status == 201
    refused = client.merge(f"{PATH}/sorted", {"data": {"z": [1]}})
    assert refused.body["message"].endswith('data: Invalid value: {"a":{},"z":[1]}: field is immutable')


def test_nobody_knows_what_is_inside(client: Client) -> None:
    assert client.post(PATH, revision("raw")).status == 201
    patch = "application/strategic-merge-patch+json"
    answer = client.send("PATCH", f"{PATH}/raw", {"data": {"a": {"b": 1}}}, Content_Type=patch)
    assert answer.status == 500
    assert answer.body["message"] == 'unable to find api field in struct RawExtension for the json field "a"'


def test_data_is_mandatory(client: Client) -> None:
    refused = client.post(PATH, {name: value for name, value in revision("none").items() if name != "data"})
    assert refused.body["message"].endswith("data: Required value: data is mandatory")


def test_data_is_an_object(client: Client) -> None:
    odd: tuple[Any, ...] = (3, "a", [], True)
    for data in odd:
        refused = client.post(PATH, revision("odd", data=data, revision=-1))
        wanted = "revision: Invalid value: -1: must be greater than or equal to 0, "
        wanted += "data: Required value: data must be a valid JSON object"
        assert refused.body["message"].endswith(f"is invalid: [{wanted}]")


def test_blanks_and_the_order_of_keys_are_a_change(client: Client) -> None:
    def body(data: bytes) -> bytes:
        head = b'{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"blanks"},"revision":1,"data":'
        return head + data + b"}"

    assert client.send("POST", PATH, body(b'{"z": 1, "a": []}')).status == 201
    assert client.send("PUT", f"{PATH}/blanks", body(b'{"z":1,"a":[]}')).status == 200
    refused = client.send("PUT", f"{PATH}/blanks", body(b'{"z": 1, "a": []}'))
    assert refused.body["message"].endswith('data: Invalid value: {"z":1,"a":[]}: field is immutable')
    assert client.send("PUT", f"{PATH}/blanks", body(b'{"a":[],"z":1}')).status == 422


def body(name: str, data: str) -> bytes:
    head = f'{{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{{"name":"{name}"}},"revision":1,"data": '
    return f"{head}{data}}}".encode()


def test_numbers_stay_as_they_were_written_and_some_characters_are_escaped(client: Client) -> None:
    for name, data, again in (("numbers", '{"a":1.50,"b":1e3}', 200), ("bare", '{"data":["a<b"]}', 422)):
        assert client.send("POST", PATH, body(name, data)).status == 201
        assert client.send("PUT", f"{PATH}/{name}", body(name, data)).status == again
    assert client.send("PUT", f"{PATH}/bare", body("bare", '{"data":["a\\u003cb"]}')).status == 200
    assert client.send("PUT", f"{PATH}/bare", body("bare", '{"data":["a\\u003cb" ]}')).status == 422


def test_what_is_applied_or_is_yaml_has_its_keys_sorted(client: Client) -> None:
    assert client.post(PATH, revision("applied")).status == 201
    media = "application/apply-patch+yaml"
    path = f"{PATH}/applied?fieldManager=m&force=true"
    assert client.send("PATCH", path, revision("applied"), Content_Type=media).status == 200
    refused = client.send("PATCH", path, revision("applied", revision=2), Content_Type=media)
    assert refused.body["message"].endswith('data: Invalid value: {"a":{},"z":[1]}: field is immutable')
    yaml = b"{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: yml}, revision: 1, data: {z: 1.0, a: []}}"
    made = client.send("POST", PATH, yaml, Content_Type="application/yaml")
    assert list(made.body["data"].items()) == [("a", []), ("z", 1)]
    assert client.send("PUT", f"{PATH}/yml", yaml, Content_Type="application/yaml").status == 200
    assert client.send("PUT", f"{PATH}/yml", body("yml", '{"a":[],"z":1}')).status == 200
