"""The conversations recorded from a real server, replayed against ours.

The shares are floors: what is reached may not be lost again. They are raised as more is reached.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podless import Server
from tests.conftest import SHARED

RUNNER = SHARED / "conformance" / "run.py"
SCENARIOS = SHARED / "conformance" / "scenarios"

# area -> the share of steps, in percent, that is answered to the letter
FLOORS = {
    "admission": 99,
    "apply": 100,
    "auth": 99.5,
    "cel": 100.0,
    "core": 100,
    "crd": 100,
    "discovery": 100,
    "negotiation": 100,
    "openapi": 100,
    "patch": 100,
    "pruning-defaulting": 100,
    "realworld": 100,
    "rest": 100,
    "schema": 100,
    "subresources": 100,
    "table": 100,
    "validation": 100,
    "versions": 100,
    "watch": 100,
}


# the users of the server that was recorded
_TOKENS = 'admintoken,admin,admin,"system:masters"\nalicetoken,alice,alice,"devs"\n'


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    tokens = tmp_path_factory.mktemp("recorded") / "tokens.csv"
    tokens.write_text(_TOKENS)
    with Server(token_file=tokens) as server:
        yield server


@pytest.mark.skipif(not RUNNER.exists(), reason="the recordings are not beside this checkout")
@pytest.mark.parametrize("area", FLOORS)
def test_the_recorded_answers_are_given(recorded: Server, tmp_path: Path, area: str) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, str(RUNNER), "--server", recorded.url, "--token", recorded.token, "--json", str(report)]
    done = subprocess.run([*command, str(SCENARIOS / area)], capture_output=True, text=True, timeout=600, check=False)
    tallies = json.loads(report.read_text())["areas"].values()
    steps, exact = sum(tally[2] for tally in tallies), sum(tally[3] for tally in tallies)
    assert 100 * exact >= FLOORS[area] * steps, f"{exact} of {steps} steps:\n{done.stdout[-4000:]}"
