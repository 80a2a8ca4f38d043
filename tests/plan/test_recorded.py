"""Plans of single writes against what a real server answered; `python -m tests.plan.recorded` compares all of them."""

from __future__ import annotations

import random
import shutil

import pytest

from tests.conformance import recorded
from tests.conformance.servers import running, standing_clock
from tests.plan.recorded import Chance, Compared, compare_scenario
from tests.plan.sessions import compare_session

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


@pytest.mark.clients
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_plans_equal_what_kubectl_printed() -> None:
    with running() as server:
        equal, wrong = compare_session(server, recorded.find("kubectl", "apply-server-side"))
    assert not wrong
    assert equal >= 5
