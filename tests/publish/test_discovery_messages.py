"""Discovery as protobuf says the same as in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.publish.discovery import _MESSAGES
from podless.structs import protobuf
from tests.conftest import CRDS, Client, definition

AGGREGATED = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Server() as server:
        client = Client(server.url, server.token)
        made = definition("messages.example.com", subresources={"status": {}})
        made["spec"]["names"] |= {"shortNames": ["gd"], "categories": ["all"]}
        assert client.post(CRDS, made).status == 201
        yield client
        client.close()


def read(body: bytes, kind: str) -> Any:
    """The document in an envelope, as JSON has it."""
    found = protobuf.read_object(body, _MESSAGES[kind])
    for resource in found.get("resources") or ():
        resource["verbs"] = resource["verbs"]["items"]
    return found


def pruned(value: Any) -> Any:
    """Without what is empty: JSON leaves out some of it, and the messages have places for all."""
    if isinstance(value, dict):
        kept = {key: pruned(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in ("", None, [], {}, False)}
    return [pruned(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/api", ""),
        ("/apis", ""),
        ("/api/v1", ""),
        ("/apis/messages.example.com", ""),
        ("/apis/messages.example.com/v1", ""),
        ("/api", AGGREGATED),
        ("/apis", AGGREGATED),
    ],
)
def test_the_same_as_in_json(client: Client, path: str, form: str) -> None:
    json = client.get(path, Accept="application/json" + form)
    message = client.get(path, Accept="application/vnd.kubernetes.protobuf" + form)
    assert message.headers["Content-Type"] == "application/vnd.kubernetes.protobuf" + form
    assert pruned(read(message.body, json.body["kind"])) == pruned(json.body)
