"""Services of type LoadBalancer have an address outside."""

from __future__ import annotations

from typing import Any

from podless.runtime.jsonobject import Object
from tests.controllers.workloads.conftest import Namespace

PORTS: Object = {"ports": [{"port": 80}]}


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
