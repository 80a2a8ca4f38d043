"""IPAddresses are called by their address, and stay whose they are."""

from __future__ import annotations

from podless.apis.networking.group import IP_ADDRESSES
from tests.apis.late import changed, faults

PARENT = {"resource": "services", "namespace": "default", "name": "web"}


def test_names() -> None:
    assert not IP_ADDRESSES.strategy.naming[False]("10.0.0.1")
    assert not IP_ADDRESSES.strategy.naming[False]("2001:db8::1")
    assert IP_ADDRESSES.strategy.naming[False]("2001:DB8::1")
    assert IP_ADDRESSES.strategy.naming[False]("x")


def test_they_are_somebodys() -> None:
    assert not faults(IP_ADDRESSES, {"parentRef": PARENT})
    assert faults(IP_ADDRESSES, {}) == ["spec.parentRef: Required value"]
    assert faults(IP_ADDRESSES, {"parentRef": {"name": "a"}}) == ["spec.parentRef.resource: Required value"]


def test_they_stay_so() -> None:
    assert changed(IP_ADDRESSES, {"parentRef": PARENT}, {"parentRef": {**PARENT, "name": "b"}}) == [
        'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"default","Name":"b"}: '
        "field is immutable"
    ]
