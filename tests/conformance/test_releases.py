"""podless answers as kube-apiservers of older releases did."""

from __future__ import annotations

import pytest

from podless.apis.features import DEFAULT, NAMES
from tests.conformance import recorded
from tests.conformance.servers import replay_here, running

pytestmark = pytest.mark.slow

EVERY = 32  # one of so many recordings is replayed; `replay releases/1.33` replays all
# percent of the steps that have to be exact, and equal in meaning. What differs before 1.34 is mostly one thing: diffs
# of Go structs in rejected updates, whose layout is random there.
FLOORS = {
    "1.30": (97.5, 99.5),
    "1.31": (97.5, 99.5),
    "1.32": (97.5, 99.5),
    "1.33": (97.5, 99.5),
    "1.34": (99.8, 99.9),
    "1.35": (99.8, 99.9),
}


def test_every_older_release_is_recorded() -> None:
    assert [*FLOORS] == [*NAMES[: NAMES.index(DEFAULT)]]


@pytest.mark.parametrize("name", FLOORS)
def test_an_older_release_answers_as_recorded(name: str) -> None:
    with running(bare=True, tls=False, release=name) as server:
        results = replay_here(server, recorded.of_release(name, EVERY), silence=0.5)
    steps = sum(result.steps for result in results)
    exact, same = (
        100 * sum(count) / steps
        for count in ((result.exact for result in results), (result.same for result in results))
    )
    told = "\n".join(result.report() for result in results if result.same < result.steps)
    print(f"{name}: {steps} steps, {exact:.2f}% exact, {same:.2f}% in meaning\n{told}")
    assert steps > 150
    assert exact >= FLOORS[name][0], told[-8000:]
    assert same >= FLOORS[name][1], told[-8000:]
