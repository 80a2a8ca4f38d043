"""What a recorded server said of every object and definition, a check says of the same as files."""

from __future__ import annotations

import pytest

from tests.check.verdicts import Conversation
from tests.conformance import recorded

AREAS = recorded.areas()
# kinds whose rules are those of a server with a network
APART = {"workloads"}


@pytest.mark.parametrize(
    "area",
    [
        pytest.param(area, marks=[pytest.mark.slow] * (area == recorded.REALWORLD))
        for area in AREAS
        if area not in APART
    ],
)
def test_the_recorded_verdicts_are_given(area: str) -> None:
    seen, wrong = 0, []
    for scenario in recorded.scenarios(area):
        for verdict in Conversation(scenario).verdicts():
            seen += 1
            if verdict.wanted != verdict.found:
                wrong.append(f"{scenario['name']} {verdict.step}: {verdict.wanted ^ verdict.found}")
    assert not wrong, "\n".join(wrong[:10])
    assert seen > 10
