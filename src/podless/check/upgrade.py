"""Reports what happens to objects with other definitions, or with another Kubernetes release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from podless.apis import features
from podless.check.catalog import Catalog
from podless.check.documents import WARN, DocumentChecker, Strictness
from podless.check.findings import Finding, Report, Severity
from podless.check.run import CheckOptions, check_files
from podless.check.sources import SourceFile
from podless.codec.documents import split_documents
from podless.meta import gvk
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.option import StartError

NOTE = "note"  # the severity of new possibilities
_UNSERVED = re.compile(r'no matches for kind "(.*)" in version "(.*)"')
# by rule, or else severity: the text of a finding that only the other release has, and of one that it no longer has
_TEXTS = {
    "UnknownKind": ("{after} does not serve it: {text}", "{after} serves it"),
    "UnknownField": ("{after} drops it: {text}", "{after} accepts it: no longer {text}"),
    "DroppedField": ("{after} silently drops {path}", "{after} keeps {path}: no longer silently dropped"),
    Severity.WARNING: ("{after} warns: {text}", "{after} no longer warns: {text}"),
    Severity.ERROR: ("{after} rejects it: {text}", "{after} accepts it: no longer {text}"),
}
_MAX_SHOWN = 5  # maximum number of objects to name


@dataclass(frozen=True, slots=True)
class UpgradeChange:
    """One difference in the other release.

    severity: error if the release rejects the object or drops a field; else warning or NOTE. about: the object. what:
    the change.
    """

    file: str
    line: int
    column: int
    severity: str
    about: str
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.about}: {self.what}"


def choose_pair(text: str) -> tuple[str, str]:
    """Split BEFORE,AFTER into the two releases. Raises StartError."""
    names = [features.choose_release(name.strip()).name for name in text.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise StartError("kubernetes-version: name the release before and the one after, with a comma between")
    return names[0], names[1]


def compare_releases(
    sources: Sequence[SourceFile], before: str, after: str, definitions: Sequence[Object] = ()
) -> tuple[list[UpgradeChange], Report]:
    """Return the changes for the manifests in files, and the report that they come from. Raises CannotCheck.

    before, after: names of releases. definitions: v1 CustomResourceDefinitions for the objects.
    """
    releases = [release.name for release in features.choose_all(f"{before},{after}")]
    options = CheckOptions(rules=Strictness(dropped=True), definitions=definitions, releases=releases)
    report = check_files(sources, options=options)
    return [*_list_changes(report.findings, after, Catalog(release=features.choose_release(after)))], report


def _list_changes(findings: Sequence[Finding], after: str, catalog: Catalog) -> Iterator[UpgradeChange]:
    """Yield a change for each finding of only one release. A different text for the same finding is no change."""
    alone = [
        finding for finding in findings if not {",", "-"}.intersection(finding.releases) and finding.rule != "Unchecked"
    ]
    unknown = {_get_position(finding) for finding in alone if finding.rule == "UnknownField"}
    alone = [finding for finding in alone if finding.rule != "DroppedField" or _get_position(finding) not in unknown]
    known_changes = {(_make_key(finding), finding.releases) for finding in alone}
    for finding in alone:
        other_releases = {releases for key, releases in known_changes if key == _make_key(finding)}
        if len(other_releases) == 1:
            severity, text = _describe_change(finding, after, catalog)
            subject = finding.about or finding.rule
            yield UpgradeChange(finding.file, finding.line, finding.column, severity, subject, finding.path, text)


def _get_position(finding: Finding) -> tuple[str, int, int]:
    return finding.file, finding.line, finding.column


def _make_key(finding: Finding) -> tuple[object, ...]:
    # several warnings about an object can have the same position
    message = finding.message if finding.rule == "Warning" else ""
    return *_get_position(finding), finding.path, finding.rule, message


def _describe_change(finding: Finding, after: str, catalog: Catalog) -> tuple[str, str]:
    """Return the severity of a change, and its text."""
    is_new = finding.releases == after
    rule = finding.rule if finding.rule in _TEXTS else finding.severity
    values = {"after": after, "path": finding.path, "text": ": ".join(filter(None, (finding.path, finding.message)))}
    if rule == "UnknownKind" and is_new:
        values["text"] = _find_replacement(finding, catalog)
    text = _TEXTS[rule][0 if is_new else 1].format(**values)
    severity = Severity.WARNING if rule == Severity.WARNING else Severity.ERROR
    return severity if is_new else NOTE, text


def _find_replacement(finding: Finding, catalog: Catalog) -> str:
    """Return the replacement for a removed API."""
    named = _UNSERVED.search(finding.message)
    assert named is not None
    group = named[2].rpartition("/")[0]
    versions = catalog.list_versions(group, named[1])
    if not versions:
        return "nothing replaces it in its API group"
    return f"use {gvk.GroupVersion(group, versions[0])}"


@dataclass(slots=True)
class DefinitionTrial:
    """The result for the objects of one kind. refused: number that only the old definition accepts.

    pruned: number that would lose a field. examples: findings about the first few.
    """

    kind: str
    objects: int = 0
    refused: int = 0
    pruned: int = 0
    examples: list[str] = field(default_factory=list)

    def count_object(self, label: str, old_findings: Sequence[Finding], new_findings: Sequence[Finding]) -> None:
        """Count one object. old_findings, new_findings: its findings with the old and the new definition."""
        known = {(finding.rule, finding.said) for finding in old_findings}
        new_only = [finding for finding in new_findings if (finding.rule, finding.said) not in known]
        self.objects += 1
        self.refused += any(finding.severity is Severity.ERROR for finding in new_only)
        self.pruned += any(finding.rule == "UnknownField" for finding in new_only)
        self.examples += [f"{label}: {finding.said}" for finding in new_only][: _MAX_SHOWN - len(self.examples)]

    def __str__(self) -> str:
        counts = f"{self.refused} would be rejected, {self.pruned} would lose fields"
        return "\n  ".join([f"{self.kind}: of {self.objects} objects {counts}", *self.examples])


def try_objects(old: Sequence[Object], new: Sequence[Object], sources: Sequence[SourceFile]) -> list[DefinitionTrial]:
    """Check the objects in files with the old and the new definitions of their kinds. Raises CannotCheck."""
    before, after = (DocumentChecker(Catalog((), definitions), Strictness(WARN)) for definitions in (old, new))
    kinds = {(definition["spec"]["group"], definition["spec"]["names"]["kind"]) for definition in old}
    trials: dict[str, DefinitionTrial] = {}
    for source in sources:
        for document in split_documents(source.name, source.read()):
            judged = before.check_document(document, definitions=False)
            old_findings = _group_by_object(judged.report.findings)
            new_findings = _group_by_object(after.check_document(document, definitions=False).report.findings)
            for identity, _, _ in judged.objects:
                if (identity.group, identity.kind) in kinds:
                    name, label = f"{identity.kind}.{identity.group}", str(identity)
                    trial = trials.setdefault(name, DefinitionTrial(name))
                    trial.count_object(label, old_findings.get(label, ()), new_findings.get(label, ()))
    return list(trials.values())


def _group_by_object(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    result: dict[str, list[Finding]] = {}
    for finding in findings:
        result.setdefault(finding.about, []).append(finding)
    return result
