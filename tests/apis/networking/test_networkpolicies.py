"""NetworkPolicies: defaults, peers and ports."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.networking.group import NETWORK_POLICIES
from tests.apis.late import decoded, faults, made
from tests.conftest import Client

PEER: dict[str, Any] = {"podSelector": {}}


def egress(**rule: Any) -> dict[str, Any]:
    """A policy with one rule."""
    return {"podSelector": {}, "egress": [rule]}


def test_directions_follow_from_the_rules() -> None:
    assert decoded(NETWORK_POLICIES, {"podSelector": {}})["spec"]["policyTypes"] == ["Ingress"]
    assert decoded(NETWORK_POLICIES, egress(to=[PEER]))["spec"]["policyTypes"] == ["Ingress", "Egress"]


def test_ports_have_a_protocol() -> None:
    assert decoded(NETWORK_POLICIES, egress(ports=[{"port": 80}]))["spec"]["egress"][0]["ports"] == [
        {"port": 80, "protocol": "TCP"}
    ]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ({"to": [PEER]}, ""),
        ({"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}, ""),
        ({"ports": [{"port": 80, "endPort": 90}]}, ""),
        ({"to": [{}]}, "spec.egress[0].to[0]: Required value: must specify a peer"),
        (
            {"to": [{**PEER, "ipBlock": {"cidr": "10.0.0.0/8"}}]},
            "spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer",
        ),
        ({"to": [{"ipBlock": {}}]}, "spec.egress[0].to[0].ipBlock.cidr: Required value"),
        (
            {"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/9"]}}]},
            'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a strict subset of `cidr`',
        ),
        (
            {"ports": [{"port": 0}]},
            "spec.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            {"ports": [{"endPort": 9}]},
            "spec.egress[0].ports[0].endPort: Invalid value: 9: may not be specified when `port` is not specified",
        ),
        (
            {"ports": [{"protocol": "x"}]},
            'spec.egress[0].ports[0].protocol: Unsupported value: "x": supported values: "TCP", "UDP", "SCTP"',
        ),
    ],
)
def test_rules(rule: dict[str, Any], wanted: str) -> None:
    assert faults(NETWORK_POLICIES, egress(**rule)) == ([wanted] if wanted else [])


def test_ranges_that_have_another_form_are_told() -> None:
    obj = made(NETWORK_POLICIES, egress(to=[{"ipBlock": {"cidr": "2001:DB8::/32"}}]))
    version = NETWORK_POLICIES.by_version["v1"]
    assert NETWORK_POLICIES.strategy.list_warnings(version, obj, None) == [
        'spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format '
        '("2001:db8::/32")'
    ]


def test_what_is_written_empty_counts_each_time(client: Client) -> None:
    path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
    named: dict[str, Any] = {"metadata": {"name": "n"}}
    client.send("POST", path, {**named, "spec": {"podSelector": {}}})

    def generation(**spec: Any) -> int:
        return int(client.send("PUT", f"{path}/n", {**named, "spec": spec}).body["metadata"]["generation"])

    assert generation(podSelector={}) == 1
    assert generation(podSelector={}, ingress=[]) == 2
    assert generation(podSelector={"matchLabels": {}}) == 3
    assert generation(podSelector={}, policyTypes=[]) == 3


def test_errors_are_in_the_order_of_the_rules() -> None:
    rules = [{"ports": [{"port": 0}], "to": [{}]}, {"ports": [{"port": 0}]}]
    found = faults(NETWORK_POLICIES, {"podSelector": {}, "egress": rules})
    assert [text.partition(":")[0] for text in found] == [
        "spec.egress[0].ports[0].port", "spec.egress[0].to[0]", "spec.egress[1].ports[0].port",
    ]  # fmt: skip
