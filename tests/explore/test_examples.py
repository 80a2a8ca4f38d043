"""The controllers in examples/explore: each defect is found, and its schedule does nothing to the mended form."""

from __future__ import annotations

from pathlib import Path

import pytest

from podless.cli import main
from podless.codec import serializer
from podless.explore.embedded import explore_controller
from podless.explore.report import write_replay
from podless.explore.schedule import ChangeLeader, Schedule
from tests.explore.programs import EXAMPLES, PROGRAMS, build_programs

pytestmark = [pytest.mark.slow, pytest.mark.clients, pytest.mark.hangs_after(600)]


# all of them, and those in other languages: make explore-examples
@pytest.mark.parametrize("name", ["leaked_child"])
def test_a_defect_is_found_and_its_mended_form_passes(name: str, tmp_path: Path) -> None:
    report = PROGRAMS[name].explore(runs=80)
    assert len(report.findings) == 1, report
    assert len(report.findings[0].run.schedule) <= 3
    replay = tmp_path / "replay.yaml"
    replay.write_bytes(write_replay(report.findings[0]))
    mended = PROGRAMS[name].explore(mended=True, schedule=replay)
    assert mended.passed, mended


def test_a_write_of_a_leader_that_was_deposed_unnoticed_comes_late(tmp_path: Path) -> None:
    point = "controller create configmaps default/one-bed-*"
    replay = tmp_path / "replay.yaml"
    replay.write_bytes(serializer.encode_yaml({"schedule": Schedule((ChangeLeader(point),)).to_json()}))
    program = PROGRAMS["leaked_child"]
    report = explore_controller(
        [*program.command, "--leader-elect"],
        EXAMPLES / program.scenario,
        apply=EXAMPLES / "config.yaml",
        instances=2,
        schedule=replay,
    )
    [finding] = report.findings
    assert "left over: configmaps default/one-bed-*2" in str(finding)
    story = [line.removeprefix("* ") for line in finding.story]
    assert story.index("controller-2 create configmaps default/one-bed-*") < story.index(point)


def test_every_example_has_its_program() -> None:
    for program in PROGRAMS.values():
        assert (EXAMPLES / program.scenario).is_file()
        folder = EXAMPLES / program.language
        assert list(folder.glob(f"{program.name}*")) or program.language == "rust"
    assert build_programs("python") == ""


def test_a_command_that_cannot_be_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    places = ["--scenario", str(EXAMPLES / "scenario.yaml"), "--apply", str(EXAMPLES / "config.yaml")]
    assert main(["explore", *places, "--", "/no/such/controller"]) == 2
    assert "/no/such/controller" in capsys.readouterr().err
