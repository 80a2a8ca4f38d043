"""Renders the report of a check: for terminals, as JSON, SARIF 2.1.0 or JUnit, and for GitHub Actions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from urllib.parse import quote

from podless.check.findings import Finding, Report, Severity
from podless.version import __version__

# returns the text of a file, None if it cannot be read again
Reread = Callable[[str], bytes | None]

_RED, _YELLOW, _BOLD, _GREY, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_MAX_LINE = 160  # characters of a file's line that are shown
# characters that XML 1.0 does not allow
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _render_text(report: Report, reread: Reread, color: bool) -> str:
    """Return a line for each finding; with colours also the line of the file, and a caret."""
    lines, shown_file = [], ("", list[str]())
    for finding in report.findings:
        if not color:
            lines.append(str(finding))
            continue
        if shown_file[0] != finding.file:
            raw = reread(finding.file)
            shown_file = finding.file, raw.decode("utf-8", "replace").split("\n") if raw is not None else []
        lines += _show_finding(finding, shown_file[1])
    summary = report.format_summary()
    lines.append(f"{_BOLD}{summary}{_PLAIN}" if color else summary)
    return "\n".join(lines) + "\n"


def _show_finding(finding: Finding, lines: list[str]) -> list[str]:
    tone = _RED if finding.severity is Severity.ERROR else _YELLOW
    head = f"{_BOLD}{finding.file}:{finding.line}:{finding.column}:{_PLAIN} {tone}{finding.severity}:{_PLAIN} "
    head += finding.said
    if finding.about:
        head += f" {_GREY}({finding.about}){_PLAIN}"
    if not 0 < finding.line <= len(lines):
        return [head]
    line, column = lines[finding.line - 1].rstrip("\r"), finding.column - 1
    start = max(0, column - _MAX_LINE // 2)
    blank = "".join("\t" if letter == "\t" else " " for letter in line[start:column])
    number = f"{finding.line:>5} | "
    return [
        head,
        f"{_GREY}{number}{_PLAIN}{line[start : start + _MAX_LINE]}",
        f"{' ' * len(number)}{blank}{tone}^{_PLAIN}",
    ]


def _render_json(report: Report) -> str:
    document = {
        "findings": [
            {name: value for name, value in asdict(finding).items() if value or name != "releases"}
            for finding in report.findings
        ],
        "files": report.files,
        "objects": report.objects,
        "definitions": report.definitions,
        "skipped": report.skipped,
        "errors": report.errors,
        "warnings": report.warnings,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _render_sarif(report: Report) -> str:
    """Return a run with a result for each finding."""
    rules = sorted({finding.rule for finding in report.findings})
    driver = {"name": "podless", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_make_result(finding, rules.index(finding.rule)) for finding in report.findings],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _make_result(finding: Finding, rule: int) -> dict[str, object]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    location = {"artifactLocation": {"uri": quote(finding.file)}, "region": region}
    properties = {"properties": {"releases": finding.releases}} if finding.releases else {}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": str(finding.severity),
        "message": {"text": finding.said},
        "locations": [{"physicalLocation": location}],
        **properties,
    }


def _render_junit(report: Report) -> str:
    """Return a test suite for each file, with a failure for each error. A file without findings is a passed test."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", tests=str(max(report.files, 1)), failures=str(report.errors))
    by_file: dict[str, list[ElementTree.Element]] = {}
    for finding in report.findings:
        case = ElementTree.Element(
            "testcase", name=_escape_xml(finding.about or finding.rule), classname=_escape_xml(finding.file)
        )
        kind = "failure" if finding.severity is Severity.ERROR else "system-out"
        element = ElementTree.SubElement(case, kind)
        if kind == "failure":
            element.set("message", _escape_xml(": ".join(filter(None, (finding.releases, finding.message)))))
            element.set("type", finding.rule)
        element.text = _escape_xml(str(finding))
        by_file.setdefault(finding.file, []).append(case)
    for file, cases in by_file.items():
        failures = sum(case.find("failure") is not None for case in cases)
        suite = ElementTree.SubElement(
            root, "testsuite", name=_escape_xml(file), tests=str(len(cases)), failures=str(failures)
        )
        suite.extend(cases)
    passed = max(report.files - len(by_file), 0)
    suite = ElementTree.SubElement(root, "testsuite", name="without findings", tests=str(passed), failures="0")
    for index in range(passed):
        ElementTree.SubElement(suite, "testcase", name=f"file {index + 1}", classname="podless.check")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _escape_xml(text: str) -> str:
    return _CONTROL.sub("\ufffd", text)


def _render_commands(report: Report) -> str:
    """Return workflow commands that annotate lines in a pull request, and the summary."""
    lines = [
        format_command(
            finding.severity, finding.about or finding.rule, finding.said, (finding.file, finding.line, finding.column)
        )
        for finding in report.findings
    ]
    return "\n".join([*lines, report.format_summary()]) + "\n"


def format_command(level: str, title: str, text: str, position: tuple[str, int, int] = ("", 0, 0)) -> str:
    """Return a workflow command of GitHub Actions. position: file, line and column that it annotates."""
    file, line, column = position
    location = f"file={_escape_property(file)},line={line},col={column}," if file else ""
    return f"::{level} {location}title={_escape_property(title)}::{_escape_command(text)}"


def _escape_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_command(text).replace(":", "%3A").replace(",", "%2C")


_RENDERERS = {"json": _render_json, "sarif": _render_sarif, "junit": _render_junit, "github": _render_commands}
FORMS = ("text", *_RENDERERS)


def render_report(report: Report, form: str, reread: Reread, *, color: bool = False) -> str:
    """Return the report in one of FORMS, ending with a line break; "" if there is nothing to report."""
    return _RENDERERS[form](report) if form in _RENDERERS else _render_text(report, reread, color)
