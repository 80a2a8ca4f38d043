"""EndpointSlices: the addresses that releases accept, and the order of errors."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from podless.apis.discovery.group import ENDPOINT_SLICES
from tests.conftest import Client

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def endpoint_slice(family: str, *addresses: str, **endpoint: Any) -> dict[str, Any]:
    return {
        "metadata": {"generateName": "s-"},
        "addressType": family,
        "endpoints": [{"addresses": [*addresses], **endpoint}],
    }


def causes(client: Client, body: dict[str, Any]) -> list[tuple[str, str]]:
    answer = client.post(SLICES, body)
    return [(cause["field"], cause["message"]) for cause in answer.body.get("details", {}).get("causes", [])]


def test_errors_are_in_the_order_of_the_checks(client: Client) -> None:
    wrong = endpoint_slice("IPv4", "1.2.3.4", hostname="A", nodeName="B", hints={"forNodes": [{"name": "B"}]})
    found = [at for at, _ in causes(client, wrong)]
    assert found == [f"endpoints[0].{name}" for name in ("nodeName", "hostname", "hints.forNodes[0].name")]


def test_too_many_zones_end_the_check_of_hints(client: Client) -> None:
    hints = {"forZones": [{"name": "z"}] * 9, "forNodes": [{"name": "B"}]}
    assert [at for at, _ in causes(client, endpoint_slice("IPv4", "1.2.3.4", hints=hints))] == [
        "endpoints[0].hints.forZones"
    ]


def test_an_ipv6_address_must_be_canonical(client: Client) -> None:
    text = 'Invalid value: "2001:0db8::1": must be in canonical form ("2001:db8::1")'
    assert causes(client, endpoint_slice("IPv6", "2001:0db8::1")) == [("endpoints[0].addresses[0]", text)]


@pytest.mark.parametrize("address", ["010.2.3.4", "::ffff:1.2.3.4"])
def test_releases_without_strict_addresses_accept_other_forms_of_ipv4(address: str) -> None:
    with Server(tls=False, kubernetes_version="1.33", default_accounts=False) as server:
        client = Client(server.url, server.token)
        assert client.post(SLICES, endpoint_slice("IPv4", address)).status == 201


@pytest.mark.parametrize(
    ("manager", "sort", "wanted"),
    [
        ("me", "IPv6", ["endpoints[0].addresses[0]"]),
        ("endpointslice-controller.k8s.io", "IPv6", []),
        ("endpointslicemirroring-controller.k8s.io", "FQDN", ["spec.addressType"]),
        ("", "FQDN", ["spec.addressType", "endpoints[0].addresses[0]"]),
    ],
)
def test_odd_forms_are_told_except_those_of_controllers(manager: str, sort: str, wanted: list[str]) -> None:
    labels = {"endpointslice.kubernetes.io/managed-by": manager}
    obj = endpoint_slice(sort, "FC00::1") | {"metadata": {"labels": labels}}
    found = ENDPOINT_SLICES.strategy.list_warnings(ENDPOINT_SLICES.versions[0], obj, None)
    assert [text.partition(": ")[0] for text in found] == wanted
