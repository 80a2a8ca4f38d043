"""What was acknowledged is there after kill -9: objects, resourceVersions and the histories that watches tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import tries
from tests.faults.kill import Trial
from tests.store.etcd.cluster import running_member

pytestmark = pytest.mark.slow


def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "data", 7)
    for _ in range(tries(16)):
        trial.round()
    trial.compare_log()
    trial.end()
    assert trial.acknowledged


def test_nothing_is_lost_on_etcd_which_is_killed_as_well(tmp_path: Path) -> None:
    with running_member() as member:
        trial = Trial(tmp_path / "data", 8, member)
        for _ in range(tries(5)):
            trial.round()
        trial.compare_log()
        trial.end()
    assert trial.acknowledged
