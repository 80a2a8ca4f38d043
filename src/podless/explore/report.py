"""Reports of an exploration as text, JSON and JUnit XML, and the file that replays a finding."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from xml.sax.saxutils import quoteattr

import orjson

from podless.codec import serializer
from podless.explore.findings import ExplorationReport, ScheduleFinding
from podless.explore.page import write_page
from podless.explore.schedule import BadSchedule, Schedule
from podless.runtime.jsonobject import Object

_REPLAY = "podless explore"


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


WRITERS: Mapping[str, Callable[[ExplorationReport], str]] = {
    "text": "{}\n".format,
    "json": write_json,
    "junit": write_junit,
    "html": write_page,
}


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
