"""Which schedules are tried, and how they are made shorter."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from itertools import islice

from podless.explore.explorer import draw_schedules, list_perturbations, shrink_schedule
from podless.explore.findings import Fault, Run
from podless.explore.points import LogEntry
from podless.explore.schedule import ChangeLeader, Crash, HoldEvents, LoseAnswer, RejectWrite, Schedule

_STEP = LogEntry("user", "", "step 1: apply Garden one", "step 1")
_SEEN = LogEntry("event", "controller", "controller sees gardens", resource="gardens")
_BED = "controller create configmaps default/one-bed"
_WRITE = LogEntry("write", "controller", _BED, _BED, 201, resource="configmaps", after={"kind": "ConfigMap"})


def _run(*entries: LogEntry, schedule: Schedule | None = None, faults: tuple[Fault, ...] = ()) -> Run:
    return Run(schedule or Schedule(), entries, (), {}, faults)


def test_writes_are_cut_off_and_events_are_held_from_steps_and_writes_on() -> None:
    found = list_perturbations(_run(_STEP, _SEEN, _WRITE))
    assert {Crash(_BED), LoseAnswer(_BED), RejectWrite(_BED)} <= set(found)
    assert HoldEvents("step 1", "gardens", "skip") in found


def test_what_no_request_follows_is_not_tried() -> None:
    found = list_perturbations(_run(_STEP, _SEEN, _WRITE, LogEntry("user", "", "step 2", "step 2"), _SEEN))
    assert not [one for one in found if one.at == "step 2"]


def test_a_client_that_saw_events_is_shown_the_past() -> None:
    past = [
        perturbation
        for perturbation in list_perturbations(_run(_STEP, _SEEN, _WRITE))
        if getattr(perturbation, "mode", "") == "past"
    ]
    assert past == [HoldEvents(_BED, "gardens", "past")]  # at step 1 it has seen nothing yet


def test_leaders_change_only_where_instances_elect_one() -> None:
    run = _run(_STEP, _SEEN, _WRITE)
    assert ChangeLeader(_BED) not in list_perturbations(run)
    assert ChangeLeader(_BED) in list_perturbations(replace(run, elects=True))


def test_slow_caches_come_last() -> None:
    rounds = [getattr(perturbation, "rounds", 1) for perturbation in list_perturbations(_run(_STEP, _SEEN, _WRITE))]
    assert rounds == sorted(rounds)
    assert rounds[-1] == 2


def test_no_generated_name_exists_already() -> None:
    point = "controller create configmaps default/one-bed-*"
    write = LogEntry("write", "controller", point, point, 201, resource="configmaps", after={"kind": "ConfigMap"})
    assert RejectWrite(point) not in list_perturbations(_run(_STEP, _SEEN, write))


def test_the_same_seed_draws_the_same_schedules() -> None:
    perturbations = list_perturbations(_run(_STEP, _SEEN, _WRITE))
    drawn = [list(islice(draw_schedules(perturbations, seed, Counter()), 20)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(1 <= len(one) <= 3 for one in drawn[0])


def test_only_what_is_needed_stays_in_a_schedule() -> None:
    needed, fault = Crash(_BED), Fault("leftover", "configmaps default/one-bed")
    whole = Schedule((LoseAnswer("a"), needed, RejectWrite("b")))

    async def carry_out(schedule: Schedule) -> Run:
        return _run(schedule=schedule, faults=(fault,) if needed in set(schedule) else ())

    found = asyncio.run(shrink_schedule(_run(schedule=whole, faults=(fault,)), carry_out))
    assert found.schedule == Schedule((needed,))
