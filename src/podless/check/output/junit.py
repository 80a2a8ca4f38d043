"""JUnit reports: a test suite for each file, with a failure for each error."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

from podless.check.findings import Report, Severity

# characters that XML 1.0 does not allow
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_report(report: Report, reread: Callable[[str], bytes | None], *, color: bool) -> str:
    """Return an XML document. A file without findings is a passed test."""
    root = ElementTree.Element("testsuites", tests=str(max(report.files, 1)), failures=str(report.errors))
    by_file: dict[str, list[ElementTree.Element]] = {}
    for finding in report.findings:
        case = ElementTree.Element(
            "testcase", name=_escape_text(finding.about or finding.rule), classname=_escape_text(finding.file)
        )
        kind = "failure" if finding.severity is Severity.ERROR else "system-out"
        inner = ElementTree.SubElement(case, kind)
        if kind == "failure":
            inner.set("message", _escape_text(": ".join(filter(None, (finding.releases, finding.message)))))
            inner.set("type", finding.rule)
        inner.text = _escape_text(str(finding))
        by_file.setdefault(finding.file, []).append(case)
    for file, cases in by_file.items():
        failures = sum(case.find("failure") is not None for case in cases)
        suite = ElementTree.SubElement(
            root, "testsuite", name=_escape_text(file), tests=str(len(cases)), failures=str(failures)
        )
        suite.extend(cases)
    good = max(report.files - len(by_file), 0)
    suite = ElementTree.SubElement(root, "testsuite", name="without findings", tests=str(good), failures="0")
    for place in range(good):
        ElementTree.SubElement(suite, "testcase", name=f"file {place + 1}", classname="podless.check")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _escape_text(given: str) -> str:
    return _CONTROL.sub("\ufffd", given)
