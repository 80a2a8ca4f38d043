"""What a real server answered to definitions and objects with rules, recorded; the rules alone say the same."""

from __future__ import annotations

import pytest

from tests.cel import replay
from tests.conformance import recorded

pytestmark = pytest.mark.slow  # tests.conformance.test_recorded has the server say the same

AREAS = ("cel", "crd", "schema", "validation", "pruning-defaulting", "realworld", "versions", "subresources", "apply")


@pytest.mark.parametrize("recording", recorded.scenarios(*AREAS), ids=lambda recording: recording["name"])
def test_as_recorded(recording: recorded.Recording) -> None:
    for number, got, wanted in replay.steps(recording):
        assert got == wanted, f"step {number}"
