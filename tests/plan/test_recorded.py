"""Plans of single writes against what a real server answered; `python -m tests.plan.recorded` compares all of them."""

from __future__ import annotations

import random

import pytest

from tests.conformance import recorded
from tests.conformance.servers import running, standing_clock
from tests.plan.recorded import Chance, Compared, compare_scenario

_EACH = 4  # scenarios of an area
_SHARE = 0.2


@pytest.mark.slow
def test_plans_equal_recorded_answers() -> None:
    found = Compared()
    chance = Chance(_SHARE, random.Random(3))
    with standing_clock(), running(tls=False) as server:
        for area in ("apply", "validation", "admission", "rest"):
            for scenario in recorded.scenarios(area)[:_EACH]:
                compare_scenario(server, scenario, chance, found)
    assert not found.wrong
    assert found.equal > 10
