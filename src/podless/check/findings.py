"""Findings: position, severity, and the server's message.

Positions are found by parsing a document with findings a second time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property

from podless.codec.documents import Document
from podless.codec.jsontext import JSONError, YAMLError
from podless.codec.positions import Located, Position, locate_json, locate_yaml
from podless.meta.field import At, parse_path
from podless.runtime.dataclass import dataclass
from podless.runtime.messages import format_count
from podless.runtime.release import describe_span

_LINE = re.compile(r"yaml: line (\d{1,9})")
_START = Position(1, 1)


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


class PositionFinder:
    """The positions in one document, as line and column of its file."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @cached_property
    def _located_parts(self) -> Located | None:
        raw = self._document.raw
        try:
            return next(locate_yaml(raw), None) if self._document.yaml else locate_json(raw)
        except (YAMLError, JSONError):
            return None

    def find_value(self, at: At) -> Position:
        """Return the position of a field's value. If it starts on a later line or is missing: of the nearest key."""
        path = parse_path(at) if isinstance(at, str) else tuple(at)
        located = self._located_parts
        if located is None:
            return self._shift_position(_START)
        value_position, key_position = located.values.get(path), located.keys.get(path)
        if value_position is not None and (key_position is None or key_position.line == value_position.line):
            return self._shift_position(value_position)
        if key_position is not None:
            return self._shift_position(key_position)
        return self.find_key(path[:-1])

    def find_key(self, at: At) -> Position:
        """Return the position of a field's key, or of the nearest enclosing field that exists."""
        path = parse_path(at) if isinstance(at, str) else tuple(at)
        located = self._located_parts
        if located is not None:
            for end in range(len(path), -1, -1):
                position = located.keys.get(path[:end]) or located.values.get(path[:end])
                if position is not None:
                    return self._shift_position(position)
        return self._shift_position(_START)

    def find_fault(self, message: str) -> Position:
        """Return the position of a syntax error, from its message."""
        if self._document.yaml:
            match = _LINE.match(message)
            return self._shift_position(Position(int(match[1]), 1) if match else _START)
        try:
            json.loads(self._document.raw.decode("utf-8", "replace"))
        except json.JSONDecodeError as error:
            return self._shift_position(Position(error.lineno, error.colno))
        except RecursionError:
            pass
        return self._shift_position(_START)

    def _shift_position(self, position: Position) -> Position:
        return Position(position.line + self._document.line, position.column)
