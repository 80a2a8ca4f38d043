"""What a kind gets from its base class, whatever its own rules are."""

from __future__ import annotations

from podless.apis.networking.group import SERVICE_CIDRS
from podless.apis.shared.typed import TypedStrategy
from podless.runtime.jsonobject import Object

VERSION = SERVICE_CIDRS.by_version["v1"]
STRATEGY = TypedStrategy()


def cidr(*ranges: str, **status: object) -> Object:
    head = {"kind": "ServiceCIDR", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "x"}}
    return {**head, "spec": {"cidrs": [*ranges]}, "status": {**status}}


def test_only_a_status_write_sets_a_status_and_it_sets_nothing_else() -> None:
    new = cidr("10.0.0.0/16", ready=True)
    STRATEGY.prepare_create(VERSION, new)
    assert new == cidr("10.0.0.0/16")
    update = cidr("10.1.0.0/16", ready=True)
    STRATEGY.prepare_update(VERSION, update, new)
    assert update == cidr("10.1.0.0/16")
    report = cidr("10.2.0.0/16", ready=True)
    STRATEGY.prepare_status(VERSION, report, new)
    assert report == cidr("10.0.0.0/16", ready=True)


def test_the_generation_counts_all_changes_except_those_of_metadata_and_status() -> None:
    old = cidr("10.0.0.0/16")
    assert not STRATEGY.increases_generation(VERSION, cidr("10.0.0.0/16", ready=True) | {"metadata": {}}, old)
    assert STRATEGY.increases_generation(VERSION, cidr("10.1.0.0/16"), old)
    assert STRATEGY.increases_generation(VERSION, old | {"more": 1}, old)
