"""Oracles: judge a run by its log and end state, without knowing the purpose of the controller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from podless.explore.findings import Fault, Run
from podless.explore.points import LogEntry
from podless.explore.states import State, compare_states

_MORE_CREATES = 2  # allowed creates of one object, in addition to those of the reference and one for each perturbation
_MORE_STALE = 2  # the same for stale writes: a client may repeat a conflict once before it sees the cause
_SAME_ERRORS = 8  # equal errors in a row after which the client is assumed to get no other answer
_CUT_OFF = ("exited", "restless", "silent")  # oracles that end a run early, so that its end state is not compared
_MAX_SHOWN = 3  # differences of the end state that are shown


def judge_run(run: Run, reference: Run | None, unstable: Collection[str] = ()) -> list[Fault]:
    """Return the faults of a run, in addition to those found while it ran.

    reference: the run without perturbations, None for this one. unstable: differences between two reference runs, which
    are ignored.
    """
    faults = [
        *_find_more("recreated", _list_creates, _MORE_CREATES, run, reference),
        *_find_more("stale", _list_stale, _MORE_STALE, run, reference),
        *_find_errors(run, reference),
    ]
    cut_off = any(fault.oracle in _CUT_OFF for fault in run.faults)
    if reference is not None and not cut_off:
        for moment, state, expected in _pair_states(run, reference):
            differences = list(_compare_states(moment, state, expected, unstable))
            if differences:  # later states differ as a consequence
                return faults + differences
    return faults


def _pair_states(run: Run, reference: Run) -> Iterator[tuple[str, State, State]]:
    """Yield (step, state, state) for the states of two runs after the same steps; step "" is the end."""
    for point, state in run.states.items():
        if point in reference.states:
            yield point, state, reference.states[point]
    yield "", run.state, reference.state


def _find_more(
    oracle: str,
    list_events: Callable[[Sequence[LogEntry]], Iterator[str]],
    allowed: int,
    run: Run,
    reference: Run | None,
) -> Iterator[Fault]:
    """Find events that occur more often than perturbations explain."""
    expected = Counter(list_events(reference.entries)) if reference is not None else Counter[str]()
    for text, count in Counter(list_events(run.entries)).items():
        if count > expected[text] + len(run.schedule) + allowed:
            yield Fault(oracle, f"{text}, {count} times")


def _list_creates(entries: Sequence[LogEntry]) -> Iterator[str]:
    """Yield the creates, except those under an old view, where recreating a garbage-collected object is right."""
    for entry in entries:
        if entry.kind == "write" and entry.before is None and entry.after is not None and not entry.late:
            yield entry.point.partition(" #")[0]


def _list_stale(entries: Sequence[LogEntry]) -> Iterator[str]:
    """Yield the writes that are based on a version known to be old."""
    return (entry.text.partition(" #")[0] for entry in entries if entry.stale)


def _find_errors(run: Run, reference: Run | None) -> Iterator[Fault]:
    """Find errors that clients still got at the end of the run."""
    usual = set(_last_errors(reference)) if reference is not None else set()
    for text in _last_errors(run):
        if text not in usual:
            yield Fault("errors", text)


def _last_errors(run: Run) -> Iterator[str]:
    """Yield the last error of a client that got it repeatedly, and saw no event that stops it."""
    entries = [entry for entry in run.entries if entry.kind in ("read", "write", "event")]
    last = [f"{entry.text.partition(' #')[0]}: {entry.status}" for entry in entries[-_SAME_ERRORS:]]
    if len(last) == _SAME_ERRORS and len(set(last)) == 1 and entries[-1].status >= 400:
        yield last[0]


def _compare_states(moment: str, state: State, expected: State, unstable: Collection[str]) -> Iterator[Fault]:
    differences = [line for line in compare_states(expected, state) if _field_of(line) not in unstable]
    after = f", after {moment}" if moment else ""
    for line in differences[:_MAX_SHOWN]:
        if line.startswith("-"):
            yield Fault("missing", f"{line[1:]}{after}")
        elif line.startswith("+"):
            yield Fault("leftover", f"{line[1:]}{after}")
        elif ".deletionTimestamp" in _field_of(line):
            yield Fault("terminating", f"{line.partition(' metadata')[0]}{after}")
        else:
            yield Fault("state", f"{line}{after}")


def find_unstable(first: Run, second: Run) -> set[str]:
    """Return the fields in which two reference runs differ."""
    pairs = _pair_states(first, second)
    return {_field_of(line) for _, state, other_state in pairs for line in compare_states(state, other_state)}


def _field_of(line: str) -> str:
    """Return the object and field of a difference, without its values."""
    return line.partition(": ")[0]
