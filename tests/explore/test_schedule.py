"""Schedules as values and as files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.explore.findings import Fault, Run, ScheduleFinding
from podless.explore.report import read_replay, write_replay
from podless.explore.schedule import (
    MODES,
    BadSchedule,
    ChangeLeader,
    Crash,
    HoldEvents,
    LoseAnswer,
    RejectWrite,
    Schedule,
)

_POINTS = st.sampled_from(["step 1", "controller create configmaps default/one", "controller delete pods a/b #2"])
_PERTURBATIONS = st.one_of(
    st.builds(Crash, _POINTS),
    st.builds(LoseAnswer, _POINTS),
    st.builds(RejectWrite, _POINTS),
    st.builds(ChangeLeader, _POINTS),
    st.builds(HoldEvents, _POINTS, st.sampled_from(["pods", "gears.example.com"]), st.sampled_from(MODES)),
)
_SCHEDULES = st.lists(_PERTURBATIONS, unique=True, max_size=4).map(lambda some: Schedule(tuple(some)))


@given(_SCHEDULES)
def test_a_replay_file_has_the_whole_schedule(schedule: Schedule) -> None:
    run = Run(schedule, (), (), {}, (Fault("missing", "pods default/one"),))
    assert read_replay(write_replay(ScheduleFinding(run, ()))) == schedule


@given(_SCHEDULES)
def test_a_perturbation_that_is_taken_away_is_gone_and_all_others_stay(schedule: Schedule) -> None:
    for one in schedule:
        assert set(schedule.without_perturbation(one)) == set(schedule) - {one}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "a list named schedule"),
        ("schedule: [{kind: explode, at: x}]", "one of these kinds: crash"),
        ("schedule: [{kind: crash}]", "crash: .*at"),
        ("schedule: [{kind: hold-events, at: x, resource: pods, mode: never}]", "mode is one of slow, skip, restart"),
        ("schedule: [", "line"),
    ],
)
def test_a_replay_file_that_says_nothing_sensible_is_told_so(text: str, message: str) -> None:
    with pytest.raises(BadSchedule, match=message):
        read_replay(text.encode())
