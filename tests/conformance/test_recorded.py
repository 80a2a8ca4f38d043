"""podless gives the answers that kube-apiserver gave, step by step.

`python -m tests.conformance show AREA NAME` prints a recording, `replay AREA --filter NAME` the differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from tests.conformance import known, recorded
from tests.conformance.servers import replay_here, running


def scenarios() -> Iterator[Any]:
    for area in recorded.areas():
        for index, one in enumerate(recorded.scenarios(area)):
            # every second one of each area is quick enough for `make test`; the whole run replays all
            marks = [pytest.mark.slow] if area == recorded.REALWORLD or index % 2 else []
            yield pytest.param(area, one, id=f"{area}/{one['name']}", marks=marks)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running(tls=False) as server:
        yield server


@pytest.mark.parametrize(("area", "scenario"), [*scenarios()])
def test_the_recorded_answers_are_given(server: Server, area: str, scenario: recorded.Recording) -> None:
    [result] = replay_here(server, [scenario])
    assert not (wrong := known.judge(area, result)), f"\n{wrong}"
