"""Set-ups that are built to be expensive, and requests that are built for them: no step of the loop takes long.

ADVERSARY_PAIRS says how many pairs are run, ADVERSARY_SEED from which seed on. `python -m tests.fuzz.adversary` runs
them too, goes on after one that fails, and makes it smaller.
"""

from __future__ import annotations

import os

import pytest

from tests.conftest import PROFILE
from tests.fuzz.adversary import run
from tests.fuzz.adversary.pairs import Pair

_PAIRS = int(os.environ.get("ADVERSARY_PAIRS", "50" if PROFILE == "fresh" else "3"))
_MAX = 3  # pairs that fail until no other is looked for

pytestmark = [pytest.mark.slow, pytest.mark.hangs_after(300 + 60 * _PAIRS)]


def test_no_step_takes_long(pytestconfig: pytest.Config) -> None:
    given = pytestconfig.getoption("hypothesis_seed", None)
    base = os.environ.get("ADVERSARY_SEED") or str(given or 0)
    failed: list[str] = []
    with run.Runs() as runs:
        for seed in run.seeds(base, _PAIRS):
            report = runs.run(Pair.draw(seed))
            if report.faults:
                small = runs.shrink(report)
                failed.append(f"{run.tell(report)}\n    smaller: {small.pair}\n        {small.faults[0]}")
            if len(failed) >= _MAX:
                break
    assert not failed, "\n".join(failed)
