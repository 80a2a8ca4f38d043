"""Addresses of services on a running server: given once, also to those who ask at the same time, and given back."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

from podless import Server
from tests.conftest import Client


def test_services_made_together_get_different_addresses_and_give_them_back(server: Server, client: Client) -> None:
    home = f"/api/v1/namespaces/n{uuid.uuid4().hex[:8]}"
    assert client.post("/api/v1/namespaces", {"metadata": {"name": home.rpartition("/")[2]}}).status == 201

    def make(number: int) -> str:
        body = {"metadata": {"name": f"s{number}"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
        mine = Client(server.url, server.token)
        spec = mine.post(f"{home}/services", body).body["spec"]
        mine.close()
        return f"{spec['clusterIP']} {spec['ports'][0]['nodePort']}"

    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(make, range(24)))
    assert len({one.split()[0] for one in given}) == len({one.split()[1] for one in given}) == 24
    address = given[0].split()[0]
    again = {"metadata": {"name": "again"}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}}
    assert client.post(f"{home}/services", again).status == 422
    assert client.send("DELETE", f"{home}/services/s0").status == 200
    assert client.post(f"{home}/services", again).status == 201


def test_a_service_that_becomes_a_name_for_a_host_gives_its_address_back(client: Client) -> None:
    home = "/api/v1/namespaces/default/services"
    name = f"s{uuid.uuid4().hex[:8]}"
    made = client.post(home, {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}).body
    address = made["spec"]["clusterIP"]
    patch = {"spec": {"type": "ExternalName", "externalName": "a.b"}}
    changed = client.send("PATCH", f"{home}/{name}", patch, **{"Content-Type": "application/merge-patch+json"}).body
    assert "clusterIP" not in changed["spec"]
    other = {"metadata": {"name": f"{name}-2"}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}}
    assert client.post(home, other).status == 201


def test_a_service_without_a_name_that_fits_gets_no_address(client: Client) -> None:
    home = "/api/v1/namespaces/default/services"
    for name in ("", "a/b"):
        refused = client.post(home, {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})
        assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["spec.clusterIPs"]
        assert "is invalid: spec.parentRef.name: " in refused.body["message"]


def test_the_address_of_a_service_stays(client: Client) -> None:
    home = "/api/v1/namespaces/default/services"
    name = f"s{uuid.uuid4().hex[:8]}"
    metadata, ports = {"name": name}, [{"port": 80}]
    assert client.post(home, {"metadata": metadata, "spec": {"ports": ports}}).status == 201
    body = {"metadata": metadata, "spec": {"ports": ports, "clusterIP": "None"}}
    refused = client.send("PUT", f"{home}/{name}", body)
    assert 'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set' in refused.body["message"]
