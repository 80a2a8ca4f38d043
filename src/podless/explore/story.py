"""Writes a run as a story: the user's steps, what the controller saw and wrote, and the perturbations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from podless.explore.findings import Run
from podless.explore.points import LogEntry
from podless.explore.states import compare_objects
from podless.runtime.jsonobject import Object

_MARKS = {"fault": "!", "process": "!", "user": ">", "write": "*", "event": " ", "read": " "}
_MAX_LINES = 80  # lines of a story; the middle of a longer one is left out
_MAX_EQUAL_LINES = 4  # how often the story shows equal lines
_MARKED = ">!"  # first characters of lines that are never left out
_NUMBER = re.compile(r" #\d+|(?<=\*)\d+")  # the number of a write, and of a generated name
_CHANGES = 4  # maximum changed fields of a write


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
    """Yield the fields that a write changed."""
    if before is None or after is None:
        return
    lines = compare_objects(before, after)
    yield from lines[:_CHANGES]
    if len(lines) > _CHANGES:
        yield f"and {len(lines) - _CHANGES} more fields"
