"""Thousands of requests made at random, and what kube-apiserver answered.

The numbers are floors: what is reached may not be lost again. They are raised as more is reached.
"""

from __future__ import annotations

import pytest

from tests.conformance import recorded
from tests.conformance.replay import replay
from tests.conformance.servers import running
from tests.conformance.wire import Client

# corpus -> how many of its steps are answered to the letter
EXACT = {
    "apply": 3156,
    "builtin": 4998,
    "cel": 3396,
    "rest": 4196,
    "schema": 5558,
    "workloads": 3104,
}


def test_every_corpus_has_its_floor() -> None:
    assert {*EXACT} == {*recorded.corpora()}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_no_answer_is_lost(name: str) -> None:
    with running(bare=True, tls=False) as server:
        client = Client(server.url, server.token)
        # writes of different managers stand a second apart, for which nobody has to wait
        results = [
            replay(client, one, lambda seconds: server.clock.advance(seconds=seconds)) for one in recorded.corpus(name)
        ]
        client.close()
    exact, steps = sum(one.exact for one in results), sum(one.steps for one in results)
    print(f"{name}: {exact} of {steps} steps are exact")
    wrong = [one.report() for one in results if one.wrong()]
    assert exact >= EXACT[name], f"{exact} of {steps} steps:\n" + "\n".join(wrong)[-8000:]
