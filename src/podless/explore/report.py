"""What an exploration found, as text, JSON, JUnit XML or a web page; and the file that replays it."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from xml.sax.saxutils import quoteattr

import orjson

from podless.codec import serializer
from podless.explore.findings import Finding, Report
from podless.explore.schedule import BadSchedule, Schedule
from podless.runtime.jsonobject import Object

_REPLAY = "podless explore"


def write_text(report: Report) -> str:
    """Return a report for a terminal."""
    return f"{report}\n"


def write_json(report: Report) -> str:
    """Return a report as one JSON object. `schedule` is what --replay takes."""
    found = {
        "runs": report.runs,
        "seconds": round(report.seconds, 1),
        "seed": report.seed,
        "perturbations": report.points,
        "differs": report.differs,
        "findings": [_describe(one) for one in report.findings],
    }
    return orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _describe(finding: Finding) -> Object:
    return {
        "faults": [{"oracle": one.oracle, "detail": one.detail} for one in finding.run.faults],
        "schedule": finding.run.schedule.to_json(),
        "again": finding.again,
        "tries": finding.tries,
        "story": list(finding.story),
        "output": finding.run.output,
    }


def write_junit(report: Report) -> str:
    """Return a report as JUnit XML: one test case a finding, or one that passed."""
    cases = []
    for finding in report.findings:
        title = "; ".join(map(str, finding.run.faults))
        body = html.escape("\n".join(finding.story))
        name = quoteattr(str(finding.run.schedule))
        cases.append(f"<testcase name={name}><failure message={quoteattr(title)}>{body}</failure></testcase>")
    cases = cases or ['<testcase name="all schedules"/>']
    counts = f'tests="{len(cases)}" failures="{len(report.findings)}" time="{report.seconds:.1f}"'
    return f'<?xml version="1.0"?>\n<testsuite name="podless explore" {counts}>{"".join(cases)}</testsuite>\n'


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font: 13px/1.5 ui-monospace, monospace; }
td, th { text-align: left; vertical-align: top; padding: 1px 8px; border-bottom: 1px solid #8883; }
.fault { background: #e6a7001a; } .wrong { background: #d000201a; } .write { font-weight: 600; }
"""
_CLASSES = {"!": "fault", "x": "wrong", "*": "write"}


def write_html(report: Report) -> str:
    """Return a report as one page: for each finding a timeline with a column for the user, clients and podless."""
    parts = [f"<p>{html.escape(report.summary)}</p>"]
    for number, finding in enumerate(report.findings, 1):
        parts.append(f"<h2>Finding {number}</h2><ul>")
        parts += [f"<li>{html.escape(str(fault))}</li>" for fault in finding.run.faults]
        parts.append(f"</ul><p>Schedule: {html.escape(str(finding.run.schedule))}</p><table>")
        parts.append("<tr><th>user</th><th>podless</th><th>controller sees</th><th>controller writes</th></tr>")
        parts += map(_write_row, finding.story)
        parts.append("</table>")
    title = "podless explore"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f"{head}<h1>{title}</h1>{''.join(parts)}</html>\n"


def _write_row(line: str) -> str:
    """Return the row of a line of a story, in the column of whoever acts."""
    column = {">": 0, "!": 1, "x": 1, "*": 3}.get(line[:1], 3 if line.startswith("    ") else 2)
    cells = ["<td></td>"] * 4
    cells[column] = f"<td>{html.escape(line.lstrip('>!x* '))}</td>"
    return f'<tr class="{_CLASSES.get(line[:1], "")}">{"".join(cells)}</tr>'


WRITERS: Mapping[str, Callable[[Report], str]] = {
    "text": write_text,
    "json": write_json,
    "junit": write_junit,
    "html": write_html,
}


def write_replay(finding: Finding) -> bytes:
    """Return a file that `read_replay` reads: the schedule of a finding, as YAML."""
    found = {"by": _REPLAY, "found": [str(fault) for fault in finding.run.faults]}
    return serializer.encode_yaml({**found, "schedule": finding.run.schedule.to_json()})


def read_replay(raw: bytes) -> Schedule:
    """Read the schedule in a replay file. Raises BadSchedule."""
    try:
        given = serializer.decode_yaml(raw)
    except serializer.YAMLError as error:
        raise BadSchedule(str(error)) from None
    if not isinstance(given, dict) or not isinstance(given.get("schedule"), list):
        raise BadSchedule("a replay file is an object with a list named schedule")
    return Schedule.from_json(given["schedule"])
