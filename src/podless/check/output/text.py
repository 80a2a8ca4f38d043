"""Reports for terminals: a line for each finding; with colours also the line of the file, and a caret."""

from __future__ import annotations

from collections.abc import Callable

from podless.check.findings import Finding, Report, Severity

_RED, _YELLOW, _BOLD, _GREY, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_WIDEST = 160  # characters of a file's line that are shown


def render_report(report: Report, reread: Callable[[str], bytes | None], *, color: bool) -> str:
    """Return the findings and the summary."""
    lines, kept = [], ("", list[str]())
    for finding in report.findings:
        if not color:
            lines.append(str(finding))
            continue
        if kept[0] != finding.file:
            raw = reread(finding.file)
            kept = finding.file, raw.decode("utf-8", "replace").split("\n") if raw is not None else []
        lines += _shown(finding, kept[1])
    summary = report.summary()
    lines.append(f"{_BOLD}{summary}{_PLAIN}" if color else summary)
    return "\n".join(lines) + "\n"


def _shown(finding: Finding, lines: list[str]) -> list[str]:
    tone = _RED if finding.severity is Severity.ERROR else _YELLOW
    head = f"{_BOLD}{finding.file}:{finding.line}:{finding.column}:{_PLAIN} {tone}{finding.severity}:{_PLAIN} "
    head += finding.said
    if finding.about:
        head += f" {_GREY}({finding.about}){_PLAIN}"
    if not 0 < finding.line <= len(lines):
        return [head]
    line, column = lines[finding.line - 1].rstrip("\r"), finding.column - 1
    start = max(0, column - _WIDEST // 2)
    blank = "".join("\t" if letter == "\t" else " " for letter in line[start:column])
    number = f"{finding.line:>5} | "
    return [
        head,
        f"{_GREY}{number}{_PLAIN}{line[start : start + _WIDEST]}",
        f"{' ' * len(number)}{blank}{tone}^{_PLAIN}",
    ]
