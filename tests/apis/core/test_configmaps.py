"""ConfigMaps that clients make strange."""

from __future__ import annotations

from tests.conftest import Client


def test_null_is_no_bytes(client: Client) -> None:
    body = {"metadata": {"name": "null-bytes"}, "data": {"a": None}, "binaryData": {"b": None, "c": "ZA=="}}
    answer = client.post("/api/v1/namespaces/default/configmaps", body)
    assert (answer.status, answer.body["binaryData"]) == (201, {"b": None, "c": "ZA=="})
