"""The order in which schedules are tried, and the shortening of failing ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from podless.explore.findings import Run
from podless.explore.points import LogEntry
from podless.explore.schedule import ChangeLeader, Crash, HoldEvents, LoseAnswer, Perturbation, RejectWrite, Schedule

_TOGETHER = (2, 2, 3)  # number of perturbations in random schedules
_LATER = 2  # rounds for which a slow cache lags behind


def list_perturbations(reference: Run) -> list[Perturbation]:
    """Return the single perturbations that can matter, by the clients' requests in the reference run.

    A write can be followed by a crash, a lost answer or a conflict. Events of a resource are held from a write or a
    step on, if a client sees such events later, and shown again if it has seen some. Points after which no client sends
    a request are left out. A slow cache, which lags behind for another step, comes last.
    """
    asked = [place for place, one in enumerate(reference.entries) if one.kind in ("write", "read")]
    last = asked[-1] if asked else -1
    writes: list[Perturbation] = []
    rejections: list[Perturbation] = []
    holds: list[HoldEvents] = []
    past: list[Perturbation] = []
    for place, one in enumerate(reference.entries):
        if one.kind == "write" and one.status < 300:
            writes += [Crash(one.point), LoseAnswer(one.point)]
            if reference.elects:
                writes.append(ChangeLeader(one.point))
            if not (one.before is None and "*" in one.point):  # an object with a generated name cannot exist already
                rejections.append(RejectWrite(one.point))
        if one.kind in ("write", "user") and (one.kind == "user" or one.changed) and place <= last:
            holds += _list_holds(one, reference.entries[place + 1 :])
            seen = {before.resource for before in reference.entries[:place] if before.kind == "event"}
            past += [HoldEvents(one.point, resource, "past") for resource in sorted(seen)]
    slow = [replace(one, rounds=_LATER) for one in holds if one.mode == "slow"]
    return [one for row in zip_longest(holds, writes, rejections) for one in row if one is not None] + past + slow


def _list_holds(at: LogEntry, after: Sequence[LogEntry]) -> Iterator[HoldEvents]:
    """Yield the holds of resources whose events clients see after a point. The point's own resource comes first."""
    seen = dict.fromkeys(one.resource for one in after if one.kind == "event")
    plain = at.resource.partition("/")[0]
    for resource in sorted(seen, key=lambda one: one != plain):
        for mode in ("slow", "skip", "restart"):
            yield HoldEvents(at.point, resource, mode)


def draw_schedules(perturbations: Sequence[Perturbation], seed: int, used: Counter[str]) -> Iterator[Schedule]:
    """Yield random mixtures without end, from a seed. Points that were used least are most likely."""
    source = random.Random(seed)
    while perturbations:
        chosen: list[Perturbation] = []
        for _ in range(min(source.choice(_TOGETHER), len(perturbations))):
            left = [one for one in perturbations if one.at not in {other.at for other in chosen}] or perturbations
            weights = [1 / (1 + used[one.at]) for one in left]
            one = source.choices(list(left), weights)[0]
            if isinstance(one, HoldEvents):
                one = replace(one, rounds=source.randint(1, _LATER))
            if one not in chosen:
                chosen.append(one)
        used.update(one.at for one in chosen)
        yield Schedule(tuple(chosen))


def list_schedules(perturbations: Iterable[Perturbation]) -> Iterator[Schedule]:
    """Yield each perturbation alone."""
    for one in perturbations:
        yield Schedule((one,))


async def shrink_schedule(run: Run, carry_out: Callable[[Schedule], Awaitable[Run]]) -> Run:
    """Return a run of the shortest schedule found that fails as the given run did.

    Perturbations are removed one by one while an oracle of the first run still reports a fault.
    """
    wanted = {fault.oracle for fault in run.faults}
    changed = len(run.schedule) > 1
    while changed:
        changed = False
        for one in run.schedule:
            shorter = run.schedule.without(one)
            if not len(shorter):
                continue
            tried = await carry_out(shorter)
            if wanted & {fault.oracle for fault in tried.faults}:
                run, changed = tried, True
                break
    return run
