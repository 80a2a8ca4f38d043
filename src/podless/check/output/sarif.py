"""SARIF 2.1.0 reports, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from podless.check.findings import Finding, Report
from podless.version import __version__


def render_report(report: Report, reread: Callable[[str], bytes | None], *, color: bool) -> str:
    """Return a run with a result for each finding."""
    rules = sorted({finding.rule for finding in report.findings})
    driver = {"name": "podless", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.rule)) for finding in report.findings],
    }
    whole = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _result(finding: Finding, rule: int) -> dict[str, object]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    place = {"artifactLocation": {"uri": quote(finding.file)}, "region": region}
    properties = {"properties": {"releases": finding.releases}} if finding.releases else {}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": str(finding.severity),
        "message": {"text": finding.said},
        "locations": [{"physicalLocation": place}],
        **properties,
    }
