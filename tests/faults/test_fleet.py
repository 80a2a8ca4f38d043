"""Three servers over three etcd members, while members and servers fail: clients see one object, not three."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.conftest import Client
from tests.eventually import until
from tests.faults.fleet import Fleet, Traffic, fleet, torment
from tests.faults.linearizable import wrong

pytestmark = pytest.mark.slow

NAMESPACES = "/api/v1/namespaces"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/podless-controllers"


@pytest.fixture(scope="module")
def over() -> Iterator[Fleet]:
    """The same for all tests, each of which mends what it breaks."""
    with fleet() as running:
        yield running


@pytest.fixture
def clients(over: Fleet) -> Iterator[list[Client]]:
    """One for each server."""
    found = [Client(server.url, server.token) for server in over.servers]
    yield found
    for one in found:
        one.close()


def test_clients_see_one_state_whatever_fails(over: Fleet) -> None:
    with Traffic(over.servers, seed=1, keys=5) as traffic:
        torment(over, traffic, rounds=1, each=40, seed=1)
    assert wrong(traffic.history) == []
    assert [value for value, revisions in traffic.revisions.items() if len(revisions) > 1] == []


def holder(client: Client) -> str:
    return str(client.get(LEASE).body["spec"]["holderIdentity"])


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["killed", "paused"])
def test_status_work_moves_to_another_server_and_stays_there(over: Fleet, clients: list[Client], fault: str) -> None:
    until(lambda: holder(clients[0]) != "")
    former = holder(clients[0])
    (leader,) = (number for number, server in enumerate(over.servers) if f"_{server.pid}_" in former)
    others = [client for number, client in enumerate(clients) if number != leader]
    if fault == "killed":
        over.servers[leader].kill()
    else:
        over.servers[leader].signal(signal.SIGSTOP)
    try:
        assert others[0].post(NAMESPACES, {"metadata": {"name": f"{fault}-1"}}).status == 201
        until(lambda: others[1].get(f"{NAMESPACES}/{fault}-1/serviceaccounts/default").status == 200)
        present = holder(others[0])
        assert present != former
    finally:
        if fault == "killed":
            over.servers[leader].again()
        else:
            over.servers[leader].signal(signal.SIGCONT)
    back = Client(over.servers[leader].url, over.servers[leader].token)
    until(lambda: back.get("/readyz").status == 200)
    assert back.post(NAMESPACES, {"metadata": {"name": f"{fault}-2"}}).status == 201
    until(lambda: others[0].get(f"{NAMESPACES}/{fault}-2/serviceaccounts/default").status == 200)
    assert holder(back) == present
    back.close()


@pytest.mark.slow
def test_without_a_leader_requests_are_refused_in_time_and_served_again_after(
    over: Fleet, clients: list[Client]
) -> None:
    (one, two) = over.members.all[1:]
    for member in (one, two):
        member.stop()
    try:
        until(lambda: clients[0].get(NAMESPACES).status != 200)
        for answer in (clients[0].get(NAMESPACES), clients[1].post(NAMESPACES, {"metadata": {"name": "leaderless"}})):
            assert answer.status in (503, 504), answer.body
            assert answer.body["reason"] in ("ServiceUnavailable", "Timeout")
        ready = clients[2].get("/readyz")
        assert (ready.status, b"[-]etcd failed" in ready.body) == (500, True)
        assert clients[2].get("/livez/ping").status == 200
    finally:
        for member in (one, two):
            member.start()
    for client in clients:
        until(lambda client=client: client.get("/readyz").status == 200)  # type: ignore[misc]
        assert client.get(NAMESPACES).status == 200
