"""Faults as objects that any client applies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.store.etcd.settings import Etcd
from tests.conftest import Client, kubectl_runner
from tests.store.etcd.cluster import shared as etcd

FAULTS = "/apis/testing.podless.dev/v1/faults"
PATH = "/api/v1/namespaces/default/configmaps"


def fault(called: str = "one", /, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "testing.podless.dev/v1", "kind": "Fault", "metadata": {"name": called}, "spec": spec}


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with Server(enable_faults=True) as server:
        yield server


@pytest.fixture
def bench(shared: Server) -> Iterator[Server]:
    yield shared
    for one in shared.list("faults"):
        shared.delete("faults", one["metadata"]["name"])


@pytest.fixture
def client(bench: Server) -> Iterator[Client]:
    client = Client(bench.url, bench.token)
    yield client
    client.close()


def numbers(client: Client, name: str = "one") -> tuple[int, int]:
    status = client.get(f"{FAULTS}/{name}").body["status"]
    return status["matched"], status["injected"]


def test_a_fault_is_in_force_for_the_next_request_and_counted(client: Client) -> None:
    assert client.post(FAULTS, fault(verb="list", resource="configmaps", status=503, times=2)).status == 201
    assert numbers(client) == (0, 0)
    assert [client.get(PATH).status for _ in range(3)] == [503, 503, 200]
    assert numbers(client) == (3, 2)
    assert client.send("DELETE", f"{FAULTS}/one").status == 200
    assert client.get(PATH).status == 200


def test_the_error_names_the_fault(client: Client) -> None:
    client.post(FAULTS, fault("conflicts", kind="ConfigMap", verb="create", status=409))
    answer = client.post(PATH, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    assert (answer.status, answer.body["message"]) == (409, "fault conflicts")


def test_a_change_counts_anew_and_other_changes_do_not(client: Client) -> None:
    client.post(FAULTS, fault(verb="list", status=503, times=1))
    assert [client.get(PATH).status for _ in range(2)] == [503, 200]
    client.merge(f"{FAULTS}/one", {"metadata": {"labels": {"a": "b"}}})
    assert client.get(PATH).status == 200
    assert numbers(client) == (3, 1)
    client.merge(f"{FAULTS}/one", {"spec": {"status": 504}})
    assert numbers(client) == (0, 0)
    assert [client.get(PATH).status for _ in range(2)] == [504, 200]
    client.merge(f"{FAULTS}/one/status", {"status": {"matched": 0, "injected": 0}})
    assert [client.get(PATH).status for _ in range(2)] == [504, 200]
    assert numbers(client) == (2, 1)


def test_faults_are_never_faulted(client: Client) -> None:
    client.post(FAULTS, fault(status=500))
    client.post(FAULTS, fault("two", path="/", status=500))
    assert client.get(PATH).status == 500
    assert client.get("/readyz").status == 500
    assert client.get("/apis").status == 500
    assert client.get("/apis/testing.podless.dev/v1").status == 200
    assert client.get(FAULTS).status == 200
    assert client.send("DELETE", FAULTS).status == 200
    assert client.get("/readyz").status == 200
    assert client.get(PATH).status == 200


def test_one_that_waits_for_a_finalizer_is_in_force_no_longer(client: Client) -> None:
    held = fault(status=500)
    held["metadata"]["finalizers"] = ["example.com/held"]
    client.post(FAULTS, held)
    assert client.get(PATH).status == 500
    client.send("DELETE", f"{FAULTS}/one")
    assert client.get(PATH).status == 200
    client.merge(f"{FAULTS}/one", {"metadata": {"finalizers": []}})


def test_the_numbers_come_on_a_watch(bench: Server, client: Client) -> None:
    client.post(FAULTS, fault(verb="list", status=503))
    client.get(PATH)
    seen = bench.wait("fault", "one", "object.status.injected == 1")
    assert isinstance(seen["status"]["seed"], int)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({}, "set one of"),
        ({"status": 500, "drop": "after"}, "can be combined with a delay"),
        ({"status": 200}, "greater than or equal to 400"),
        ({"delay": 1e300}, "less than or equal to 3600"),
        ({"status": 500, "times": 1 << 63}, "times"),
        ({"webhook": "x", "verb": "get"}, "can be combined with"),
        ({"status": 500, "name": "(a+)+$" * 1000}, "may not be more than"),
    ],
)
def test_what_cannot_be_is_refused(client: Client, spec: dict[str, Any], why: str) -> None:
    answer = client.post(FAULTS, fault(**spec))
    assert answer.status in (400, 422)
    assert why in answer.body["message"]


@pytest.mark.parametrize("text", ["(a+)+$", "[", "*" * 1000, "\\", "a" * 1024, "\u202e", "%00"])
def test_texts_are_no_patterns(client: Client, text: str) -> None:
    for name in ("name", "namespace", "user", "agent", "resource", "kind"):
        assert client.post(FAULTS, fault(name, status=500, **{name: text})).status == 201
        assert client.get(f"{PATH}/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab").status == 404


def test_many_faults_are_carried_out(client: Client) -> None:
    for number in range(50):
        assert client.post(FAULTS, fault(f"f{number:02}", verb="list", status=503, times=1, resource="*")).status == 201
    assert [client.get(PATH).status for _ in range(51)] == [503] * 50 + [200]
    assert {numbers(client, f"f{number:02}")[1] for number in range(50)} == {1}


def test_a_server_without_the_option_knows_no_faults() -> None:
    with Server() as server:
        client = Client(server.url, server.token)
        assert client.get(FAULTS).status == 404
        assert "testing.podless.dev" not in str(client.get("/apis").body)
        client.close()


def test_numbers_and_bounds_outlive_the_server(tmp_path: Any) -> None:
    with Server(tmp_path, enable_faults=True) as server:
        server.apply(fault(verb="list", status=503, times=2))
        client = Client(server.url, server.token)
        assert client.get(PATH).status == 503
        assert numbers(client) == (1, 1)
        client.close()
    with Server(tmp_path, enable_faults=True) as server:
        client = Client(server.url, server.token)
        assert [client.get(PATH).status for _ in range(2)] == [503, 200]
        assert numbers(client) == (3, 2)
        client.close()
    with Server(tmp_path) as server:
        client = Client(server.url, server.token)
        assert client.get(PATH).status == 200
        assert client.get(FAULTS).status == 404
        client.close()


def test_several_servers_of_a_store_count_together() -> None:
    settings = Etcd(servers=(etcd().url,), prefix="/faults-of-several")
    given: dict[str, Any] = {"store": "etcd", "etcd": settings, "enable_faults": True}
    with Server(**given) as one, Server(**given) as other:
        clients = [Client(each.url, each.token) for each in (one, other)]
        one.apply(fault(verb="list", resource="configmaps", status=503))
        for client in clients:
            assert [client.get(PATH).status for _ in range(3)] == [503] * 3
        assert numbers(clients[1])[1] >= 3
        one.wait("fault", "one", "object.status.injected == 6")
        other.delete("faults", "one")
        assert [client.get(PATH).status for client in clients] == [200, 200]
        for client in clients:
            client.close()


@pytest.mark.clients
def test_kubectl_applies_shows_and_explains(bench: Server, client: Client, tmp_path: Any) -> None:
    binary = shutil.which("kubectl")
    if not binary:
        pytest.skip("kubectl is not on this machine")
    kubectl = kubectl_runner(binary, bench, tmp_path)
    text = json.dumps(fault(verb="list", resource="secrets", status=429))
    assert kubectl("apply", "-f", "-", stdin=text) == "fault.testing.podless.dev/one created\n"
    client.get("/api/v1/secrets")
    head, row = kubectl("get", "faults").splitlines()
    assert head.split() == ["NAME", "VERB", "RESOURCE", "STATUS", "MATCHED", "INJECTED", "AGE"]
    assert row.split()[:6] == ["one", "list", "secrets", "429", "1", "1"]
    assert "close the connection before or after" in kubectl("explain", "fault.spec.drop")
