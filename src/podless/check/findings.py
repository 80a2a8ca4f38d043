"""Findings: position, severity, and the server's message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from enum import StrEnum

from podless.runtime.dataclass import dataclass
from podless.runtime.release import describe_span


class Severity(StrEnum):
    """error: the server would reject the object. warning: it would accept the object, with a warning."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One message of the server.

    file, line, column: position; line and column count from 1, in characters. path: of the field, such as
    spec.ports[0].name, "" for the whole object. message: without the path. rule: the kind of finding, such as the
    reason of a cause in a Status (FieldValueInvalid). about: the object, as Kind namespace/name, "" if unknown.
    releases: a range of releases that have the finding, "" if only one was checked.
    """

    file: str
    line: int
    column: int
    severity: Severity
    path: str
    message: str
    rule: str
    about: str = ""
    releases: str = ""

    @property
    def said(self) -> str:
        """The message, preceded by releases and path."""
        return ": ".join(filter(None, (self.releases, self.path, self.message)))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.said}"


def merge_findings(outcomes: Iterable[tuple[Sequence[Finding], Sequence[str]]], among: Sequence[str]) -> list[Finding]:
    """Merge equal findings of several releases. outcomes: findings with their releases."""
    if len(among) == 1:
        return [finding for findings, _ in outcomes for finding in findings]
    releases_by_finding: dict[Finding, set[str]] = {}
    for findings, names in outcomes:
        for finding in findings:
            releases_by_finding.setdefault(finding, set()).update(names)
    return [replace(finding, releases=describe_span(names, among)) for finding, names in releases_by_finding.items()]


@dataclass(slots=True)
class Report:
    """All findings, and counts.

    files, objects, definitions: how many were checked. skipped: number of objects of unknown kinds, by kind.
    """

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    objects: int = 0
    definitions: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """Number of errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """Number of warnings."""
        return len(self.findings) - self.errors

    def add_report(self, other: Report) -> None:
        """Add the report of another part of the check."""
        self.findings += other.findings
        self.files += other.files
        self.objects += other.objects
        self.definitions += other.definitions
        for name, count in other.skipped.items():
            self.skipped[name] = self.skipped.get(name, 0) + count

    def format_summary(self) -> str:
        """Return the summary in one line."""
        looked = [format_count(self.objects, "object"), format_count(self.definitions, "definition")]
        summary = f"{' and '.join(looked)} in {format_count(self.files, 'file')}: "
        summary += ", ".join([format_count(self.errors, "error"), format_count(self.warnings, "warning")])
        skipped = sum(self.skipped.values())
        return f"{summary}, {skipped} skipped ({', '.join(sorted(self.skipped))})" if skipped else summary


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, plural unless it is 1."""
    return f"{number} {noun}{'s' * (number != 1)}"
