"""Facts about objects and their owners, through a server of its own that does not wait."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from tests.conftest import CRDS, Client, definition, gadget
from tests.eventually import until

GROUP = "garbage.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def running() -> Iterator[Client]:
    with Server(garbage_delay=0) as server:
        client = Client(server.url, server.token)
        assert client.post(CRDS, definition(GROUP)).status == 201
        yield client
        client.close()


def make(client: Client, *owners: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    body = gadget(GROUP, f"o{uuid.uuid4().hex[:8]}")
    body["metadata"] |= {"ownerReferences": list(owners)} | metadata
    answer = client.post(OBJECTS, body)
    assert answer.status == 201, answer.body
    return dict(answer.body)


def ref(owner: dict[str, Any], **more: Any) -> dict[str, Any]:
    metadata = owner["metadata"]
    named = {"name": metadata["name"], "uid": metadata["uid"]}
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"]} | named | more


def path(obj: dict[str, Any]) -> str:
    return f"{OBJECTS}/{obj['metadata']['name']}"


def gone(client: Client, *objects: dict[str, Any]) -> bool:
    return all(client.get(path(obj)).status == 404 for obj in objects)


def delete(client: Client, obj: dict[str, Any], policy: str) -> int:
    return client.send("DELETE", f"{path(obj)}?propagationPolicy={policy}").status


def test_dependents_go_with_their_owner_and_theirs_too(running: Client) -> None:
    owner = make(running)
    child = make(running, ref(owner))
    grandchild, bystander = make(running, ref(child)), make(running)
    assert delete(running, owner, "Background") == 200
    until(lambda: gone(running, owner, child, grandchild))
    assert not gone(running, bystander)


def test_one_owner_that_stays_is_enough(running: Client) -> None:
    first, second = make(running), make(running)
    child = make(running, ref(first), ref(second))
    delete(running, first, "Background")
    until(lambda: len(running.get(path(child)).body["metadata"]["ownerReferences"]) == 1)
    assert running.get(path(child)).body["metadata"]["ownerReferences"] == [ref(second)]


def test_an_owner_that_never_was_is_as_good_as_gone(running: Client) -> None:
    nobody = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": str(uuid.uuid4())}
    until(lambda: gone(running, make(running, nobody)))
    owner = make(running)
    other = ref(owner) | {"uid": str(uuid.uuid4())}  # of another life of the same name
    child = make(running, other)
    until(lambda: gone(running, child))
    assert not gone(running, owner)


def test_an_owner_of_a_kind_that_nobody_knows_may_exist(running: Client) -> None:
    unknown = {"apiVersion": "unknown.example.com/v1", "kind": "Thing", "name": "x", "uid": str(uuid.uuid4())}
    child, probe = make(running, unknown), make(running, unknown | {"kind": "Gadget", "apiVersion": f"{GROUP}/v1"})
    until(lambda: gone(running, probe))  # looked at later than the child
    assert not gone(running, child)


def test_orphans_are_let_go(running: Client) -> None:
    owner = make(running)
    child = make(running, ref(owner))
    delete(running, owner, "Orphan")
    until(lambda: gone(running, owner))
    assert "ownerReferences" not in running.get(path(child)).body["metadata"]


def test_in_the_foreground_the_owner_goes_last(running: Client) -> None:
    owner = make(running)
    child = make(running, ref(owner, blockOwnerDeletion=True), finalizers=["example.com/hold"])
    loose = make(running, ref(owner))
    delete(running, owner, "Foreground")
    until(lambda: "deletionTimestamp" in running.get(path(child)).body["metadata"])
    until(lambda: gone(running, loose))
    assert running.get(path(owner)).body["metadata"]["finalizers"] == ["foregroundDeletion"]
    running.merge(path(child), {"metadata": {"finalizers": None}})
    until(lambda: gone(running, owner, child))


def test_in_the_foreground_dependents_wait_for_theirs(running: Client) -> None:
    owner = make(running)
    child = make(running, ref(owner, blockOwnerDeletion=True))
    grandchild = make(running, ref(child, blockOwnerDeletion=True), finalizers=["example.com/hold"])
    delete(running, owner, "Foreground")
    until(lambda: "deletionTimestamp" in running.get(path(grandchild)).body["metadata"])
    assert running.get(path(child)).body["metadata"]["finalizers"] == ["foregroundDeletion"]
    running.merge(path(grandchild), {"metadata": {"finalizers": None}})
    until(lambda: gone(running, owner, child, grandchild))


def test_a_circle_of_foreground_deletes_ends(running: Client) -> None:
    first = make(running)
    second = make(running, ref(first, blockOwnerDeletion=True))
    running.merge(path(first), {"metadata": {"ownerReferences": [ref(second, blockOwnerDeletion=True)]}})
    assert delete(running, first, "Foreground") == 200
    until(lambda: gone(running, first, second))


def test_an_object_that_owns_itself_does_not_wait_for_itself(running: Client) -> None:
    own = make(running)
    running.merge(path(own), {"metadata": {"ownerReferences": [ref(own, blockOwnerDeletion=True)]}})
    assert delete(running, own, "Foreground") == 200
    until(lambda: gone(running, own))


def test_owners_are_of_any_kind(running: Client) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
    owner = running.post(MAPS, body).body
    child = make(running, ref(owner))
    running.send("DELETE", f"{MAPS}/owner")
    until(lambda: gone(running, child))


def test_what_was_lost_while_the_server_was_down_is_found(tmp_path: Path) -> None:
    with Server(tmp_path, garbage_delay=None) as server:
        client = Client(server.url, server.token)
        client.post(CRDS, definition(GROUP))
        owner = make(client)
        child = make(client, ref(owner))
        delete(client, owner, "Background")
        assert not gone(client, child)
    with Server(tmp_path, garbage_delay=0) as server:
        client = Client(server.url, server.token)
        until(lambda: gone(client, child))


def test_what_was_owned_before_a_start_is_found_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podless.controllers.garbage._SCAN_PAGE", 3)
    with Server(tmp_path, garbage_delay=None) as server:
        client = Client(server.url, server.token)
        assert client.post(CRDS, definition(GROUP)).status == 201
        owners = [make(client) for _ in range(5)]
        children = [make(client, ref(owner)) for owner in owners]
        for owner in owners[1:]:
            assert client.send("DELETE", path(owner)).status == 200
        client.close()
    with Server(tmp_path, garbage_delay=0) as server:
        client = Client(server.url, server.token)
        until(lambda: gone(client, *children[1:]))
        assert not gone(client, owners[0], children[0])
        client.close()
