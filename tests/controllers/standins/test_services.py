"""Services and the addresses of their pods, and of their load balancers."""

from __future__ import annotations

from typing import Any

from podless.runtime.jsonobject import Object
from tests.controllers.standins.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until

PORTS: Object = {"ports": [{"port": 80}]}


def test_addresses_of_pods(home: Namespace) -> None:
    ports = [{"name": "http", "port": 80, "targetPort": "web"}]
    home.make("", "Service", "web", {"selector": {"app": "web"}, "ports": ports})
    where = home.make("apps/v1", "ReplicaSet", "web", {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE})
    home.status(where, readyReplicas=2)
    addresses = sorted(pod["status"]["podIP"] for pod in home.pods())

    def told(obj: dict[str, object]) -> bool:
        subsets = obj.get("subsets")
        return isinstance(subsets, list) and len(subsets[0].get("addresses") or ()) == len(addresses)

    found = home.until(home.path("endpoints/web"), told)
    assert sorted(address["ip"] for address in found["subsets"][0]["addresses"]) == addresses
    assert found["subsets"][0]["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    slices = home.path("endpointslices/web-podless", "discovery.k8s.io/v1")
    found = home.until(slices, lambda obj: len(obj.get("endpoints") or ()) == 2)
    assert found["metadata"]["labels"] == {
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "web",
    }
    home.client.merge(where, {"spec": {"replicas": 0}})
    home.until(home.path("endpoints/web"), lambda obj: not obj.get("subsets"))


def make_pod(home: Namespace, name: str, port: int, **spec: Any) -> None:
    container = {"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": port}]}
    pod = {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}
    assert home.client.post(home.path("pods"), pod).status == 201


def test_pods_with_other_port_numbers_have_a_slice_of_their_own(home: Namespace) -> None:
    make_pod(home, "a", 8080)
    make_pod(home, "b", 8081)
    ports = [{"port": 80, "targetPort": "web", "appProtocol": "http"}]
    home.make("", "Service", "web", {"selector": {"app": "web"}, "ports": ports})
    slices = home.path("endpointslices", "discovery.k8s.io/v1")

    def told() -> list[tuple[str, int, str]]:
        found = home.client.get(slices).body["items"]
        parts = [(one, port) for one in found for port in one["ports"] or ()]
        return [(one["metadata"]["name"], port["port"], port["appProtocol"]) for one, port in parts]

    until(lambda: told() == [("web-podless", 8080, "http"), ("web-podless-2", 8081, "http")])
    home.until(home.path("endpoints/web"), lambda obj: len(obj["subsets"]) == 2)
    home.client.send("DELETE", home.path("pods/a"))
    until(lambda: told() == [("web-podless", 8081, "http")])


def test_addresses_of_a_headless_service(home: Namespace) -> None:
    make_pod(home, "a", 80, hostname="first", subdomain="web")
    spec = {"selector": {"app": "web"}, "clusterIP": "None", "ports": [{"port": 80}]}
    home.make("", "Service", "web", spec)
    where = home.path("endpointslices/web-podless", "discovery.k8s.io/v1")
    (one,) = home.until(where, lambda obj: obj.get("endpoints"))["endpoints"]
    assert (one["hostname"], one["targetRef"]["name"]) == ("first", "a")
    found = home.until(home.path("endpoints/web"), lambda obj: obj.get("subsets"))
    assert found["subsets"][0]["addresses"][0]["hostname"] == "first"
    assert found["metadata"]["labels"] == {
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
        "service.kubernetes.io/headless": "",
    }


def test_a_pod_that_is_being_deleted_is_shown_as_such(home: Namespace) -> None:
    make_pod(home, "a", 80)
    home.make("", "Service", "web", {"selector": {"app": "web"}, "ports": [{"port": 80}]})
    home.client.merge(home.path("pods/a"), {"metadata": {"finalizers": ["example.com/hold"]}})
    home.client.send("DELETE", home.path("pods/a"))
    gone = [{"ready": False, "serving": False, "terminating": True}]
    where = home.path("endpointslices/web-podless", "discovery.k8s.io/v1")
    home.until(where, lambda obj: [endpoint["conditions"] for endpoint in obj.get("endpoints") or ()] == gone)
    home.until(home.path("endpoints/web"), lambda obj: not obj.get("subsets"))
    home.client.merge(home.path("pods/a"), {"metadata": {"finalizers": None}})
    home.until(where, lambda obj: not obj["endpoints"])


def addresses(service: Object) -> list[Any]:
    return [ingress["ip"] for ingress in service["status"]["loadBalancer"].get("ingress") or ()]


def test_a_service_gets_an_address(home: Namespace) -> None:
    where = home.make("", "Service", "web", {**PORTS, "type": "LoadBalancer"})
    service = home.until(where, addresses)
    assert addresses(service) == [service["spec"]["clusterIP"]]


def test_one_that_asks_for_an_address_has_it(home: Namespace) -> None:
    where = home.make("", "Service", "web", {**PORTS, "type": "LoadBalancer", "loadBalancerIP": "192.0.2.7"})
    assert addresses(home.until(where, addresses)) == ["192.0.2.7"]


def test_one_of_another_type_gets_one_when_it_changes(home: Namespace) -> None:
    where = home.make("", "Service", "web", PORTS)
    named = home.make("", "Service", "other", {**PORTS, "type": "LoadBalancer", "loadBalancerClass": "example.com/x"})
    home.client.merge(where, {"spec": {"type": "LoadBalancer"}})
    home.until(where, addresses)
    assert addresses(home.client.get(named).body) == []
