"""Reports of an exploration as text, JSON, JUnit XML and a web page, and the file that replays a finding."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import orjson

from podless.codec import serializer
from podless.explore.findings import ExplorationReport, ScheduleFinding
from podless.explore.points import LogEntry
from podless.explore.schedule import BadSchedule, Schedule
from podless.explore.states import compare_objects
from podless.runtime.jsonobject import Object

_REPLAY = "podless explore"
_MAX_ENTRIES = 160  # entries of a timeline; the middle of a longer one is left out
_CHANGES = 4  # maximum changed fields of a write
_LEGEND = (
    "Time runs downwards. A bar leads from the write that made an event to the moment when the controller saw the "
    "event; it is orange if a step or a perturbation came in between. #2 is the second write of its kind, and *2 the "
    "second generated name."
)


def write_json(report: ExplorationReport) -> str:
    """Return a report as one JSON object. `schedule` is the content for --replay."""
    fields = {
        "runs": report.runs,
        "seconds": round(report.seconds, 1),
        "seed": report.seed,
        "perturbations": report.points,
        "differs": report.differs,
        "replayed": report.replayed,
        "same": report.same,
        "unused": report.unused,
        "findings": [_describe_finding(finding) for finding in report.findings],
    }
    return orjson.dumps(fields, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _describe_finding(finding: ScheduleFinding) -> Object:
    return {
        "faults": [{"oracle": fault.oracle, "detail": fault.detail} for fault in finding.run.faults],
        "schedule": finding.run.schedule.to_json(),
        "again": finding.again,
        "tries": finding.tries,
        "story": list(finding.story),
        "output": finding.run.output,
    }


def write_junit(report: ExplorationReport) -> str:
    """Return a report as JUnit XML: one test case for each finding, or one that passed."""
    cases = []
    for finding in report.findings:
        title = "; ".join(map(str, finding.run.faults))
        body = html.escape("\n".join(finding.story))
        name = quoteattr(str(finding.run.schedule))
        cases.append(f"<testcase name={name}><failure message={quoteattr(title)}>{body}</failure></testcase>")
    cases = cases or ['<testcase name="all schedules"/>']
    counts = f'tests="{len(cases)}" failures="{len(report.findings)}" time="{report.seconds:.1f}"'
    return f'<?xml version="1.0"?>\n<testsuite name="podless explore" {counts}>{"".join(cases)}</testsuite>\n'


def write_replay(finding: ScheduleFinding) -> bytes:
    """Return a replay file for `read_replay`: the schedule of a finding, as YAML."""
    fields = {"by": _REPLAY, "found": [str(fault) for fault in finding.run.faults]}
    return serializer.encode_yaml({**fields, "schedule": finding.run.schedule.to_json()})


def read_replay(raw: bytes) -> Schedule:
    """Read the schedule in a replay file. Raises BadSchedule."""
    try:
        document = serializer.decode_yaml(raw)
    except serializer.YAMLError as error:
        raise BadSchedule(str(error)) from None
    if not isinstance(document, dict) or not isinstance(document.get("schedule"), list):
        raise BadSchedule("a replay file needs a list named schedule; write one with --save")
    return Schedule.from_json(document["schedule"])


def write_page(report: ExplorationReport) -> str:
    """Return the report as one page without scripts and external resources.

    Each finding has a timeline with lanes for the user, podless, each watch, and writes. Time runs downwards. In the
    lane of a watch, a bar leads from the write that made an event to the moment when the client saw it, so late events
    are long bars.
    """
    parts = [f'<h1>podless explore</h1><p class="soft">{html.escape(report.summary)}</p>']
    if report.differs:
        parts.append(f"<p>Two runs of the same schedule differ: <code>{html.escape(report.differs)}</code></p>")
    if report.passed:
        parts.append('<section class="card"><h2>Nothing was found</h2>All runs ended as the reference run.</section>')
    for number, finding in enumerate(report.findings, 1):
        parts += ['<section class="card">', *_write_finding(number, finding), "</section>"]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>podless explore</title>'
    style = Path(__file__).with_name("report.css").read_text()
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>\n{style}</style></head>'
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _write_finding(number: int, finding: ScheduleFinding) -> Iterator[str]:
    run = finding.run
    yield f'<h2>Finding {number}</h2><ul class="wrongs">'
    yield from (f"<li>{html.escape(str(fault))}</li>" for fault in run.faults)
    yield "</ul><h3>Schedule</h3>"
    yield from (f'<span class="chip">{html.escape(str(perturbation))}</span>' for perturbation in run.schedule)
    if not run.schedule:
        yield "Nothing is perturbed."
    if finding.tries:
        yield f'<p class="soft">This schedule failed again in {finding.again} of {finding.tries} runs.</p>'
    yield f'<h3>Story</h3><p class="soft">{_LEGEND}</p>'
    yield from _write_lanes(run.entries)
    if run.output:
        yield f"<details><summary>Output of the controller</summary><pre>{html.escape(run.output)}</pre></details>"


def _write_lanes(entries: Sequence[LogEntry]) -> Iterator[str]:
    """Yield the grid: a first row with the names of the lanes, and a row for each entry."""
    shown_entries = [entry for entry in entries if entry.kind != "read" or entry.status >= 400]
    if len(shown_entries) > _MAX_ENTRIES:
        shown_entries = [*shown_entries[: _MAX_ENTRIES // 2], *shown_entries[-_MAX_ENTRIES // 2 :]]
    watches = sorted({(entry.client, entry.resource) for entry in shown_entries if entry.kind == "event"})
    clients = sorted({entry.client for entry in shown_entries if entry.client})
    lanes = ["user", "podless", *(f"{client} sees {resource}" for client, resource in watches)]
    lanes += [f"{client} writes" for client in clients]
    widths = ["minmax(8rem, 1fr)", "minmax(10rem, 1.2fr)", *["minmax(8rem, 1fr)"] * len(watches)]
    widths += ["minmax(16rem, 2fr)"] * len(clients)
    yield f'<div class="lanes" style="grid-template-columns: {" ".join(widths)}">'
    yield from (_write_cell(1, column_, "head", html.escape(lane)) for column_, lane in enumerate(lanes, 1))
    for row, entry in enumerate(shown_entries, 2):
        if entry.kind == "user":
            yield f'<div class="step" style="grid-row: {row}"></div>'
        if entry.kind == "event":
            column = 3 + watches.index((entry.client, entry.resource))
            yield _write_bar(shown_entries, row, column)
            words = entry.text.rpartition(" ")
            yield _write_cell(
                row, column, "see", f"{html.escape(words[0].rpartition(' ')[2])} <b>{html.escape(words[2])}</b>"
            )
        elif entry.kind in ("user", "fault", "process"):
            column = 1 if entry.kind == "user" else 2
            yield _write_cell(row, column, "user" if entry.kind == "user" else "fault", html.escape(entry.text))
        else:
            yield _write_cell(row, 3 + len(watches) + clients.index(entry.client), entry.kind, _write_request(entry))
    yield "</div>"


def _write_bar(entries: Sequence[LogEntry], row: int, column: int) -> str:
    """Return the bar from the cause of an event to the event in a row."""
    event = entries[row - 2]
    earlier = [(cause, entry) for cause, entry in enumerate(entries[: row - 2], 2) if entry.kind in ("user", "write")]
    causes = [cause for cause, entry in earlier if entry.revision < event.revision]
    first = causes[-1] if causes else row
    was_held = row - first > 2 and any(
        entry.kind in ("fault", "process", "user") for entry in entries[first - 1 : row - 2]
    )
    return f'<div class="bar{" late" if was_held else ""}" style="grid-area: {first} / {column} / {row + 1}"></div>'


def _write_request(entry: LogEntry) -> str:
    """Return a request without its client, with an error answer, and with its changes."""
    text = html.escape(entry.text.removeprefix(f"{entry.client} "))
    if entry.status >= 400 or not entry.status:
        return f'<b>{text}</b> <span class="refused">{entry.status or "no answer"}</span>'
    lines = compare_objects(entry.before, entry.after) if entry.before and entry.after else []
    changes = "".join(f"<small>{html.escape(line)}</small>" for line in lines[:_CHANGES])
    return f"<b>{text}</b>{changes}"


def _write_cell(row: int, column: int, look: str, content: str) -> str:
    return f'<div class="{look}" style="grid-area: {row} / {column}">{content}</div>'


WRITERS: Mapping[str, Callable[[ExplorationReport], str]] = {
    "text": "{}\n".format,
    "json": write_json,
    "junit": write_junit,
    "html": write_page,
}
