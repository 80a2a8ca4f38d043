"""Reports as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from podless.check.findings import Finding, Report


def render_report(report: Report, reread: Callable[[str], bytes | None], *, color: bool) -> str:
    """Return the findings and the counts."""
    whole = {
        "findings": [_finding(finding) for finding in report.findings],
        "files": report.files,
        "objects": report.objects,
        "definitions": report.definitions,
        "skipped": report.skipped,
        "errors": report.errors,
        "warnings": report.warnings,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    found = asdict(finding)
    if not finding.releases:
        del found["releases"]
    return found
