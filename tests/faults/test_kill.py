"""What was acknowledged is there after kill -9: objects, resourceVersions and the histories that watches tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import tries
from tests.faults.kill import Trial

pytestmark = pytest.mark.slow


def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "data", 7)
    for _ in range(tries(16)):
        trial.round()
    trial.compare_log()
    trial.end()
    assert trial.acknowledged
