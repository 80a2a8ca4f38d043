"""What every namespace has comes with it, comes back, and goes with it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from podless import Server
from tests.conftest import Client
from tests.eventually import until

NAMESPACES = "/api/v1/namespaces"


@pytest.fixture(scope="module")
def both() -> Iterator[Client]:
    """Talks to a server that fills namespaces with all it can."""
    with Server(root_configmaps=True) as server:
        client = Client(server.url, server.token)
        yield client
        client.close()


@pytest.fixture
def path(both: Client) -> str:
    name = f"n{uuid.uuid4().hex[:8]}"
    assert both.post(NAMESPACES, {"metadata": {"name": name}}).status == 201
    return f"{NAMESPACES}/{name}"


def test_a_namespace_is_full_when_its_creation_is_answered(both: Client, path: str) -> None:
    for home in (path, f"{NAMESPACES}/default", f"{NAMESPACES}/kube-system"):
        assert both.get(f"{home}/serviceaccounts/default").status == 200
        found = both.get(f"{home}/configmaps/kube-root-ca.crt").body
        assert found["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")


def test_what_is_deleted_or_changed_comes_back(both: Client, path: str) -> None:
    uid = both.get(f"{path}/serviceaccounts/default").body["metadata"]["uid"]
    both.send("DELETE", f"{path}/serviceaccounts/default")
    until(lambda: both.get(f"{path}/serviceaccounts/default").body.get("metadata", {}).get("uid", uid) != uid)
    both.merge(f"{path}/configmaps/kube-root-ca.crt", {"data": {"ca.crt": "x"}})
    until(lambda: len(both.get(f"{path}/configmaps/kube-root-ca.crt").body["data"]["ca.crt"]) > 1)


def test_it_goes_with_the_namespace(both: Client, path: str) -> None:
    both.send("DELETE", path)
    until(lambda: both.get(path).status == 404)
    assert both.get(f"{path}/serviceaccounts").body["items"] == []
    assert both.get(f"{path}/configmaps").body["items"] == []


def test_it_is_only_made_where_it_is_asked_for() -> None:
    with Server(default_accounts=False) as server:
        client = Client(server.url, server.token)
        assert client.get("/api/v1/serviceaccounts").body["items"] == []
        assert client.get("/api/v1/configmaps").body["items"] == []
        client.close()
