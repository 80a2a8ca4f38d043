"""Tries existing objects with new definitions: how many would be rejected, and how many would lose fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from podless.check.catalog import Catalog
from podless.check.documents import WARN, DocumentChecker, Strictness
from podless.check.findings import Finding, Severity
from podless.check.sources import SourceFile
from podless.codec.documents import split_documents
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_MAX_SHOWN = 5  # maximum number of objects to name


@dataclass(frozen=True, slots=True)
class DefinitionTrial:
    """The result for the objects of one kind. refused: number that only the old definition accepts.

    pruned: number that would lose a field. examples: findings about the first few.
    """

    kind: str
    objects: int
    refused: int
    pruned: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        text = (
            f"{self.kind}: of {self.objects} objects {self.refused} would be rejected, {self.pruned} would lose fields"
        )
        return "\n".join([text, *(f"  {example}" for example in self.examples)])


def try_objects(old: Sequence[Object], new: Sequence[Object], sources: Sequence[SourceFile]) -> list[DefinitionTrial]:
    """Check the objects in files with the old and the new definitions of their kinds. Raises CannotCheck."""
    before, after = (DocumentChecker(Catalog((), definitions), Strictness(WARN)) for definitions in (old, new))
    kinds = {(definition["spec"]["group"], definition["spec"]["names"]["kind"]) for definition in old}
    counts: dict[str, _Count] = {}
    for source in sources:
        for document in split_documents(source.name, source.read()):
            judged = before.check_document(document, definitions=False)
            old_findings = _by_object(judged.report.findings)
            now = _by_object(after.check_document(document, definitions=False).report.findings)
            for identity, _, _ in judged.objects:
                if (identity.group, identity.kind) in kinds:
                    count = counts.setdefault(f"{identity.kind}.{identity.group}", _Count())
                    object_text = str(identity)
                    count.count_object(object_text, old_findings.get(object_text, []), now.get(object_text, []))
    return [
        DefinitionTrial(name, count.objects, count.refused, count.pruned, tuple(count.examples))
        for name, count in counts.items()
    ]


@dataclass(slots=True)
class _Count:
    """The counts for the objects of one kind."""

    objects: int = 0
    refused: int = 0
    pruned: int = 0
    examples: list[str] = field(default_factory=list)

    def count_object(self, object_text: str, old_findings: list[Finding], new_findings: list[Finding]) -> None:
        """Count one object. old_findings, new_findings: its findings with the old and the new definition."""
        old_keys = set(map(_make_key, old_findings))
        new_only = [finding for finding in new_findings if _make_key(finding) not in old_keys]
        self.objects += 1
        self.refused += any(finding.severity is Severity.ERROR for finding in new_only)
        self.pruned += any(finding.rule == "UnknownField" for finding in new_only)
        self.examples += [f"{object_text}: {finding.said}" for finding in new_only][: _MAX_SHOWN - len(self.examples)]


def _by_object(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    result: dict[str, list[Finding]] = {}
    for finding in findings:
        result.setdefault(finding.about, []).append(finding)
    return result


def _make_key(finding: Finding) -> tuple[str, str, str]:
    return finding.path, finding.message, finding.rule
