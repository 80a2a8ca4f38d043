"""What is found: where it is, how bad it is, and the server's words for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from podless.runtime.release import describe_span


class Severity(StrEnum):
    """error: the server refuses it. warning: it takes it, and says so."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the server would say.

    file, line, column: where; both numbers from 1, in characters. path: of the field, as spec.ports[0].name, "" for the
    object as a whole. message: without the path. rule: what kind of finding it is, such as the reason of a cause in a
    Status (FieldValueInvalid). about: the object, as Kind namespace/name, "" where it is not known.
    releases: those that it holds for, as a span, "" where only one was asked for.
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
        """The message with the releases and the path before it."""
        return ": ".join(filter(None, (self.releases, self.path, self.message)))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.said}"


def merge_findings(found: Iterable[tuple[Sequence[Finding], Sequence[str]]], among: Sequence[str]) -> list[Finding]:
    """Return the findings of several releases, each once. found: with the releases that they hold for."""
    if len(among) == 1:
        return [finding for findings, _ in found for finding in findings]
    held: dict[Finding, set[str]] = {}
    for findings, names in found:
        for finding in findings:
            held.setdefault(finding, set()).update(names)
    return [replace(finding, releases=describe_span(names, among)) for finding, names in held.items()]


@dataclass(slots=True)
class Report:
    """All that was found, and how much was looked at.

    files, objects, definitions: how many were checked. skipped: objects of kinds that nobody knows, by kind.
    """

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    objects: int = 0
    definitions: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many of the findings the server would refuse something for."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many it would only warn of."""
        return len(self.findings) - self.errors

    def add(self, other: Report) -> None:
        """Takes over what another part of the work found."""
        self.findings += other.findings
        self.files += other.files
        self.objects += other.objects
        self.definitions += other.definitions
        for name, count in other.skipped.items():
            self.skipped[name] = self.skipped.get(name, 0) + count

    def summary(self) -> str:
        """All of it in one line."""
        looked = [_count(self.objects, "object"), _count(self.definitions, "definition")]
        said = f"{' and '.join(looked)} in {_count(self.files, 'file')}: "
        said += ", ".join([_count(self.errors, "error"), _count(self.warnings, "warning")])
        skipped = sum(self.skipped.values())
        return f"{said}, {skipped} skipped ({', '.join(sorted(self.skipped))})" if skipped else said


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
