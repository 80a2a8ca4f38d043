"""Secrets: text joins the data, types need their keys."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from podless.apis.core.group import SECRETS
from tests.conftest import Client

VERSION = SECRETS.versions[0]
PATH = "/api/v1/namespaces/default/secrets"


def base(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(**fields: Any) -> dict[str, Any]:
    return {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, **fields}


def faults(obj: dict[str, Any]) -> list[str]:
    return [str(error) for error in SECRETS.strategy.validate(VERSION, obj, None)]


def test_text_joins_the_data_in_the_order_of_keys() -> None:
    given = secret(data={"b": base("old"), "z": base("z")}, stringData={"b": "new", "a": "ä"}, type="t")
    read = SECRETS.strategy.decode(SECRETS, VERSION, given, [])
    assert list(read) == ["kind", "apiVersion", "metadata", "data", "type"]
    assert list(read["data"].items()) == [("a", base("ä")), ("b", base("new")), ("z", base("z"))]


@pytest.mark.parametrize(
    ("type_", "data", "expected"),
    [
        ("Opaque", {}, []),
        ("example.com/own", {}, []),
        ("kubernetes.io/tls", {"tls.key": ""}, ["data[tls.crt]: Required value"]),
        ("kubernetes.io/basic-auth", {"password": ""}, []),
        (
            "kubernetes.io/basic-auth",
            {"other": ""},
            ["data[username]: Required value", "data[password]: Required value"],
        ),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}, ["data[ssh-privatekey]: Required value"]),
        ("kubernetes.io/dockercfg", {}, ["data[.dockercfg]: Required value"]),
        ("kubernetes.io/dockercfg", {".dockercfg": base('{"a": 1}')}, []),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": base("[]")},
            [
                'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array '
                "into Go value of type map[string]interface {}"
            ],
        ),
    ],
)
def test_types_need_their_keys(type_: str, data: dict[str, str], expected: list[str]) -> None:
    assert faults(secret(type=type_, data=data)) == expected


def test_the_values_together_have_a_most() -> None:
    half = base("x" * (512 * 1024))
    assert faults(secret(data={"a": half, "b": half})) == []
    assert faults(secret(data={"a": half, "b": half, "c": base("x")})) == [
        "data: Too long: may not be more than 1048576 bytes"
    ]


def test_what_an_immutable_secret_refuses(client: Client) -> None:
    made = client.post(PATH, secret(metadata={"name": "fixed"}, stringData={"a": "b"}, immutable=True))
    assert (made.status, made.body["data"], made.body["type"]) == (201, {"a": base("b")}, "Opaque")
    refused = client.merge(f"{PATH}/fixed", {"stringData": {"a": "c"}, "immutable": None})
    assert refused.status == 422
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["immutable", "data"]
    assert client.merge(f"{PATH}/fixed", {"metadata": {"labels": {"a": "b"}}}).status == 200
    assert client.send("DELETE", f"{PATH}/fixed").status == 200
