"""podless gives the answers that kube-apiserver gave to thousands of random requests."""

from __future__ import annotations

import pytest

from tests.conformance import known, recorded
from tests.conformance.servers import replay_here, running

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", recorded.corpora())
def test_the_recorded_answers_are_given(name: str) -> None:
    with running(bare=True, tls=False) as server:
        results = replay_here(server, recorded.corpus(name))
    exact, steps = sum(result.exact for result in results), sum(result.steps for result in results)
    print(f"{name}: {exact} of {steps} steps are exact")
    wrong = [told for result in results if (told := known.judge(f"corpus/{name}", result))]
    assert not wrong, "\n".join(wrong)[-8000:]
