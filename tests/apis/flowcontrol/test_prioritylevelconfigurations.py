"""Priority levels: what of them is judged, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.flowcontrol.group import PRIORITY_LEVELS
from tests.apis.late import faults

ODD: dict[str, Any] = {
    "nominalConcurrencyShares": -3,
    "limitResponse": {"type": "Reject", "queuing": {"queues": 5}},
    "lendablePercent": 200,
    "borrowingLimitPercent": -1,
}


@pytest.mark.parametrize(
    ("name", "spec", "fields"),
    [
        (
            "x",
            {"type": "Limited", "limited": ODD},
            "limited.nominalConcurrencyShares limited.limitResponse.queuing limited.lendablePercent "
            "limited.borrowingLimitPercent",
        ),
        ("x", {"type": "Exempt"}, "type"),
        ("exempt", {"type": "Exempt"}, ""),
    ],
)
def test_rules(name: str, spec: dict[str, Any], fields: str) -> None:
    found = faults(PRIORITY_LEVELS, spec, name=name)
    assert [fault.partition(":")[0].removeprefix("spec.") for fault in found] == fields.split()
