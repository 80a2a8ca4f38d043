"""The controllers in examples/explore: each defect is found, and its schedule does nothing to the mended form."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from podless.cli import main

EXAMPLES = Path(__file__).parent.parent.parent / "examples/explore"
pytestmark = [pytest.mark.slow, pytest.mark.clients, pytest.mark.timeout(600)]


def _explore(capsys: pytest.CaptureFixture[str], controller: str, *options: str) -> tuple[int, str]:
    places = ["--apply", str(EXAMPLES / "config.yaml"), "--scenario", str(EXAMPLES / "scenario.yaml")]
    name, *more = controller.split()
    command = [sys.executable, str(EXAMPLES / f"python/{name}.py"), *more]
    code = main(["explore", *places, *options, "--", *command])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("controller", ["leaked_child", "missed_delete"])
def test_a_defect_is_found_and_its_mended_form_passes(
    controller: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay = tmp_path / "replay.yaml"
    code, out = _explore(capsys, controller, "--runs", "80", "-o", "json", "--save", str(replay))
    assert code == 1, out
    [finding] = json.loads(out)["findings"]
    assert len(finding["schedule"]) <= 3
    code, out = _explore(capsys, f"{controller} --mended", "--replay", str(replay))
    assert code == 0, out


def test_a_command_that_cannot_be_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    places = ["--scenario", str(EXAMPLES / "scenario.yaml"), "--apply", str(EXAMPLES / "config.yaml")]
    assert main(["explore", *places, "--", "/no/such/controller"]) == 2
    assert "/no/such/controller" in capsys.readouterr().err
