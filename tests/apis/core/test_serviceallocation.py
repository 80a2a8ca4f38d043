"""Which addresses and ports services get, and who they are refused to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis.core import serviceallocation
from podless.apis.core.serviceallocation import Allocation, AllocationPool, list_addresses, list_node_ports
from podless.meta.errors import APIError, Invalid
from tests.cost import assert_linear


def service(kind: str = "ClusterIP", **spec: Any) -> dict[str, Any]:
    wanted = {"type": kind, "ports": [{"port": 80, "protocol": "TCP"}], "ipFamilies": ["IPv4"], **spec}
    return {"metadata": {"name": "s"}, "spec": wanted}


def allocate(pool: AllocationPool, obj: dict[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
    Allocation(pool, obj, None, dry_run=dry_run)
    pool.note_service(None, obj)
    spec: dict[str, Any] = obj["spec"]
    return spec


def refusal(pool: AllocationPool, obj: dict[str, Any], *, dry_run: bool = False) -> str:
    with pytest.raises(Invalid) as refused:
        allocate(pool, obj, dry_run=dry_run)
    return str(refused.value.errors[0])


@given(st.integers(1, 40))
def test_no_address_and_no_port_is_given_twice(count: int) -> None:
    pool = AllocationPool()
    made = [allocate(pool, service("NodePort")) for _ in range(count)]
    assert len({spec["clusterIP"] for spec in made}) == count
    assert len({spec["ports"][0]["nodePort"] for spec in made}) == count


def test_what_somebody_has_is_refused_and_free_when_he_is_gone() -> None:
    pool = AllocationPool()
    first = service("NodePort", clusterIP="10.0.0.9", clusterIPs=["10.0.0.9"], ports=[port(30011)])
    allocate(pool, first)
    other = service(clusterIP="10.0.0.9", clusterIPs=["10.0.0.9"])
    assert refusal(pool, other).endswith("failed to allocate IP 10.0.0.9: provided IP is already allocated")
    assert refusal(pool, service("NodePort", ports=[port(30011)])).endswith("provided port is already allocated")
    pool.note_service(first, None)
    assert allocate(pool, other)["clusterIP"] == "10.0.0.9"


def test_an_address_with_leading_zeros_is_the_same_address() -> None:
    pool = AllocationPool()
    zeros = service(clusterIP="010.0.0.05", clusterIPs=["010.0.0.05"])
    assert allocate(pool, zeros)["clusterIP"] == "010.0.0.05"
    other = service(clusterIP="10.0.0.5", clusterIPs=["10.0.0.5"])
    assert refusal(pool, other).endswith("provided IP is already allocated")


def port(node: int, number: int = 80, protocol: str = "TCP") -> dict[str, Any]:
    return {"port": number, "protocol": protocol, "nodePort": node}


def test_what_is_out_of_range_is_refused() -> None:
    outside = service(clusterIP="192.168.1.1", clusterIPs=["192.168.1.1"])
    assert refusal(AllocationPool(), outside).endswith(
        "192.168.1.1: the provided network does not match the current range"
    )
    assert "The range of valid IPs is 10.0.0.0/24" in refusal(AllocationPool(), outside, dry_run=True)
    assert "The range of valid ports is 30000-32767" in refusal(AllocationPool(), service("NodePort", ports=[port(80)]))


def test_a_dry_run_makes_things_up_and_refuses_taken_ports_alone() -> None:
    pool = AllocationPool()
    allocate(pool, service("NodePort", clusterIP="10.0.0.9", clusterIPs=["10.0.0.9"], ports=[port(30011)]))
    spec = service("NodePort", clusterIP="10.0.0.9", clusterIPs=["10.0.0.9"], ports=[port(80)])
    assert allocate(pool, spec, dry_run=True)["ports"][0]["nodePort"] == 80
    assert "already allocated" in refusal(pool, service("NodePort", ports=[port(30011)]), dry_run=True)
    made = allocate(pool, service("NodePort"), dry_run=True)
    assert (made["clusterIP"], made["ports"][0]["nodePort"]) == ("10.0.0.0", 32769)


def test_one_number_over_two_protocols_is_one_port_of_the_nodes() -> None:
    both = [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    spec = allocate(AllocationPool(), service("NodePort", ports=both))
    assert spec["ports"][0]["nodePort"] == spec["ports"][1]["nodePort"]


def test_names_for_other_hosts_and_headless_services_get_nothing() -> None:
    for spec in ({"kind": "ExternalName"}, {"clusterIP": "None", "clusterIPs": ["None"]}):
        made = allocate(AllocationPool(), service(**spec))
        assert list_addresses(made) == []
        assert list_node_ports(made) == set()


def test_a_load_balancer_that_keeps_traffic_local_has_a_port_for_checks() -> None:
    pool = AllocationPool()
    old = service("LoadBalancer", externalTrafficPolicy="Local", allocateLoadBalancerNodePorts=False)
    spec = allocate(pool, old)
    assert spec["healthCheckNodePort"] in pool.ports
    assert "nodePort" not in spec["ports"][0]


def test_a_range_that_is_full_is_an_internal_error() -> None:
    pool = AllocationPool()
    for _ in range(254):
        allocate(pool, service())
    with pytest.raises(APIError, match="failed to allocate a serviceIP: range is full"):
        allocate(pool, service())


@pytest.mark.parametrize("dry_run", [False, True])
def test_many_ports_cost_no_more_than_they_are(monkeypatch: pytest.MonkeyPatch, dry_run: bool) -> None:
    compared = 0

    def most(*numbers: Any, **default: int) -> int:
        nonlocal compared
        compared += len(numbers) if len(numbers) > 1 else len(numbers[0])
        found: int = max(*numbers, **default)  # type: ignore[call-overload]
        return found

    monkeypatch.setattr(serviceallocation, "max", most, raising=False)

    def make(size: int) -> dict[str, Any]:
        return service("NodePort", ports=[{"port": number + 1, "protocol": "TCP"} for number in range(size)])

    assert_linear(lambda obj: allocate(AllocationPool(), obj, dry_run=dry_run), make, 600)
    assert compared < 50_000


def test_the_last_ports_are_given_one_by_one_at_the_cost_of_all() -> None:
    pool = AllocationPool()
    pool.ports.update(range(30000, 32768, 2))  # every second one

    def fill(size: int) -> None:
        wanted = service("NodePort", ports=[{"port": number + 1, "protocol": "TCP"} for number in range(size)])
        Allocation(pool, wanted, None, dry_run=False)
        assert all(port["nodePort"] % 2 for port in wanted["spec"]["ports"])

    assert_linear(fill, lambda size: size, 340)
    with pytest.raises(APIError, match="failed to allocate a nodePort: range is full"):
        fill(1385)
