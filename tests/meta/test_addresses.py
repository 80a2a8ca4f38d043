"""Addresses and ranges in the words of a real server."""

from __future__ import annotations

import pytest

from podless.meta import addresses


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("10.0.0.1", []),
        ("fe80::1", []),
        ("010.0.0.1", ["must not have leading 0s"]),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("x", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        ("fe80::1%eth0", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        ("1" * 1000, ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
    ],
)
def test_addresses(text: str, faults: list[str]) -> None:
    assert addresses.find_address_faults(text) == faults


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("10.0.0.0/8", []),
        ("::/0", []),
        ("10.0.0.1/8", ["must not have bits set beyond the prefix length"]),
        ("10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]),
        ("::ffff:1.2.3.0/120", ["must not have an IPv4-mapped IPv6 address"]),
        ("10.0.0.0/33", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]),
        ("10.0.0.0", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]),
    ],
)
def test_ranges(text: str, faults: list[str]) -> None:
    assert addresses.find_range_faults(text) == faults


def test_odd_forms_are_told() -> None:
    assert addresses.list_address_warnings("ip", "fe80:0:0:0:0:0:0:1") == [
        'ip: IPv6 address "fe80:0:0:0:0:0:0:1" should be in RFC 5952 canonical format ("fe80::1")'
    ]
    assert addresses.list_address_warnings("ip", "010.0.0.1") == [
        'ip: non-standard IP address "010.0.0.1" will be considered invalid in a future '
        'Kubernetes release: use "10.0.0.1"'
    ]
    assert addresses.list_address_warnings("ip", "10.0.0.1") == []


def test_odd_forms_of_ranges_are_told() -> None:
    assert addresses.list_range_warnings("ip", "10.0.0.1/08") == [
        'ip: CIDR value "10.0.0.1/08" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
        'ip: non-standard CIDR value "10.0.0.1/08" will be considered invalid in a future Kubernetes release: '
        'use "10.0.0.0/8"',
    ]
    assert addresses.list_range_warnings("ip", "FE80::/16") == [
        'ip: IPv6 CIDR value "FE80::/16" should be in RFC 5952 canonical format ("fe80::/16")'
    ]
    assert addresses.list_range_warnings("ip", "10.0.0.0/8") == addresses.list_range_warnings("ip", "x") == []


def test_both_families() -> None:
    assert addresses.is_dual_stack(["10.0.0.1", "fe80::1"])
    assert not addresses.is_dual_stack(["10.0.0.1", "10.0.0.2"])
