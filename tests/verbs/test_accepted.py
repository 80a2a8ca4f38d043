"""Objects that are validated while they are decoded: later changes of the object are validated, too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import AGAIN, CRDS, Client, definition, gadget

GROUP = "accepted.example.com"
GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


@pytest.fixture(scope="module", autouse=True)
def defined(server: Any) -> None:
    parts = {
        "spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string", "maxLength": 3}}},
    }
    schema = {"type": "object", "properties": parts, "required": ["status"]}
    client = Client(server.url, server.token)
    made = definition(GROUP, schema={"openAPIV3Schema": schema}, subresources={"status": {}})
    assert client.post(CRDS, made).status in AGAIN
    client.close()


def test_a_create_that_drops_a_required_status_is_rejected(client: Client) -> None:
    answer = client.post(GADGETS, gadget(GROUP, "a", status={"phase": "new"}))
    assert (answer.status, answer.body["details"]["causes"][0]["field"]) == (422, "status")
