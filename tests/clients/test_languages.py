"""Facts about how client programs are run, with programs that are none."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.clients.languages import PROGRAMS, STEPS, Program, finished, read, take


def program(**changes: object) -> Program:
    made = Program("node", PROGRAMS["node"].folder, ("sh",), ("true",), ("true",), ("sh", "-c", "echo ok definition"))
    return replace(made, **changes)  # type: ignore[arg-type]


def soon() -> float:
    return time.monotonic() + 60


def test_lines_of_a_program_are_steps() -> None:
    said = "ok definition\nnoise\nnone resync: it has none\nFAILED apply: no: not so\n"
    assert read(said) == {
        "definition": ("ok", ""),
        "resync": ("none", "it has none"),
        "apply": ("FAILED", "no: not so"),
    }


def test_what_is_missing_is_left_out_with_its_reason() -> None:
    assert take(program(tools=("sh", "no-such-tool")), soon()).left_out == "no-such-tool is not on this machine"
    assert "cannot be downloaded: gone" in take(program(fetch=("sh", "-c", "echo gone; exit 1")), soon()).left_out
    assert "given up" in take(program(build=("sleep", "60")), time.monotonic()).left_out


def test_a_failed_build_is_a_failure() -> None:
    assert take(program(build=("sh", "-c", "echo wrong >&2; exit 1")), soon()).failures == ["build: wrong"]


def test_what_a_program_does_not_tell_of_is_a_failure() -> None:
    failures = take(program(), soon()).failures
    assert failures == [f"{step}: the program did not tell of it" for step in STEPS if step != "definition"]


def test_a_watch_that_was_never_ended_early_is_no_success() -> None:
    said = "".join(f"echo ok {step};" for step in STEPS)
    failures = take(program(run=("sh", "-c", said)), soon()).failures
    assert failures == ["watch-cut: no watch was ended early", "watch-expired: no watch was ended early"]


def test_what_a_command_started_ends_with_it(tmp_path: Path) -> None:
    """A child that lived on would hold the pipe that is read to its end."""
    with pytest.raises(subprocess.TimeoutExpired):
        finished(("sh", "-c", "sleep 300 & wait"), tmp_path, 0.5, {})


def test_every_program_is_here() -> None:
    assert all(program.folder.is_dir() for program in PROGRAMS.values())
