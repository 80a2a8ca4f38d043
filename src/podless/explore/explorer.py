"""An exploration: the reference run, then one schedule after the other, on several servers in parallel.

First each perturbation is tried alone, then random mixtures. A failing schedule is made as short as possible.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import chain, zip_longest

from podless.explore.findings import ExplorationReport, Run, ScheduleFinding, tell_story
from podless.explore.gate import Watched
from podless.explore.laboratory import Laboratory, Setup
from podless.explore.oracles import find_unstable, judge_run
from podless.explore.points import LogEntry, compare_logs
from podless.explore.schedule import ChangeLeader, Crash, HoldEvents, LoseAnswer, Perturbation, RejectWrite, Schedule
from podless.explore.trial import Trial
from podless.runtime.dataclass import dataclass

_REPEATS = 2  # more runs of a schedule that failed
_FAILURES = 3  # failed resets in a row, after which each run starts the controller again
_MAX_SIMILAR = 3  # findings with the same oracles and detail, after which similar ones are skipped
_SCHEDULE_SIZES = (2, 2, 3)  # number of perturbations in random schedules
_LATER = 2  # rounds for which a slow cache lags behind


@dataclass(frozen=True, slots=True)
class Options:
    """How long to explore. runs: maximum, including reference runs. seconds: maximum.

    findings: stop after this many different ones. seed: of random schedules. workers: servers and controllers that run
    in parallel. fresh: start the controller for each run, not only if a schedule needs it.
    """

    runs: int = 300
    seconds: float = 300.0
    findings: int = 1
    seed: int = 1
    workers: int = 2
    fresh: bool = False

    def __post_init__(self) -> None:
        for name in ("runs", "findings", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)}: must be at least 1")
        if self.seconds <= 0:
            raise ValueError(f"time: {self.seconds:g}: must be more than 0 seconds")


class Explorer:
    """Carries out runs and judges them. report_line: called with a line of progress."""

    def __init__(self, setup: Setup, options: Options, report_line: Callable[[str], None] = lambda line: None) -> None:
        self.report = ExplorationReport(seed=options.seed)
        self._setup = setup
        self._options = options
        self._report_line = report_line
        self._free: asyncio.Queue[Runner] = asyncio.Queue()
        self._always_fresh = options.fresh
        self._warned = False
        self._reference: Run | None = None
        self._unstable: set[str] = set()
        self._began = time.monotonic()

    @asynccontextmanager
    async def open_laboratories(self, workers: int) -> AsyncIterator[None]:
        """Start the servers."""
        async with AsyncExitStack() as stack:
            for _ in range(workers):
                runner = Runner(await stack.enter_async_context(Laboratory(self._setup, self._tell_once)))
                stack.push_async_callback(runner.end_controller)
                self._free.put_nowait(runner)
            yield
            self.report.seconds = time.monotonic() - self._began

    def _tell_once(self, line: str) -> None:
        """Report the first problem only: a controller that starts slowly does so in every run."""
        if not self._warned:
            self._warned = True
            self._report_line(line)

    async def carry_out(self, schedule: Schedule, *, fresh: bool = True) -> Run:
        """Carry out one run and judge it. fresh: start the controller for it."""
        runner = await self._free.get()
        try:
            expected = self._reference.watched if self._reference is not None else None
            run = await runner.carry_out(schedule, expected, fresh=fresh)
            self.report.runs += 1
            faults = dict.fromkeys((*run.faults, *judge_run(run, self._reference, self._unstable)))
            if faults:  # after a fault, its state must not affect later runs
                await runner.end_controller()
        finally:
            self._free.put_nowait(runner)
        return replace(run, faults=tuple(faults))

    async def run_references(self) -> Run:
        """Carry out the scenario without perturbations, twice, to learn which fields differ anyway."""
        first = await self.carry_out(Schedule())
        if first.faults:
            return first
        second = await self.carry_out(Schedule())
        self._unstable = find_unstable(first, second)
        self.report.differs = compare_logs(first.fingerprint, second.fingerprint)
        self._reference = first
        return second if second.faults else first

    async def explore(self) -> ExplorationReport:
        """Explore until a limit of the options is reached."""
        reference = await self.run_references()
        self._report_line(
            f"reference run: {_count_entries(reference, 'write')} writes, {_count_entries(reference, 'event')} events"
        )
        if reference.faults:
            self._add_finding(ScheduleFinding(reference, tell_story(reference)))
            return self.report
        perturbations = list_perturbations(reference)
        self.report.points = len(perturbations)
        self._report_line(
            f"{len(perturbations)} perturbations to try one by one, then mixtures from seed {self._options.seed}"
        )
        single = (Schedule((perturbation,)) for perturbation in perturbations)
        used = Counter(perturbation.at for perturbation in perturbations)
        waiting = chain(single, draw_schedules(perturbations, self._options.seed, used))
        async with asyncio.TaskGroup() as group:
            for _ in range(self._free.qsize()):
                group.create_task(self._try_schedules(waiting))
        return self.report

    async def _try_schedules(self, waiting: Iterator[Schedule]) -> None:
        while not self._is_over():
            schedule = next(waiting, None)
            if schedule is None:
                return
            run = await self.carry_out(schedule, fresh=self._always_fresh)
            if run.faults and run.reused:
                run = await self._repeat_run(run)
            if run.faults and not self._is_over():
                await self._look_into(run)

    async def _repeat_run(self, run: Run) -> Run:
        """Repeat a failed run of a reused controller with a new one.

        A controller that fails only in the first of these runs remembers earlier runs. It is then started for each run.
        """
        for _ in range(_REPEATS):
            repeated = await self.carry_out(run.schedule)
            if repeated.faults:
                return repeated
        self._always_fresh = True
        return repeated

    def _is_over(self) -> bool:
        options, report = self._options, self.report
        is_late = time.monotonic() - self._began > options.seconds
        return is_late or report.runs >= options.runs or len(report.findings) >= options.findings

    async def _look_into(self, run: Run) -> None:
        """Make a failing schedule as short as possible, and repeat it."""
        oracles = frozenset(fault.oracle for fault in run.faults)
        if sum(finding.oracles == oracles for finding in self.report.findings) >= _MAX_SIMILAR:
            return
        shortest = await shrink_schedule(run, self.carry_out)
        failed = 0
        for _ in range(_REPEATS):
            tried = await self.carry_out(shortest.schedule)
            failed += bool(oracles & {fault.oracle for fault in tried.faults})
            self.report.differs = self.report.differs or compare_logs(shortest.fingerprint, tried.fingerprint)
        if failed:  # a fault that never occurs again cannot be replayed
            story = tell_story(shortest, self._reference)
            self._add_finding(ScheduleFinding(shortest, story, failed, _REPEATS))

    def _add_finding(self, finding: ScheduleFinding) -> None:
        known = {(str(other.run.schedule), other.oracles) for other in self.report.findings}
        is_new = (str(finding.run.schedule), finding.oracles) not in known
        if is_new and len(self.report.findings) < self._options.findings:
            self.report.findings.append(finding)
            self._report_line(f"found after {self.report.runs} runs: {'; '.join(map(str, finding.run.faults))}")


async def explore(
    setup: Setup, options: Options, report_line: Callable[[str], None] = lambda line: None
) -> ExplorationReport:
    """Look for schedules that break a controller. Raises OSError if its command cannot be run, and StartError."""
    explorer = Explorer(setup, options, report_line)
    async with explorer.open_laboratories(options.workers):
        return await explorer.explore()


async def replay(
    setup: Setup, schedule: Schedule, times: int = 1, report_line: Callable[[str], None] = lambda line: None
) -> ExplorationReport:
    """Carry out one schedule `times` times after the reference runs, and compare the logs of the requests."""
    if times < 1:
        raise ValueError(f"times: {times}: must be at least 1")
    explorer = Explorer(setup, Options(findings=times), report_line)
    async with explorer.open_laboratories(1):
        reference = await explorer.run_references()
        if reference.faults:
            explorer.report.findings.append(ScheduleFinding(reference, tell_story(reference)))
            return explorer.report
        first: Run | None = None
        for _ in range(times):
            run = await explorer.carry_out(schedule)
            first = first or run
            difference = compare_logs(first.fingerprint, run.fingerprint)
            explorer.report.replayed += 1
            explorer.report.same += not difference
            explorer.report.differs = explorer.report.differs or difference
            explorer.report.unused += [point for point in run.unused if point not in explorer.report.unused]
            if run.faults:
                explorer.report.findings.append(ScheduleFinding(run, tell_story(run, reference), 1, 1))
    return explorer.report


def _count_entries(run: Run, kind: str) -> int:
    return sum(entry.kind == kind for entry in run.entries)


class Runner:
    """The runs in a laboratory.

    Between two runs the server returns to the state in which the controller rested after its start. The controller sees
    that as any other change. If it rests then and has changed nothing, the next run continues with it. A controller
    that waits before it opens a cut watch again is restarted, because it would wait longer after each run.
    """

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory = laboratory
        self._last_trial: Trial | None = None
        self._failures = 0

    async def carry_out(
        self, schedule: Schedule, expected: frozenset[Watched] | None = None, *, fresh: bool = False
    ) -> Run:
        """Carry out the scenario once under a schedule. Raises OSError if the command cannot be run.

        expected: the watches that the controller opens when it starts, None if unknown. fresh: start the controller for
        this run.
        """
        reused = None if fresh else await self._rewind_last()
        if reused is None:
            await self.end_controller()
            await self._laboratory.reset_state()
        trial = Trial(self._laboratory, schedule, expected, reused)
        self._laboratory.admit_run(trial.control)
        self._last_trial = trial
        try:
            return await trial.carry_out()
        except BaseException:
            await self.end_controller()
            raise

    async def _rewind_last(self) -> Trial | None:
        """Return the previous run, with its controller at rest in the state after its start; None if that fails."""
        if self._last_trial is None or self._last_trial.is_worn or self._failures >= _FAILURES:
            return None
        is_rewound = await self._last_trial.rewind_state()
        self._failures = 0 if is_rewound else self._failures + 1
        return self._last_trial if is_rewound else None

    async def end_controller(self) -> None:
        """Kill the controller. The next run starts it again."""
        trial, self._last_trial = self._last_trial, None
        self._laboratory.admit_run(None)
        if trial is not None:
            await trial.kill_controller()


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
            taken = {perturbation.at for perturbation in chosen}
            candidates = [entry for entry in perturbations if entry.at not in taken] or perturbations
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
