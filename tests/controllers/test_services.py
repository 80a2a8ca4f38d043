"""What goes with services: Endpoints, and the IPAddresses of their range."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from podless import Server
from tests.conftest import Client

MERGE = "application/merge-patch+json"


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


def held(client: Client) -> dict[str, str]:
    """The service of each IPAddress."""
    parents = (
        (one["metadata"]["name"], one["spec"]["parentRef"])
        for one in client.get("/apis/networking.k8s.io/v1/ipaddresses").body["items"]
    )
    return {name: f"{parent['namespace']}/{parent['name']}" for name, parent in parents}


def test_the_addresses_of_services_are_ipaddresses(client: Client, home: str) -> None:
    space = home.rpartition("/")[2]
    assert held(client)["10.0.0.1"] == "default/kubernetes"
    made = client.post(f"{home}/services", {"metadata": {"name": "one"}, "spec": {"ports": [{"port": 80}]}}).body
    ip = made["spec"]["clusterIP"]
    assert held(client)[ip] == f"{space}/one"
    found = client.get(f"/apis/networking.k8s.io/v1/ipaddresses/{ip}").body
    assert found["metadata"]["labels"] == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    assert [entry["manager"] for entry in found["metadata"]["managedFields"]] == ["kube-apiserver"]
    outside = {"spec": {"type": "ExternalName", "externalName": "a.example.com", "clusterIP": "", "clusterIPs": None}}
    changed = client.send("PATCH", f"{home}/services/one", outside, Content_Type=MERGE)
    assert (changed.status, ip in held(client)) == (200, False)
    inside = {"spec": {"type": "ClusterIP", "externalName": None, "clusterIP": ip}}
    assert client.send("PATCH", f"{home}/services/one", inside, Content_Type=MERGE).status == 200
    assert held(client)[ip] == f"{space}/one"
    client.send("DELETE", f"{home}/services/one")
    assert ip not in held(client)


def test_an_address_that_a_client_took_is_taken(client: Client, home: str) -> None:
    ip = "10.0.0.14"  # among those that are not chosen at random
    parent = {"resource": "gateways", "group": "example.com", "name": "mine"}
    body = {"metadata": {"name": ip}, "spec": {"parentRef": parent}}
    assert client.post("/apis/networking.k8s.io/v1/ipaddresses", body).status == 201
    wanted = {"metadata": {"name": "one"}, "spec": {"ports": [{"port": 80}], "clusterIP": ip}}
    refused = client.post(f"{home}/services", wanted)
    assert refused.body["message"].endswith(f"failed to allocate IP {ip}: provided IP is already allocated")
    assert client.send("DELETE", f"/apis/networking.k8s.io/v1/ipaddresses/{ip}").status == 200
    assert client.post(f"{home}/services", wanted).status == 201
    client.send("DELETE", f"{home}/services/one")


def test_what_a_server_left_undone_is_done_at_the_next_start(tmp_path: Path) -> None:
    ip = "/apis/networking.k8s.io/v1/ipaddresses"
    with Server(data=tmp_path) as server:
        client = Client(server.url, server.token)
        client.send("DELETE", f"{ip}/10.0.0.1")
        managed = {"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}
        parent = {"resource": "services", "namespace": "default", "name": "gone"}
        body = {"metadata": {"name": "10.0.0.77", "labels": managed}, "spec": {"parentRef": parent}}
        assert client.post(ip, body).status == 201
        client.close()
    with Server(data=tmp_path) as server:
        client = Client(server.url, server.token)
        assert held(client) == {"10.0.0.1": "default/kubernetes"}
        client.close()


def test_the_range_of_the_cluster_is_a_servicecidr(client: Client) -> None:
    found = client.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes").body
    assert found["spec"] == {"cidrs": ["10.0.0.0/24"]}
    (ready,) = found["status"]["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "True")
    entries = found["metadata"]["managedFields"]
    assert [(entry["manager"], entry["operation"], entry.get("subresource")) for entry in entries] == [
        ("kubernetes-service-cidr-controller", "Apply", "status"),
        ("kube-apiserver", "Update", None),
    ]
