"""Whole numbers that are sent as floats: rules see them as they were sent, and they are stored as integers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import AGAIN, CRDS, Client, definition, gadget

GROUP = "floats.example.com"
GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


@pytest.fixture(scope="module", autouse=True)
def defined(server: Any) -> None:
    spec = {
        "type": "object",
        "properties": {"x": {"type": "number"}, "l": {"type": "array", "items": {"type": "number"}}},
        "x-kubernetes-validations": [{"rule": "!has(self.x) || 1.0 / self.x > 0.0", "message": "negative"}],
    }
    client = Client(server.url, server.token)
    schema = {"type": "object", "properties": {"spec": spec}}
    assert client.post(CRDS, definition(GROUP, schema={"openAPIV3Schema": schema})).status in AGAIN
    client.close()


@pytest.mark.parametrize(("number", "code"), [("0.0", 200), ("-0.0", 422), ("-0", 200), ("2.0", 200)])
@pytest.mark.parametrize("how", ["create", "update", "merge", "json"])
def test_rules_see_what_was_sent(client: Client, how: str, number: str, code: int) -> None:
    name = f"{how}{number}".replace(".", "-").strip("-")
    raw = f'{{"apiVersion":"{GROUP}/v1","kind":"Gadget","metadata":{{"name":"{name}"}},"spec":{{"x":{number}}}}}'
    if how == "create":
        answer = client.post(GADGETS, raw.encode())
        assert answer.status == (201 if code == 200 else code)
    else:
        made = client.post(GADGETS, gadget(GROUP, name, spec={"x": 1, "l": [1]})).body
        path, kind, body = f"{GADGETS}/{name}", "application/merge-patch+json", f'{{"spec":{{"x":{number}}}}}'
        method = "PATCH"
        if how == "json":
            kind = "application/json-patch+json"
            body = (
                f'[{{"op":"replace","path":"/spec/x","value":{number}}},{{"op":"add","path":"/spec/l/0","value":1.0}}]'
            )
        elif how == "update":
            method, kind = "PUT", "application/json"
            body = raw.replace('"name"', f'"resourceVersion":"{made["metadata"]["resourceVersion"]}","name"')
        answer = client.send(method, path, body.encode(), Content_Type=kind)
        assert answer.status == code
    if code == 200:
        assert answer.body["spec"]["x"] == float(number)
        assert isinstance(answer.body["spec"]["x"], int)


@pytest.mark.parametrize(
    ("number", "changed"), [("1", False), ("1.0", True), ("9223372036854775808", False), ("1e20", False)]
)
def test_the_generation_counts_floats_that_are_integers_in_the_store(
    client: Client, number: str, changed: bool
) -> None:
    name, spec = f"again{number.replace('.', '-')}", f'"spec":{{"l":[{number}]}}'
    raw = f'{{"apiVersion":"{GROUP}/v1","kind":"Gadget","metadata":{{"name":"{name}"}},{spec}}}'
    assert client.post(GADGETS, raw.encode()).status == 201
    kind = "application/merge-patch+json"
    answer = client.send("PATCH", f"{GADGETS}/{name}", f"{{{spec}}}".encode(), Content_Type=kind)
    assert answer.body["metadata"]["generation"] == (2 if changed else 1)
