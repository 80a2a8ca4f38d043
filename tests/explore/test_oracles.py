"""What counts as wrong in a run, and how it is told: stories and pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from podless.explore.findings import ExplorationReport, Fault, Run, ScheduleFinding, tell_story
from podless.explore.oracles import judge_run
from podless.explore.points import LogEntry
from podless.explore.report import write_page
from podless.explore.schedule import HoldEvents, Schedule

_BED = "controller create configmaps default/bed"
_STEP = LogEntry("user", "", "step 1: apply Garden <one>", "step 1", revision=1)
_SEEN = LogEntry("event", "controller", "controller sees gardens default/one added", resource="gardens", revision=2)


def _create(number: int, **more: Any) -> LogEntry:
    point = _BED if number == 1 else f"{_BED} #{number}"
    return LogEntry("write", "controller", point, point, 201, number, "configmaps", after={"kind": "ConfigMap"}, **more)


def _run(*entries: LogEntry, state: Any = None, states: Any = None, faults: tuple[Fault, ...] = ()) -> Run:
    return Run(Schedule(), entries, (), state or {}, faults, states=states or {})


def test_creates_without_end_are_wrong_but_not_while_the_view_is_late() -> None:
    reference = _run(_create(1))
    many = [_create(number) for number in range(1, 7)]
    assert [fault.oracle for fault in judge_run(_run(*many), reference)] == ["recreated"]
    assert judge_run(_run(*(replace(one, late=True) for one in many)), reference) == []


def test_writes_from_a_version_that_was_seen_to_be_old_are_wrong_if_they_go_on() -> None:
    stale = [replace(_create(number), status=409, stale=True, after=None) for number in range(1, 4)]
    assert [fault.oracle for fault in judge_run(_run(*stale), _run())] == ["stale"]
    assert judge_run(_run(*stale[:2]), _run()) == []
    assert judge_run(_run(*stale), _run(stale[0])) == []


def test_an_error_without_end_is_wrong_but_not_if_an_event_tells_to_stop() -> None:
    error = LogEntry("write", "controller", "controller update gardens default/one", status=404)
    assert [fault.oracle for fault in judge_run(_run(*[error] * 8), _run())] == ["errors"]
    assert judge_run(_run(*[error] * 8, _SEEN), _run()) == []


def test_the_first_state_that_differs_is_told_with_its_step() -> None:
    bed = {"configmaps default/bed": {"kind": "ConfigMap"}}
    reference = _run(states={"step 1": {}, "step 2": {}})
    [fault] = judge_run(_run(states={"step 1": {}, "step 2": bed}, state=bed), reference)
    assert str(fault) == "an object is left over: configmaps default/bed, after step 2"
    [fault] = judge_run(_run(states={"step 1": {}}, state=bed), reference)  # events were held after step 2
    assert str(fault) == "an object is left over: configmaps default/bed"


def test_the_state_of_a_run_that_was_cut_off_says_nothing() -> None:
    cut_off = _run(state={"a b": {}}, faults=(Fault("restless", "controller get"),))
    assert judge_run(cut_off, _run()) == []


def test_a_story_leaves_out_repetitions() -> None:
    lines = tell_story(_run(_STEP, *(_create(number) for number in range(1, 40)), _STEP))
    assert len(lines) < 12
    assert lines[-1].startswith("> step 1")
    assert "35 more lines" in lines[-2]


@pytest.mark.parametrize("entries", [200, 3])
def test_a_page_has_a_lane_for_each_watch_and_escapes_what_it_shows(entries: int) -> None:
    schedule = Schedule((HoldEvents("step 1", "gardens"),))
    run = replace(_run(_STEP, _SEEN, *map(_create, range(1, entries))), schedule=schedule, output="<died>")
    page = write_page(ExplorationReport([ScheduleFinding(run, ())], runs=3))
    assert "controller sees gardens" in page
    assert "controller writes" in page
    assert "events of gardens come late" in page
    assert "&lt;one&gt;" in page
    assert "&lt;died&gt;" in page
    assert page.count('class="write"') <= 160


def test_a_page_says_that_nothing_was_found() -> None:
    assert "Nothing was found" in write_page(ExplorationReport(runs=3))


def test_a_report_shows_what_a_controller_printed_before_it_ended() -> None:
    run = replace(_run(faults=(Fault("exited", "controller, with code 1"),)), output="one\nTraceback\n")
    assert "Traceback" in str(ScheduleFinding(run, ()))
