"""The order in which schedules are tried, and the shortening of failing ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from podless.explore.findings import Run
from podless.explore.points import LogEntry
from podless.explore.schedule import ChangeLeader, Crash, HoldEvents, LoseAnswer, Perturbation, RejectWrite, Schedule

_SCHEDULE_SIZES = (2, 2, 3)  # number of perturbations in random schedules
_LATER = 2  # rounds for which a slow cache lags behind


def list_perturbations(reference: Run) -> list[Perturbation]:
    """Return the single perturbations that can matter, by the clients' requests in the reference run.

    A write can be followed by a crash, a lost answer or a conflict. Events of a resource are held from a write or a
    step on, if a client sees such events later, and shown again if it has seen some. Points after which no client sends
    a request are left out. A slow cache, which lags behind for another step, comes last.
    """
    requests = [index for index, entry in enumerate(reference.entries) if entry.kind in ("write", "read")]
    last = requests[-1] if requests else -1
    writes: list[Perturbation] = []
    rejections: list[Perturbation] = []
    holds: list[HoldEvents] = []
    past: list[Perturbation] = []
    for index, entry in enumerate(reference.entries):
        if entry.kind == "write" and entry.status < 300:
            writes += [Crash(entry.point), LoseAnswer(entry.point)]
            if reference.elects:
                writes.append(ChangeLeader(entry.point))
            if entry.before is not None or "*" not in entry.point:  # an object with a generated name cannot exist
                rejections.append(RejectWrite(entry.point))
        if entry.kind in ("write", "user") and (entry.kind == "user" or entry.changed) and index <= last:
            holds += _list_holds(entry, reference.entries[index + 1 :])
            seen_resources = {before.resource for before in reference.entries[:index] if before.kind == "event"}
            past += [HoldEvents(entry.point, resource, "past") for resource in sorted(seen_resources)]
    slow = [replace(entry, rounds=_LATER) for entry in holds if entry.mode == "slow"]
    return [entry for row in zip_longest(holds, writes, rejections) for entry in row if entry is not None] + past + slow


def _list_holds(at: LogEntry, after: Sequence[LogEntry]) -> Iterator[HoldEvents]:
    """Yield the holds of resources whose events clients see after a point. The point's own resource comes first."""
    resources = dict.fromkeys(resource_.resource for resource_ in after if resource_.kind == "event")
    plain = at.resource.partition("/")[0]
    for resource in sorted(resources, key=lambda resource_: resource_ != plain):
        for mode in ("slow", "skip", "restart"):
            yield HoldEvents(at.point, resource, mode)


def draw_schedules(perturbations: Sequence[Perturbation], seed: int, used: Counter[str]) -> Iterator[Schedule]:
    """Yield random mixtures without end, from a seed. Points that were used least are most likely."""
    source = random.Random(seed)
    while perturbations:
        chosen: list[Perturbation] = []
        for _ in range(min(source.choice(_SCHEDULE_SIZES), len(perturbations))):
            candidates = [
                perturbation
                for perturbation in perturbations
                if perturbation.at not in {chosen_one.at for chosen_one in chosen}
            ] or perturbations
            weights = [1 / (1 + used[perturbation.at]) for perturbation in candidates]
            perturbation = source.choices(list(candidates), weights)[0]
            if isinstance(perturbation, HoldEvents):
                perturbation = replace(perturbation, rounds=source.randint(1, _LATER))
            if perturbation not in chosen:
                chosen.append(perturbation)
        used.update(perturbation.at for perturbation in chosen)
        yield Schedule(tuple(chosen))


async def shrink_schedule(run: Run, carry_out: Callable[[Schedule], Awaitable[Run]]) -> Run:
    """Return a run of the shortest schedule found that fails as the given run did.

    Perturbations are removed one by one while an oracle of the first run still reports a fault.
    """
    oracles = {fault.oracle for fault in run.faults}
    changed = len(run.schedule) > 1
    while changed:
        changed = False
        for perturbation in run.schedule:
            shorter = run.schedule.without_perturbation(perturbation)
            if not len(shorter):
                continue
            tried = await carry_out(shorter)
            if oracles & {fault.oracle for fault in tried.faults}:
                run, changed = tried, True
                break
    return run
