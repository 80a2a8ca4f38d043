"""Reports how another Kubernetes release handles manifests differently."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podless.apis import features
from podless.check.catalog import Catalog
from podless.check.documents import Strictness
from podless.check.findings import Finding, Report, Severity
from podless.check.run import CheckOptions, check_files
from podless.check.sources import SourceFile
from podless.meta import gvk
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.option import StartError

NOTE = "note"  # the severity of new possibilities
_UNSERVED = re.compile(r'no matches for kind "(.*)" in version "(.*)"')


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
    new, text = finding.releases == after, ": ".join(filter(None, (finding.path, finding.message)))
    if finding.rule == "UnknownKind":
        if not new:
            return NOTE, f"{after} serves it"
        return Severity.ERROR, f"{after} does not serve it: {_find_replacement(finding, catalog)}"
    if finding.rule == "UnknownField":
        return (Severity.ERROR, f"{after} drops it: {text}") if new else (NOTE, f"{after} accepts it: no longer {text}")
    if finding.rule == "DroppedField":
        lost = finding.path
        if not new:
            return NOTE, f"{after} keeps {lost}: no longer silently dropped"
        return Severity.ERROR, f"{after} silently drops {lost}"
    if finding.severity is Severity.WARNING:
        return (Severity.WARNING, f"{after} warns: {text}") if new else (NOTE, f"{after} no longer warns: {text}")
    return (Severity.ERROR, f"{after} rejects it: {text}") if new else (NOTE, f"{after} accepts it: no longer {text}")


def _find_replacement(finding: Finding, catalog: Catalog) -> str:
    """Return the replacement for a removed API."""
    named = _UNSERVED.search(finding.message)
    assert named is not None
    group = named[2].rpartition("/")[0]
    versions = catalog.list_versions(group, named[1])
    if not versions:
        return "nothing replaces it in its API group"
    return f"use {gvk.GroupVersion(group, versions[0])}"
