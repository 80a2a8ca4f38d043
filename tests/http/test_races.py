"""Long objects, which are worked on beside the event loop, between short ones, which are not: no check is lost."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from podless import Server
from podless.offload.offloop import LONG_BYTES
from tests.conftest import CRDS, Client, definition, gadget
from tests.races import eager

FIELDS = 600
ROUNDS = 3


def fields() -> dict[str, Any]:
    texts = {f"t{i}": {"type": "string", "maxLength": i + 1} for i in range(FIELDS)}
    return texts | {"note": {"type": "string", "maxLength": 100_000}}


def define(client: Client, count: int) -> list[str]:
    """The groups of definitions that nobody has used."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields()}}}
    made = [f"races{place}of{count}.example.com" for place in range(count)]
    for group in made:
        assert client.post(CRDS, definition(group, schema={"openAPIV3Schema": schema})).status == 201
    return made


def path(group: str) -> str:
    return f"/apis/{group}/v1/namespaces/default/gadgets"


def test_no_bound_is_lost_while_a_long_object_is_created_beside_short_ones(server: Server, client: Client) -> None:
    served = define(client, ROUNDS)
    note = "x" * (LONG_BYTES + 8 * 1024)
    told: list[Any] = []

    def create(group: str, name: str, spec: dict[str, Any], barrier: threading.Barrier) -> None:
        other = Client(server.url, server.token)
        barrier.wait(60)
        told.append(other.post(path(group), gadget(group, name, spec=spec)).status)
        other.close()

    with eager():
        for group in served:
            whole = {f"t{i}": "x" for i in range(FIELDS)}
            specs = [{**whole, "note": note}, whole, {"t0": "x"}, dict(reversed(whole.items()))]
            barrier = threading.Barrier(len(specs))
            threads = [
                threading.Thread(target=create, args=(group, f"a{index}", spec, barrier))
                for index, spec in enumerate(specs)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert told == [201] * ROUNDS * 4
    for group in served:
        spec = {f"t{i}": "x" * (i + 2) for i in range(FIELDS)}
        refused = client.post(path(group), gadget(group, "bad", spec=spec))
        causes = {cause["field"] for cause in refused.body["details"]["causes"]}
        assert refused.status == 422
        assert causes == {f"spec.t{i}" for i in range(FIELDS)}
        for i in range(0, FIELDS, 97):  # alone, so that no other one is what refuses it
            one = gadget(group, "bad", spec={f"t{i}": "x" * (i + 2)})
            assert client.post(path(group), one).status == 422


@pytest.mark.parametrize("accept", ["application/json", "application/json;as=Table;g=meta.k8s.io;v=v1"])
def test_a_long_object_is_the_first_of_its_kind(server: Server, client: Client, accept: str) -> None:
    group = f"first{len(accept)}.example.com"
    assert client.post(CRDS, definition(group)).status == 201
    obj = gadget(group, "a", spec={"note": "x" * (LONG_BYTES + 1)})
    assert client.post(path(group), obj, Accept=accept).status == 201
    stored = json.loads(json.dumps(client.get(f"{path(group)}/a").body))
    assert client.send("PUT", f"{path(group)}/a", stored | {"more": 1}, Accept=accept).status == 200
    assert client.merge(f"{path(group)}/a", {"more": 2}).status == 200
    applied = gadget(group, "a", less=3)
    answer = client.send(
        "PATCH", f"{path(group)}/a?fieldManager=me", applied, Content_Type="application/apply-patch+yaml"
    )
    assert answer.status == 200


def test_a_long_object_of_a_built_in_kind_is_the_first_of_it(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "long"}, "data": {"a": "x" * (LONG_BYTES + 1)}}
    assert client.post(path, obj).status == 201
    kind = "application/strategic-merge-patch+json"
    assert client.send("PATCH", f"{path}/long", {"data": {"b": "c"}}, Content_Type=kind).status == 200
