"""Reports for GitHub Actions: workflow commands that annotate lines in a pull request."""

from __future__ import annotations

from collections.abc import Callable

from podless.check.findings import Report


def render_report(report: Report, reread: Callable[[str], bytes | None], *, color: bool) -> str:
    """Return workflow commands, and the summary."""
    lines = []
    for finding in report.findings:
        where = f"file={_value(finding.file)},line={finding.line},col={finding.column}"
        title = _value(finding.about or finding.rule)
        lines.append(f"::{finding.severity} {where},title={title}::{_escape_text(finding.said)}")
    return "\n".join([*lines, report.summary()]) + "\n"


def _escape_text(given: str) -> str:
    return given.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(given: str) -> str:
    return _escape_text(given).replace(":", "%3A").replace(",", "%2C")
