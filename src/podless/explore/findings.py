"""The faults of a run, the findings of an exploration, and the story of a run as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from podless.explore.points import LogEntry
from podless.explore.schedule import Schedule
from podless.explore.states import State, compare_objects
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

# oracle -> text in a report
ORACLES = {
    "exited": "the controller's process ended",
    "silent": "the controller sends no request",
    "restless": "the controller does not come to rest",
    "invariant": "an invariant of the scenario does not hold",
    "terminating": "an object is deleted and keeps its finalizers",
    "leftover": "an object is left over",
    "missing": "an object is missing",
    "state": "the state differs from the reference run",
    "recreated": "an object is created again and again",
    "stale": "writes are based on a version that the client has seen to be old",
    "errors": "the same error repeats without end",
    "wait": "a step of the scenario fails",
}
_OUTPUT_SHOWN = {"exited", "silent"}  # for these oracles, the controller's output says more than the story
_OUTPUT_LINES = 15  # lines of the controller's output
_MARKS = {"fault": "!", "process": "!", "user": ">", "write": "*", "event": " ", "read": " "}
_MAX_LINES = 80  # lines of a story; the middle of a longer one is left out
_MAX_EQUAL_LINES = 4  # how often the story shows equal lines
_MARKED = ">!"  # first characters of lines that are never left out
_NUMBER = re.compile(r" #\d+|(?<=\*)\d+")  # the number of a write, and of a generated name
_CHANGES = 4  # maximum changed fields of a write


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. oracle: a key of ORACLES. detail: the object concerned, in one line."""

    oracle: str
    detail: str

    def __str__(self) -> str:
        return f"{ORACLES[self.oracle]}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its schedule, log and end state."""

    schedule: Schedule
    entries: tuple[LogEntry, ...]
    fingerprint: tuple[str, ...]
    state: State
    faults: tuple[Fault, ...] = ()
    unused: tuple[str, ...] = ()  # perturbations whose point was not reached
    watched: frozenset[tuple[str, str]] = frozenset()  # (client, resource) pairs that were watched after the start
    # states in which the controller rested after steps before the last one, without held events
    states: Mapping[str, State] = field(default_factory=dict)
    elects: bool = False  # whether the instances of the controller elect a leader
    reused: bool = False  # the controller was started for an earlier run
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ScheduleFinding:
    """A schedule that causes a fault, as short as possible.

    again: in how many of `tries` more runs of the schedule the same oracle reported a fault. story: lines.
    """

    run: Run
    story: tuple[str, ...]
    again: int = 0
    tries: int = 0

    @property
    def oracles(self) -> frozenset[str]:
        """The oracles that report faults."""
        return frozenset(fault.oracle for fault in self.run.faults)

    def __str__(self) -> str:
        lines = [*(f"  {fault}" for fault in self.run.faults), "", "Schedule"]
        lines += [f"  {perturbation}" for perturbation in self.run.schedule] or ["  nothing is perturbed"]
        if self.tries:
            lines.append(f"  fails again in {self.again} of {self.tries} runs")
        lines += ["", "Story", *(f"  {line}" for line in self.story)]
        if self.oracles & _OUTPUT_SHOWN and self.run.output:
            lines += ["", "Output", *(f"  {line}" for line in self.run.output.splitlines()[-_OUTPUT_LINES:])]
        return "\n".join(lines)


@dataclass(slots=True)
class ExplorationReport:
    """The result of an exploration.

    runs: number of runs. differs: where two runs of the same schedule diverge, or "". replayed, same: how often a
    schedule was replayed, and in how many of these runs the requests were those of the first. unused: perturbations of
    a replayed schedule whose point was not reached.
    """

    findings: list[ScheduleFinding] = field(default_factory=list)
    runs: int = 0
    seconds: float = 0.0
    seed: int = 0
    differs: str = ""
    points: int = 0
    replayed: int = 0
    same: int = 0
    unused: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    @property
    def summary(self) -> str:
        """The number of runs and findings, in one line."""
        result = "nothing was found" if self.passed else f"{len(self.findings)} found"
        return f"{self.runs} runs in {self.seconds:.0f} s, {self.points} perturbations, seed {self.seed}: {result}"

    def __str__(self) -> str:
        parts = [f"Finding {number}\n{finding}\n" for number, finding in enumerate(self.findings, 1)]
        if self.differs:
            parts.append(f"Two runs of the same schedule differ: {self.differs}")
        parts += [f"Its point never came: {point}" for point in self.unused]
        if self.replayed > 1:
            parts.append(f"The requests were the same in {self.same} of {self.replayed} runs")
        return "\n".join([*parts, self.summary])


def tell_story(run: Run, reference: Run | None = None) -> tuple[str, ...]:
    """Return the story of a run, one line for each event. Lines that begin with `!` are actions of podless.

    reference: reads before the first step are left out if the reference has them, too.
    """
    usual = {entry.text for entry in reference.entries if entry.kind == "read"} if reference is not None else set()
    lines = list(_leave_out_repetitions(_tell_entries(run, usual)))
    if len(lines) > _MAX_LINES:
        half = _MAX_LINES // 2
        lines = [*lines[:half], f"  ... {len(lines) - 2 * half} lines ...", *lines[-half:]]
    return (*lines, *(f"x {fault}" for fault in run.faults))


def _tell_entries(run: Run, usual: set[str]) -> Iterator[str]:
    for entry in run.entries:
        if entry.kind == "read" and entry.text in usual and entry.status < 300:
            continue
        yield f"{_MARKS[entry.kind]} {entry.text}{_tell_answer(entry)}"
        if entry.kind == "write":
            for line in _tell_changes(entry.before, entry.after):
                yield f"      {line}"


def _leave_out_repetitions(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without most repetitions, and the number of omitted lines."""
    counts: Counter[str] = Counter()
    left_out = 0
    for line in lines:
        pattern_line = _NUMBER.sub("", line)
        counts[pattern_line] += 1
        if counts[pattern_line] > _MAX_EQUAL_LINES and line[0] not in _MARKED:
            left_out += 1
            continue
        if left_out:
            yield _tell_left_out(left_out)
            left_out = 0
        yield line
    if left_out:
        yield _tell_left_out(left_out)


def _tell_left_out(lines: int) -> str:
    return f"  ... {lines} more lines of this kind ..."


def _tell_answer(entry: LogEntry) -> str:
    if entry.kind == "write" and entry.status < 300 and not entry.changed:
        return " (changes nothing)"
    return f" ({entry.status})" if entry.status >= 300 else ""


def _tell_changes(before: Object | None, after: Object | None) -> Iterator[str]:
    if before is None or after is None:
        return
    lines = compare_objects(before, after)
    yield from lines[:_CHANGES]
    if len(lines) > _CHANGES:
        yield f"and {len(lines) - _CHANGES} more fields"
