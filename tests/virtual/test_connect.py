"""What leads on to nodes, pods and services: there is no network, and what would be asked is judged first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Client

CORE = "/api/v1/namespaces/default"
SERVICE = f"{CORE}/services/led"
NODE = "/api/v1/nodes/led"


@pytest.fixture(autouse=True)
def objects(client: Client) -> None:
    ports = [{"port": 80, "name": "http"}, {"port": 443, "name": "https"}]
    client.post(f"{CORE}/services", {"metadata": {"name": "led"}, "spec": {"ports": ports}})
    client.post("/api/v1/nodes", {"metadata": {"name": "led"}})
    status = {"status": {"addresses": [{"type": "InternalIP", "address": "10.9.9.9"}]}}
    assert client.merge(f"{NODE}/status", status).status == 200


def told(client: Client, path: str, method: str = "GET", **more: Any) -> tuple[int, str]:
    answer = client.send(method, path, **more)
    return answer.status, answer.body["message"]


@pytest.mark.parametrize("path", [f"{SERVICE}/proxy", f"{NODE}/proxy", f"{SERVICE}/proxy/a/b", f"{NODE}/proxy/metrics"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_the_object_that_leads_on_is_neither_shown_nor_touched(client: Client, path: str, method: str) -> None:
    status, _ = told(client, path, method, body={"metadata": {"labels": {"a": "b"}}} if method != "GET" else None)
    assert status in (404, 503)
    for each in (SERVICE, NODE):
        found = client.get(each)
        assert found.status == 200
        assert "labels" not in found.body["metadata"]


def test_a_node_is_asked_at_its_address(client: Client) -> None:
    reach = "error trying to reach service: dial tcp 10.9.9.9"
    assert told(client, f"{NODE}/proxy/metrics") == (503, f"{reach}:10250: connect: connection refused")
    assert told(client, f"{NODE}:99/proxy/") == (503, f"{reach}:99: connect: connection refused")
    assert told(client, "/api/v1/nodes/none/proxy") == (404, 'nodes "none" not found')
    assert told(client, "/api/v1/nodes/ftp:led:1/proxy") == (400, 'invalid node request "ftp:led:1"')
    client.merge(f"{NODE}/status", {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}})
    assert told(client, f"{NODE}/proxy") == (400, "address not allowed")
    client.merge(f"{NODE}/status", {"status": {"addresses": [{"type": "InternalIP", "address": "10.9.9.9"}]}})


def test_a_service_is_asked_at_the_pods_behind_it(client: Client) -> None:
    assert told(client, f"{SERVICE}:81/proxy") == (503, 'no service port 81 found for service "led"')
    assert told(client, f"{SERVICE}:80/proxy") == (404, 'services "led" not found')
    client.post(f"{CORE}/endpoints", {"metadata": {"name": "led"}})
    assert told(client, f"{SERVICE}/proxy") == (503, 'no endpoints available for service "led"')
    pod = {"metadata": {"name": "behind"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    client.post(f"{CORE}/pods", pod)
    client.merge(f"{CORE}/pods/behind/status", {"status": {"podIP": "10.7.7.7", "podIPs": [{"ip": "10.7.7.7"}]}})
    ref = {"kind": "Pod", "namespace": "default", "name": "behind"}
    subset = {"addresses": [{"ip": "10.7.7.7", "targetRef": ref}], "ports": [{"name": "http", "port": 8080}]}
    client.merge(f"{CORE}/endpoints/led", {"subsets": [subset]})
    reached = "error trying to reach service: dial tcp 10.7.7.7:8080: connect: connection refused"
    assert told(client, f"{SERVICE}:80/proxy/x") == (503, reached)
    assert told(client, f"{CORE}/services/http:led:http/proxy") == (503, reached)
    assert told(client, f"{SERVICE}:443/proxy") == (503, 'no endpoints available for service "led:443"')


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("", 204, ""),
        ("limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"),
        ("stream=All", 422, "stream: Forbidden: may not be specified"),
        ("sinceTime=x", 400, 'cannot parse "x" as "2006"'),
    ],
)
def test_a_pod_on_no_node_has_no_log(client: Client, query: str, status: int, text: str) -> None:
    pod = {"metadata": {"name": "logless"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    client.post("/api/v1/namespaces/default/pods", pod)
    answer = client.get(f"/api/v1/namespaces/default/pods/logless/log?{query}")
    assert answer.status == status
    assert not text or text in answer.body["message"]
