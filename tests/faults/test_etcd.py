"""An etcd that is slow, gone, or has forgotten what was not told yet: said in words, and over without a restart."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.store.etcd.settings import Etcd
from tests.conftest import Client
from tests.store.etcd.cluster import Member

MAPS = "/api/v1/namespaces/default/configmaps"


def thing(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"a": "b"}}


@pytest.fixture
def member() -> Iterator[Member]:
    """An etcd of its own."""
    member = Member()
    member.start()
    try:
        member.ready()
        yield member
    finally:
        member.stop()
        member.folder.cleanup()


@pytest.fixture
def servers(member: Member) -> Iterator[tuple[Client, Client]]:
    """Two servers over it."""
    etcd = Etcd(servers=(member.url,))
    with Server(store="etcd", etcd=etcd) as one, Server(store="etcd", etcd=etcd) as other:
        assert one.token == other.token
        clients = Client(one.url, one.token), Client(other.url, other.token)
        yield clients
        for client in clients:
            client.close()


def test_writes_elsewhere_are_there_for_the_next_request(servers: tuple[Client, Client]) -> None:
    one, other = servers
    for number in range(20):
        one, other = other, one
        assert one.post(MAPS, thing(f"a{number}")).status == 201
        assert other.get(f"{MAPS}/a{number}").status == 200
        assert len(other.get(MAPS).body["items"]) == number + 1


def test_a_definition_is_in_force_on_all_servers(servers: tuple[Client, Client]) -> None:
    from tests.conftest import definition, gadget

    one, other = servers
    for number in range(5):
        group = f"g{number}.example.com"
        assert one.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(group)).status == 201
        path = f"/apis/{group}/v1/namespaces/default/gadgets"
        assert other.post(path, gadget(group, "a")).status == 201
        assert one.get(f"{path}/a").status == 200


def test_pages_and_watches_go_on_at_another_server(servers: tuple[Client, Client]) -> None:
    one, other = servers
    for number in range(5):
        assert one.post(MAPS, thing(f"a{number}")).status == 201
    page = one.get(f"{MAPS}?limit=2").body
    rest = other.get(f"{MAPS}?limit=5&continue={page['metadata']['continue']}").body
    assert [one["metadata"]["name"] for one in rest["items"]] == ["a2", "a3", "a4"]
    revision = page["items"][1]["metadata"]["resourceVersion"]
    events = other.events(f"{MAPS}?watch=1&resourceVersion={revision}", 3)
    assert [event["object"]["metadata"]["name"] for event in events] == ["a2", "a3", "a4"]


def test_an_etcd_that_is_gone_is_said_so_and_comes_back(member: Member, servers: tuple[Client, Client]) -> None:
    client, _ = servers
    assert client.post(MAPS, thing("a")).status == 201
    member.stop()
    for answer in (client.get(f"{MAPS}/a"), client.post(MAPS, thing("b"))):
        assert answer.status == 503, answer.body
        assert answer.body["reason"] == "ServiceUnavailable"
    assert client.get("/livez/ping").status == 200
    ready = client.get("/readyz")
    assert (ready.status, b"[-]etcd failed" in ready.body) == (500, True)
    member.start()
    member.ready()
    while client.get("/readyz").status != 200:
        pass
    assert client.get(f"{MAPS}/a").status == 200
    assert client.post(MAPS, thing("b")).status == 201
    assert [one["metadata"]["name"] for one in client.get(MAPS).body["items"]] == ["a", "b"]


def test_an_etcd_that_hangs_is_late(member: Member, servers: tuple[Client, Client]) -> None:
    client, _ = servers
    assert client.post(MAPS, thing("a")).status == 201
    assert member.process is not None
    member.process.send_signal(signal.SIGSTOP)
    try:
        answer = client.get(f"{MAPS}/a")
        assert answer.status in (503, 504), answer.body
    finally:
        member.process.send_signal(signal.SIGCONT)
    while client.get(f"{MAPS}/a").status != 200:
        pass
    assert client.post(MAPS, thing("b")).status == 201
