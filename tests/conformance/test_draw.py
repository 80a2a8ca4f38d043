"""Conversations that are drawn from recorded ones, and what a kube-apiserver answered in some of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import known, recorded
from tests.conformance.draw import Drawer
from tests.conformance.replay import record, replay
from tests.conformance.servers import replay_here, running
from tests.conformance.wire import Client

DRAWN = Path(__file__).parent / "drawn.jsonl.xz"


def test_a_seed_draws_the_same_again_and_another_one_something_else() -> None:
    origin = recorded.scenarios("subresources")
    first, again, other = (Drawer(origin, seed) for seed in (1, 1, 2))
    drawn = [first.draw(number) for number in range(20)]
    assert drawn == [again.draw(number) for number in range(20)]
    assert drawn != [other.draw(number) for number in range(20)]


def test_what_is_drawn_has_no_answers_and_differs_from_its_origin() -> None:
    origin = recorded.scenarios("subresources")
    drawer = Drawer(origin, 3)
    drawn = [drawer.draw(number) for number in range(20)]
    steps = [step for one in drawn for step in one["steps"]]
    assert steps
    assert not any("expect" in step for step in steps)
    known = [step.get("body") for one in origin for step in one["steps"]]
    assert any(step.get("body") not in known for step in steps)


def test_what_is_recorded_is_exact_where_the_same_server_replays_it() -> None:
    origin = [
        one for one in recorded.scenarios("pruning-defaulting") if not any("until" in step for step in one["steps"])
    ]
    drawer = Drawer(origin, 4)
    with running(bare=True, tls=False) as server:
        client = Client(server.url, server.token)
        made = record(client, drawer.draw(0))
        result = replay(client, made)
        client.close()
    assert result.steps > 0
    assert not result.wrong(), result.report()


@pytest.mark.slow
def test_what_a_real_server_answered_is_answered() -> None:
    """Recorded from kube-apiserver 1.36.2; conversations with what is random there were left out."""
    with running(bare=True, tls=False) as server:
        results = replay_here(server, recorded.read_recordings(DRAWN))
    assert sum(result.steps for result in results) > 2900
    wrong = [told for result in results if (told := known.judge("drawn", result))]
    assert not wrong, "\n".join(wrong)[-8000:]
