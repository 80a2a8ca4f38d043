"""What a recorded server said of every object and definition, a check says of the same as files."""

from __future__ import annotations

import pytest

from tests.check.verdicts import Conversation
from tests.conformance import recorded

pytestmark = pytest.mark.slow

# steps whose message differs, each with its reason
KNOWN = {
    ("pod-immutable", 15),  # the difference that is shown has what admission had put into the pod
}


def areas() -> list[object]:
    slow = [pytest.mark.slow]
    return [pytest.param(area, marks=slow if area == recorded.REALWORLD else []) for area in recorded.areas()]


@pytest.mark.parametrize("area", areas())
def test_the_recorded_verdicts_are_given(area: str) -> None:
    seen, wrong = 0, []
    for scenario in recorded.scenarios(area):
        for verdict in Conversation(scenario).verdicts():
            seen += 1
            if verdict.wanted != verdict.found and (scenario["name"], verdict.step) not in KNOWN:
                wrong.append(f"{scenario['name']} {verdict.step}: {verdict.wanted ^ verdict.found}")
    assert not wrong, "\n".join(wrong[:10])
    assert seen > 10
