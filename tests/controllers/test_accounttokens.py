"""Secrets for tokens of service accounts: filled in, good while they have their token, gone with the account."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from tests.conftest import Client
from tests.eventually import until

HOME = "/api/v1/namespaces/default"
REVIEWS = "/apis/authentication.k8s.io/v1"


@pytest.fixture(scope="module")
def server(engine: str) -> Iterator[Server]:
    """A server with TLS, so that there is an authority to be told of."""
    with Server() as running:
        yield running


@pytest.fixture
def admin(server: Server) -> Iterator[Client]:
    client = Client(server.url, server.token)
    yield client
    client.close()


@pytest.fixture
def name() -> str:
    return f"robot-{uuid.uuid4().hex[:8]}"


def secret(name: str, account: str, **annotations: str) -> dict[str, Any]:
    notes = {"kubernetes.io/service-account.name": account, **annotations}
    return {"type": "kubernetes.io/service-account-token", "metadata": {"name": name, "annotations": notes}}


def made(admin: Client, name: str) -> dict[str, Any]:
    assert admin.post(f"{HOME}/serviceaccounts", {"metadata": {"name": name}}).status == 201
    assert admin.post(f"{HOME}/secrets", secret(name, name)).status == 201
    found: dict[str, Any] = admin.get(f"{HOME}/secrets/{name}").body
    return found


def text(found: dict[str, Any], key: str) -> str:
    return base64.b64decode(found["data"][key]).decode()


def test_a_secret_is_filled_when_its_creation_is_answered(admin: Client, name: str) -> None:
    found = made(admin, name)
    account = admin.get(f"{HOME}/serviceaccounts/{name}").body["metadata"]
    assert found["metadata"]["annotations"] == {
        "kubernetes.io/service-account.name": name,
        "kubernetes.io/service-account.uid": account["uid"],
    }
    assert list(found["data"]) == ["ca.crt", "namespace", "token"]
    assert list(found) == ["kind", "apiVersion", "metadata", "data", "type"]
    assert text(found, "namespace") == "default"
    assert text(found, "ca.crt").startswith("-----BEGIN CERTIFICATE-----")
    written = {field["manager"]: field for field in found["metadata"]["managedFields"]}["kube-controller-manager"]
    assert set(written["fieldsV1"]["f:data"]) == {".", "f:ca.crt", "f:namespace", "f:token"}
    claims = json.loads(base64.urlsafe_b64decode(text(found, "token").split(".")[1] + "=="))
    assert claims == {
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "default",
        "kubernetes.io/serviceaccount/secret.name": name,
        "kubernetes.io/serviceaccount/service-account.name": name,
        "kubernetes.io/serviceaccount/service-account.uid": account["uid"],
        "sub": f"system:serviceaccount:default:{name}",
    }


def test_what_is_taken_out_comes_back(admin: Client, name: str) -> None:
    first = made(admin, name)
    admin.merge(f"{HOME}/secrets/{name}", {"data": {"token": None, "ca.crt": "eA==", "own": "eA=="}})
    found = admin.get(f"{HOME}/secrets/{name}").body["data"]
    assert found == {**first["data"], "own": "eA=="} | {"token": found["token"]}


def who(admin: Client, token: str, **spec: Any) -> Any:
    return admin.post(f"{REVIEWS}/tokenreviews", {"spec": {"token": token, **spec}}).body["status"]


def test_the_token_is_its_account(server: Server, admin: Client, name: str) -> None:
    token = text(made(admin, name), "token")
    status = who(admin, token)
    assert (status["authenticated"], status["user"]["username"]) == (True, f"system:serviceaccount:default:{name}")
    assert "extra" not in status["user"]
    assert "error" in who(admin, token, audiences=["others"])
    robot = Client(server.url, token)
    asked = robot.post(f"{REVIEWS}/selfsubjectreviews", {})
    assert asked.body["status"]["userInfo"]["username"] == f"system:serviceaccount:default:{name}"
    admin.merge(f"{HOME}/secrets/{name}", {"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "x"}}})
    assert robot.post(f"{REVIEWS}/selfsubjectreviews", {}).status == 401


@pytest.mark.parametrize("what", ["secrets", "serviceaccounts"])
def test_the_token_ends_with_secret_and_account(server: Server, admin: Client, name: str, what: str) -> None:
    robot = Client(server.url, text(made(admin, name), "token"))
    assert robot.post(f"{REVIEWS}/selfsubjectreviews", {}).status == 201
    admin.send("DELETE", f"{HOME}/{what}/{name}")
    assert robot.post(f"{REVIEWS}/selfsubjectreviews", {}).status == 401


def test_a_changed_token_is_no_good(server: Server, admin: Client, name: str) -> None:
    found = made(admin, name)
    admin.merge(f"{HOME}/secrets/{name}", {"data": {"token": "eA=="}})
    assert Client(server.url, text(found, "token")).get("/api/v1/secrets").status == 401


def test_secrets_go_with_their_account(admin: Client, name: str) -> None:
    made(admin, name)
    admin.send("DELETE", f"{HOME}/serviceaccounts/{name}")
    until(lambda: admin.get(f"{HOME}/secrets/{name}").status == 404)


def test_a_secret_of_nobody_goes(admin: Client, name: str) -> None:
    admin.post(f"{HOME}/serviceaccounts", {"metadata": {"name": name}})
    other = {"kubernetes.io/service-account.uid": "another"}
    assert admin.post(f"{HOME}/secrets", secret(f"{name}-a", "nobody")).status == 201
    assert admin.post(f"{HOME}/secrets", secret(f"{name}-b", name, **other)).status == 201
    until(lambda: {admin.get(f"{HOME}/secrets/{name}-{one}").status for one in "ab"} == {404})


def test_without_a_collector_a_secret_waits_for_its_account(name: str) -> None:
    with Server(garbage_delay=None) as server:
        client = Client(server.url, server.token)
        assert client.post(f"{HOME}/secrets", secret(name, name)).status == 201
        assert "data" not in client.get(f"{HOME}/secrets/{name}").body
        client.post(f"{HOME}/serviceaccounts", {"metadata": {"name": name}})
        assert "token" in client.get(f"{HOME}/secrets/{name}").body["data"]
        client.close()


def test_nothing_is_filled_where_accounts_are_left_alone(name: str) -> None:
    with Server(default_accounts=False) as server:
        client = Client(server.url, server.token)
        client.post(f"{HOME}/serviceaccounts", {"metadata": {"name": name}})
        client.post(f"{HOME}/secrets", secret(name, name))
        assert "data" not in client.get(f"{HOME}/secrets/{name}").body
        client.close()
