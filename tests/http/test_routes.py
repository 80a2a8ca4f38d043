"""Routes that are cached: a request is answered the same whether its route is cached or not."""

from __future__ import annotations

import uuid

from tests.conftest import Client, definition, gadget
from tests.eventually import until

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_a_deprecated_version_warns_each_time(client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    made = definition(group, deprecated=True)
    assert client.post(DEFINITIONS, made).status == 201
    objects = f"/apis/{group}/v1/namespaces/default/gadgets"
    answers = [client.post(objects, gadget(group, name)) for name in ("a", "b")]
    answers += [client.get(f"{objects}/{name}") for name in ("a", "b", "a")]
    assert [answer.status for answer in answers] == [201, 201, 200, 200, 200]
    assert len({answer.headers.get("Warning") for answer in answers}) == 1
    assert f"{group}/v1 Gadget is deprecated" in answers[0].headers["Warning"]


def test_a_changed_definition_is_in_force_for_the_next_request(client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    made = definition(group)
    name = f"{DEFINITIONS}/{made['metadata']['name']}"
    objects = f"/apis/{group}/v1/namespaces/default/gadgets"
    for _ in range(2):
        assert client.get(f"{objects}/a").status == 404
        assert client.post(DEFINITIONS, made).status == 201
        assert [client.post(objects, gadget(group, field_name)).status for field_name in ("a", "b")] == [201, 201]
        assert [client.get(f"{objects}/a").status for _ in range(2)] == [200, 200]
        assert client.send("DELETE", name).status == 200
        until(lambda: client.get(name).status == 404)  # until then, its objects are deleted
        assert client.post(objects, gadget(group, "c")).status == 404


def test_paths_of_one_verb_and_resource_are_told_apart(client: Client) -> None:
    pods = "/api/v1/namespaces/default/pods"
    for _ in range(2):
        assert client.get(f"{pods}/none").status == 404
        assert client.get("/api/v1/pods/none").status == 404
        assert client.get("/api/v1/pods").status == client.get(pods).status == 200
        assert client.get("/apis//v1/pods").status == client.get("/apis//v1/namespaces/default/pods").status == 404
        assert client.send("HEAD", pods).status == client.send("HEAD", "/api/v1/pods").status == 405
        assert client.send("DELETE", "/api/v1/pods").status == 405
