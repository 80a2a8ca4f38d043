"""The list of known differences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance import known, recorded
from tests.conformance.known import judge
from tests.conformance.replay import Result

STEP = {"method": "GET", "path": "/version", "expect": {"status": 200}}
SCENARIO = {"name": "one", "area": "tiny", "steps": [STEP, {"do": "pause", "ms": 1}, STEP]}
RIGHT, WRONG = {"status": 200}, {"status": 404}


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step 2 of tiny/one is known."""
    file = tmp_path / "known.toml"
    file.write_text('[[known]]\nrecording = "tiny/one"\nsteps = [2]\nreason = "the server has no clock"\n')
    monkeypatch.setattr(known, "FILE", file)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    known.differences.cache_clear()
    yield
    known.differences.cache_clear()


def result(first: object, last: object) -> Result:
    return Result(SCENARIO, [(0, first, RIGHT), (2, last, RIGHT)])


@pytest.mark.usefixtures("listed")
def test_a_step_that_differs_must_be_listed() -> None:
    assert judge("tiny", result(RIGHT, WRONG)) == ""
    told = judge("tiny", result(WRONG, WRONG))
    assert "tiny/one: steps [0] differ and are not in known.toml" in told
    assert "known: the server has no clock" in told  # beside step 2


@pytest.mark.usefixtures("listed")
def test_a_listed_step_that_is_exact_must_be_removed() -> None:
    assert judge("tiny", result(RIGHT, RIGHT)) == "tiny/one: steps [2] are exact now: remove them from known.toml"
    both = judge("tiny", result(WRONG, RIGHT))  # as many differ as are listed, but others
    assert "steps [0] differ" in both
    assert "steps [2] are exact now" in both


@pytest.mark.usefixtures("listed")
def test_a_conversation_that_breaks_off_is_not_covered_by_the_list() -> None:
    broken = Result(SCENARIO, [], "TimeoutError: x")
    assert "steps [0] differ" in judge("tiny", broken)


@pytest.mark.parametrize("steps", ["[2, 2]", "[2]\nreason = ' '"])
def test_every_entry_has_a_reason_and_is_listed_once(
    steps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "" if "reason" in steps else "reason = 'x'\n"
    file = tmp_path / "known.toml"
    file.write_text(f"[[known]]\nrecording = 'a/b'\nsteps = {steps}\n{reason}")
    monkeypatch.setattr(known, "FILE", file)
    with pytest.raises(ValueError, match=r"a/b step 2 is listed twice or has no reason"):
        known.differences()


def test_the_listed_steps_exist_and_have_an_answer() -> None:
    for title, steps in known.differences().items():
        area, _, name = title.rpartition("/")
        recording = recorded.find(area, name)
        for number, reason in steps.items():
            assert "expect" in recording["steps"][number], title
            assert len(reason) > 40, title
