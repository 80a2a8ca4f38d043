"""Endpoints go with their service."""

from __future__ import annotations

import uuid

import pytest

from tests.conftest import Client


@pytest.fixture
def home(client: Client) -> str:
    name = f"n{uuid.uuid4().hex[:8]}"
    client.post("/api/v1/namespaces", {"metadata": {"name": name}})
    return f"/api/v1/namespaces/{name}"


def test_endpoints_are_gone_when_the_deletion_of_their_service_is_answered(client: Client, home: str) -> None:
    for name in ("gone", "stays"):
        client.post(f"{home}/endpoints", {"metadata": {"name": name}})
        client.post(f"{home}/services", {"metadata": {"name": name}, "spec": {"clusterIP": "None"}})
    client.send("DELETE", f"{home}/services/stays?dryRun=All")
    client.send("DELETE", f"{home}/services/gone")
    found = client.get(f"{home}/endpoints").body["items"]
    assert [one["metadata"]["name"] for one in found] == ["stays"]
    client.send("DELETE", f"{home}/services")
    assert client.get(f"{home}/endpoints").body["items"] == []


def test_endpoints_of_no_service_stay(client: Client, home: str) -> None:
    client.post(f"{home}/endpoints", {"metadata": {"name": "alone"}})
    client.send("DELETE", f"{home}/services")
    assert client.send("DELETE", f"{home}/endpoints/alone").status == 200
