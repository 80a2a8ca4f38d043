"""Services and the addresses of their pods."""

from __future__ import annotations

from tests.controllers.workloads.conftest import SELECTOR, TEMPLATE, Namespace


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
    assert sorted(one["ip"] for one in found["subsets"][0]["addresses"]) == addresses
    assert found["subsets"][0]["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    slices = home.path("endpointslices/web-podless", "discovery.k8s.io/v1")
    found = home.until(slices, lambda obj: len(obj.get("endpoints") or ()) == 2)
    assert found["metadata"]["labels"] == {
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "web",
    }
    home.client.merge(where, {"spec": {"replicas": 0}})
    home.until(home.path("endpoints/web"), lambda obj: not obj.get("subsets"))
