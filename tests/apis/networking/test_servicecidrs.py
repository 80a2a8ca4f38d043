"""ServiceCIDRs: one range of each family."""

from __future__ import annotations

import pytest

from podless.apis.networking.group import SERVICE_CIDRS
from tests.apis.late import changed, faults


@pytest.mark.parametrize(
    ("ranges", "wanted"),
    [
        (["10.0.0.0/24"], ""),
        (["10.0.0.0/24", "2001:db8::/64"], ""),
        ([], "spec.cidrs: Required value: at least one CIDR required"),
        (
            ["10.0.0.0/24", "10.1.0.0/24"],
            'spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one IP for '
            "each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
        ),
    ],
)
def test_rules(ranges: list[str], wanted: str) -> None:
    assert faults(SERVICE_CIDRS, {"cidrs": ranges}) == ([wanted] if wanted else [])


def test_ranges_have_one_form() -> None:
    (text,) = faults(SERVICE_CIDRS, {"cidrs": ["10.0.0.1/24"]})
    assert text.startswith('spec.cidrs[0]: Invalid value: "10.0.0.1/24": ')


def test_they_stay() -> None:
    assert changed(SERVICE_CIDRS, {"cidrs": ["10.0.0.0/24"]}, {"cidrs": ["10.1.0.0/24"]}) == [
        'spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable'
    ]
    assert changed(SERVICE_CIDRS, {"cidrs": ["10.0.0.0/24"]}, {}) == [
        "spec.cidrs: Invalid value: null: field is immutable"
    ]


def test_one_of_the_other_family_may_come() -> None:
    assert not changed(SERVICE_CIDRS, {"cidrs": ["10.0.0.0/24"]}, {"cidrs": ["10.0.0.0/24", "2001:db8::/64"]})


def test_what_is_no_range_has_no_family() -> None:
    (text,) = faults(SERVICE_CIDRS, {"cidrs": ["10.0.0.0/8", "Always"]})
    assert text.startswith('spec.cidrs[1]: Invalid value: "Always": must be a valid CIDR value')
