"""An etcd that is slow, gone, or has forgotten what was not told yet: said in words, and over without a restart."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from podless import Server
from podless.store.etcd.settings import Etcd
from tests.conftest import Client
from tests.eventually import until
from tests.faults.proxy import Proxies
from tests.store.etcd.cluster import Member, running_member

pytestmark = pytest.mark.slow

MAPS = "/api/v1/namespaces/default/configmaps"


def thing(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"a": "b"}}


@pytest.fixture
def member() -> Iterator[Member]:
    """An etcd of its own."""
    with running_member() as member:
        yield member


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
    until(lambda: client.get("/readyz").status == 200)
    assert client.get(f"{MAPS}/a").status == 200
    assert client.post(MAPS, thing("b")).status == 201
    assert [one["metadata"]["name"] for one in client.get(MAPS).body["items"]] == ["a", "b"]


def test_an_etcd_that_hangs_is_late(member: Member, servers: tuple[Client, Client]) -> None:
    client, _ = servers
    assert client.post(MAPS, thing("a")).status == 201
    member.signal(signal.SIGSTOP)
    try:
        assert client.get(f"{MAPS}/a?timeout=300ms").status == 504
        answer = client.get(f"{MAPS}/a")
        assert answer.status in (503, 504), answer.body
    finally:
        member.signal(signal.SIGCONT)
    until(lambda: client.get(f"{MAPS}/a").status == 200)
    assert client.post(MAPS, thing("b")).status == 201


@pytest.mark.parametrize("fault", [signal.SIGSTOP, signal.SIGKILL])
def test_a_server_ends_also_where_etcd_does_not_answer(member: Member, fault: int) -> None:
    with Server(store="etcd", etcd=Etcd(servers=(member.url,))) as server:
        client = Client(server.url, server.token)
        assert client.post(MAPS, thing("a")).status == 201
        client.close()
        member.signal(fault)


def watching(client: Client, revision: str) -> Iterator[dict[str, Any]]:
    """What a watch tells, to its end."""
    connection = client._connect()
    token = {"Authorization": f"Bearer {client._token}"}
    connection.request("GET", f"{MAPS}?watch=1&resourceVersion={revision}", headers=token)
    answer = connection.getresponse()
    while line := answer.readline():
        yield json.loads(line)
    connection.close()


def test_an_etcd_that_was_restored_is_read_anew_and_revisions_go_on(
    member: Member, servers: tuple[Client, Client], tmp_path: Path
) -> None:
    one, other = servers
    for name in ("a", "b"):
        assert one.post(MAPS, thing(name)).status == 201
    save(member, tmp_path / "snapshot")
    changed = one.merge(f"{MAPS}/a", {"data": {"a": "later"}}).body
    revision = one.post(MAPS, thing("c")).body["metadata"]["resourceVersion"]
    told = watching(one, changed["metadata"]["resourceVersion"])
    assert next(told)["object"]["metadata"]["name"] == "c"
    assert len(other.get(MAPS).body["items"]) == 3
    restore(member, tmp_path / "snapshot")
    for client in servers:
        until(lambda client=client: client.get("/readyz").status == 200)  # type: ignore[misc]
        found = client.get(MAPS).body
        assert [each["metadata"]["name"] for each in found["items"]] == ["a", "b"]
        assert found["items"][0]["data"] == {"a": "b"}
        assert int(found["metadata"]["resourceVersion"]) > int(revision)
    assert list(told) == []  # it has ended, and nothing was invented
    made = other.post(MAPS, thing("d")).body
    assert int(made["metadata"]["resourceVersion"]) > int(revision)
    for client in servers:
        (gone,) = watching(client, revision)
        assert (gone["type"], gone["object"]["code"]) == ("ERROR", 410)
        assert client.get(f"{MAPS}/c").status == 404
    # nothing that was read before the restoration can be replaced by mistake
    assert one.send("PUT", f"{MAPS}/a", changed).status == 409


@pytest.mark.parametrize(("alone", "write"), [(False, False), (True, False), (True, True)])
def test_an_etcd_that_was_restored_under_a_server_that_is_alone_is_read_anew(
    member: Member, tmp_path: Path, alone: bool, write: bool
) -> None:
    """alone: the snapshot is of when it was. write: it is asked for one before it can find out by itself."""
    with Server(store="etcd", etcd=Etcd(servers=(member.url,))) as server:
        client = Client(server.url, server.token)
        assert client.post(MAPS, thing("a")).status == 201
        client.close()
        if not alone:
            save(member, tmp_path / "snapshot")
    with Server(store="etcd", etcd=Etcd(servers=(member.url,), exclusive=True)) as server:
        client = Client(server.url, server.token)

        def renewed(times: int) -> int:
            """The revision when it has said so many times that it is alone."""
            before = int(client.get(MAPS).body["metadata"]["resourceVersion"])
            until(lambda: int(client.get(MAPS).body["metadata"]["resourceVersion"]) >= before + times)
            return before + times

        renewed(2)
        if alone:
            save(member, tmp_path / "snapshot")
        else:
            assert client.post(MAPS, thing("b")).status == 201
        revision = renewed(3)
        told = watching(client, str(revision))
        ended: list[Any] = []
        reading = threading.Thread(target=lambda: ended.extend(told))
        reading.start()
        restore(member, tmp_path / "snapshot")
        there = ["a"]
        if not write:
            until(lambda: not reading.is_alive())
        else:
            assert client.post(MAPS, thing("c")).status == 201
            there.append("c")
            assert client.get(f"{MAPS}/c").status == 200
        found = client.get(MAPS).body
        assert [each["metadata"]["name"] for each in found["items"]] == there
        assert int(found["metadata"]["resourceVersion"]) > revision
        reading.join(60)
        assert ended == []  # it has ended, and nothing was invented
        (gone,) = watching(client, str(revision))
        assert (gone["type"], gone["object"]["code"]) == ("ERROR", 410)
        made = client.post(MAPS, thing("d")).body["metadata"]["resourceVersion"]
        assert int(made) > revision
        (event,) = client.events(f"{MAPS}?watch=1&resourceVersion={found['metadata']['resourceVersion']}", 1)
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "d")
        assert client.get(f"{MAPS}/d").status == 200
        client.close()


def save(member: Member, snapshot: Path) -> None:
    control(member, "snapshot", "save", str(snapshot))


def restore(member: Member, snapshot: Path) -> None:
    """Have a member begin anew with the state of a snapshot."""
    member.stop()
    data = Path(member.folder.name) / "data"
    shutil.rmtree(data)
    place = ["--data-dir", str(data), "--name", "default", "--initial-cluster", f"default={member.address}"]
    place += ["--initial-advertise-peer-urls", member.address]
    control(member, "snapshot", "restore", str(snapshot), *place)
    member.start()
    member.ready()


def control(member: Member, *arguments: str) -> None:
    if shutil.which("etcdctl") is None:
        pytest.skip("etcdctl is not installed (Debian: apt-get install etcd-client)")
    environment = {"ETCDCTL_API": "3", "PATH": os.environ["PATH"]}
    endpoints = ["--endpoints", member.url] if "save" in arguments else []
    subprocess.run(["etcdctl", *endpoints, *arguments], check=True, capture_output=True, timeout=60, env=environment)


def test_a_server_that_was_cut_off_while_history_went_tells_nothing_twice_and_misses_nothing(member: Member) -> None:
    proxies = Proxies()
    proxy = proxies.add(urlsplit(member.url).port or 0)
    near, far = Etcd(servers=(member.url,)), Etcd(servers=(f"http://127.0.0.1:{proxy.port}",))
    with Server(store="etcd", etcd=near) as one, Server(store="etcd", etcd=far) as other:
        here, there = Client(one.url, one.token), Client(other.url, other.token)
        revision = here.post(MAPS, thing("a")).body["metadata"]["resourceVersion"]
        told = watching(there, revision)
        here.post(MAPS, thing("b"))
        assert next(told)["object"]["metadata"]["name"] == "b"
        proxy.drop()
        assert here.post(MAPS, thing("c")).status == 201
        newest = here.send("DELETE", f"{MAPS}/b").status
        assert newest == 200
        control(member, "compact", here.get(MAPS).body["metadata"]["resourceVersion"], "--endpoints", member.url)
        proxy.mend()
        until(lambda: there.get("/readyz").status == 200)
        assert list(told) == []
        assert [each["metadata"]["name"] for each in there.get(MAPS).body["items"]] == ["a", "c"]
        (gone,) = watching(there, revision)
        assert (gone["type"], gone["object"]["code"]) == ("ERROR", 410)
        events = there.events(f"{MAPS}?watch=1", 2)
        assert [(each["type"], each["object"]["metadata"]["name"]) for each in events] == [
            ("ADDED", "a"),
            ("ADDED", "c"),
        ]
        for client in (here, there):
            client.close()
    proxies.close()
