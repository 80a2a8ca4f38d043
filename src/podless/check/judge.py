"""Checks one document with the server's own code, and maps messages to positions in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podless.apis import offline
from podless.apis.apiextensions import definition
from podless.apis.offline import Checked
from podless.check.catalog import DEFINITION, Catalog
from podless.check.findings import Finding, Report, Severity
from podless.check.places import Places
from podless.codec import serializer
from podless.codec.documents import Document
from podless.codec.jsontext import JSONError
from podless.codec.positions import Position
from podless.codec.serializer import Floats, ParsedJSON
from podless.kinds import typemeta
from podless.kinds.kind import Kind, Version
from podless.meta import field as field_
from podless.meta import gvk
from podless.meta.errors import Internal
from podless.meta.field import At, Path, format_path
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import NEWEST, Release, ReleaseRecorder
from podless.schema import formats
from podless.structs.gated import find_dates
from podless.structs.structs import Struct

STRICT, WARN, IGNORE = VALIDATIONS = ("strict", "warn", "ignore")
# the path of a field in a decoding error
_FIELD = re.compile(r"Go struct field [^\s.]++\.(\S++) of type")
_QUOTED = re.compile(r'(?:unknown|duplicate) field "((?:[^"\\]++|\\.)*+)"$')
_REPEATED = re.compile(r"line (\d{1,9}): key ")


class ObjectIdentity(NamedTuple):
    """The identity of an object in any version: group, kind, namespace ("" if none is given) and name."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


class DocumentPart(NamedTuple):
    """One object of a document. at: its path in the document. floats: whole numbers that are written as floats."""

    value: Any
    at: Path
    floats: Floats


@dataclass(frozen=True, slots=True)
class Strictness:
    """How strict a check is.

    validation: strict, warn or ignore, for unknown fields. ignore_unknown: skip objects of unknown kinds. dropped: also
    report fields that a server drops silently, such as those whose feature gate is off.
    """

    validation: str = STRICT
    ignore_unknown: bool = False
    dropped: bool = False


class KnownObject(NamedTuple):
    """An object that was decoded. at: its path in the document."""

    identity: ObjectIdentity
    obj: Object
    at: Path


@dataclass(slots=True)
class Outcome:
    """The result for one document.

    definitions: the valid ones, as stored. unsound: groups and kinds of invalid ones. objects: all decoded objects,
    including definitions. mixed: the document has definitions and other objects, and only one of the two was checked.
    looked: the kinds that were looked up; for an unknown one whether its definition is invalid. notes: what else in the
    release the result depends on. texts: objects of built-in kinds with their structs, whose fields are not in the
    notes yet.
    """

    report: Report = field(default_factory=Report)
    definitions: list[Object] = field(default_factory=list)
    unsound: set[tuple[str, str]] = field(default_factory=set)
    objects: list[KnownObject] = field(default_factory=list)
    mixed: bool = False
    looked: dict[tuple[str, str, str], tuple[Kind, Version] | bool] = field(default_factory=dict)
    notes: ReleaseRecorder = field(default_factory=lambda: ReleaseRecorder(NEWEST))
    texts: list[tuple[Struct, bytes]] = field(default_factory=list)


class Judge:
    """Checks documents. old: earlier objects as JSON with their apiVersion and kind, by identity.

    release: whose rules apply; the catalog must have its kinds.
    """

    def __init__(
        self,
        catalog: Catalog,
        rules: Strictness,
        old: Mapping[ObjectIdentity, bytes] | None = None,
        release: Release = NEWEST,
    ) -> None:
        self.catalog = catalog
        self.release = release
        self._rules = rules
        self._old = old

    def judge(self, document: Document, *, definitions: bool, again: bool = False) -> Outcome:
        """Check either the definitions in a document or all other objects in it.

        again: the other half was checked before, so faults of the whole text have been reported.
        """
        with ReleaseRecorder(self.release) as notes:
            return self._judged(document, Outcome(notes=notes), definitions, again)

    def agrees(self, outcome: Outcome) -> bool:
        """Return whether this judge would return the same outcome, given that of a judge for another release."""
        while outcome.texts:
            _ask(outcome.notes, *outcome.texts.pop())
        return outcome.notes.agrees_with(self.release) and all(
            self._find_kind(*name) == known for name, known in outcome.looked.items()
        )

    def _find_kind(self, group: str, version: str, kind: str) -> tuple[Kind, Version] | bool:
        return self.catalog.find(group, version, kind) or self.catalog.is_unsound(group, kind)

    def _find(self, outcome: Outcome, group: str, version: str, kind: str) -> tuple[Kind, Version] | None:
        """Look up a kind, and record the result."""
        result = outcome.looked[group, version, kind] = self._find_kind(group, version, kind)
        if not isinstance(result, tuple):
            return None
        # record these here, because a compiled schema does not ask the release again
        if self.catalog.is_dated(result[0]):
            for change in formats.CHANGES:
                outcome.notes.release.has_feature(change)
        return result

    def _judged(self, document: Document, outcome: Outcome, definitions: bool, again: bool) -> Outcome:
        places = Places(document)
        repeated: list[str] = []
        try:
            value, floats = read_document(document, repeated)
        except JSONError as error:
            where = places.fault(error.message)
            finding = Finding(document.file, *where, Severity.ERROR, "", error.message, "Syntax")
            outcome.report.findings.append(finding)
            return outcome
        found = _Found(document, places, outcome)
        if self._rules.validation != IGNORE and not again:
            for said in repeated:
                found.unknown(said, (), self._unknown_severity)
        for part in split_parts(value, floats):
            if _defines(part.value) is definitions:
                self._part(part, found)
            else:
                outcome.mixed = True
        return outcome

    def stored(self, known_object: KnownObject) -> Object:
        """Return an object in its storage version."""
        group, _, version = known_object.obj["apiVersion"].rpartition("/")
        found = self.catalog.find(group, version, known_object.identity.kind)
        assert found is not None
        return found[0].strategy.make_stored(found[0], known_object.obj)

    @property
    def _unknown_severity(self) -> Severity:
        return Severity.ERROR if self._rules.validation == STRICT else Severity.WARNING

    def _part(self, part: DocumentPart, found: _Found) -> None:
        """Check one object."""
        found.about = ""
        named = _named(part.value)
        if isinstance(named, str):
            found.error(named, part.at, (), "Unreadable")
            return
        group, version, name = named
        found.about = str(identity := identify_object(part.value, group, name))
        known = self._find(found.outcome, group, version, name)
        if known is None:
            self._unknown(part, found, group, name, gvk.GroupVersion(group, version))
            return
        kind, served = known
        # error texts show numbers as written, if the text of the object is available
        whole = not found.document.yaml and not part.at
        text = serializer.encode_json(part.value)
        if (struct := kind.struct_of(served)) is not None:
            found.outcome.texts.append((struct, text))
        raw = ParsedJSON(found.document.raw if whole else text)
        raw.outcome = part.value, [], part.floats
        before = self._before(identity, kind, served, part, found)
        checked = (
            offline.check_create(kind, served, raw)
            if before is None
            else offline.check_update(kind, served, raw, before)
        )
        self._report_findings(checked, part, found)
        if self._rules.dropped and checked.obj is not None:
            told = {_find_named(said) for said in checked.findings}
            for path in find_dropped(serializer.decode_json(text), checked.obj):
                if (shown := format_path(path)) not in told:
                    found.add_finding(Severity.WARNING, "dropped", part.at, path, shown, "DroppedField", key=True)
        if checked.obj is not None and not checked.errors and kind.webhook is not None and "rules" in kind.webhook:
            self._store(kind, served, checked.obj, part, found)
        self._keep(kind, served, checked, identity, part, found)

    def _store(self, kind: Kind, version: Version, obj: Object, part: DocumentPart, found: _Found) -> None:
        """Convert an object to all versions of its kind, as the server does to store and to serve it."""
        for other in kind.by_version.values():
            if other is not version:
                try:
                    kind.strategy.convert_object(kind, other, obj)
                except Internal as error:
                    found.error(error.message, part.at, ("apiVersion",), "Conversion")

    def _unknown(self, part: DocumentPart, found: _Found, group: str, name: str, version: gvk.GroupVersion) -> None:
        """Report an unknown kind."""
        if self.catalog.is_unsound(group, name):
            found.warn("not checked, because its CustomResourceDefinition has errors", part.at, ("kind",), "Unchecked")
        elif self._rules.ignore_unknown:
            shown = f"{name}.{group}" if group else name
            found.outcome.report.skipped[shown] = found.outcome.report.skipped.get(shown, 0) + 1
        else:
            said = f'no matches for kind "{name}" in version "{version}"'
            found.error(said, part.at, ("kind",), "UnknownKind")

    def _before(
        self, identity: ObjectIdentity, kind: Kind, version: Version, part: DocumentPart, found: _Found
    ) -> Object | None:
        """Return the earlier object in the version of the new one; None if there is none."""
        raw = self._old.get(identity) if self._old else None
        if raw is None:
            return None
        named = _named(serializer.decode_json(raw))
        known = None if isinstance(named, str) else self._find(found.outcome, *named)
        old = offline.read_accepted(*known, raw) if known is not None else None
        if old is None:
            found.warn("not checked as an update, because its old state cannot be read", part.at, (), "Unchecked")
        elif (kind.group, kind.kind) == DEFINITION:
            definition.set_condition(old, "Established", "True", "", "", clock.now())
        elif not _can_convert(kind) and old["apiVersion"] != kind.api_version(version.name):
            said = "not checked as an update, because only a webhook can convert its old state to this version"
            found.warn(said, part.at, ("apiVersion",), "Unchecked")
            return None
        return old

    def _report_findings(self, checked: Checked, part: DocumentPart, found: _Found) -> None:
        """Report the findings of the server's check."""
        if checked.refusal:
            named = _FIELD.search(checked.refusal)
            found.error(checked.refusal, part.at, named[1] if named else (), "Unreadable")
        if self._rules.validation != IGNORE:
            for said in dict.fromkeys(checked.findings):
                found.unknown(said, part.at, self._unknown_severity)
        for error in dict.fromkeys((error.path, error.field, error.body, error.reason) for error in checked.errors):
            path, shown, body, reason = error
            found.add_finding(Severity.ERROR, body, part.at, path, "" if shown == "<nil>" else shown, reason)
        for said in checked.warnings:
            found.warn(said, part.at, (), "Warning")

    def _keep(
        self,
        kind: Kind,
        version: Version,
        checked: Checked,
        identity: ObjectIdentity,
        part: DocumentPart,
        found: _Found,
    ) -> None:
        """Count the object. Keep a valid definition, to check the objects of its kind."""
        outcome = found.outcome
        if checked.obj is not None:
            outcome.objects.append(KnownObject(identity, checked.obj, part.at))
        if (kind.group, kind.kind) != DEFINITION:
            outcome.report.objects += 1
            return
        outcome.report.definitions += 1
        if checked.obj is not None and not checked.errors:
            outcome.definitions.append(kind.strategy.make_stored(kind, checked.obj))
        elif isinstance(spec := part.value.get("spec"), dict) and isinstance(names := spec.get("names"), dict):
            outcome.unsound.add((str(spec.get("group")), str(names.get("kind"))))


def _can_convert(kind: Kind) -> bool:
    """Return whether objects can be converted without a webhook and hooks."""
    return kind.webhook is None or "rules" in kind.webhook


def read_document(document: Document, repeated: list[str]) -> tuple[Any, Floats]:
    """Decode a document. Return its value, and whole numbers that are written as floats. Raises JSONError."""
    floats: Floats = []
    if document.yaml:
        return serializer.decode_yaml(document.raw, repeated), floats
    return serializer.decode_json(document.raw, repeated, floats), floats


def split_parts(value: Any, floats: Floats) -> Iterator[DocumentPart]:
    """Yield the objects in a document: the value itself, or the items of a list."""
    if isinstance(value, dict) and str(value.get("kind")).endswith("List") and isinstance(value.get("items"), list):
        for index, item in enumerate(value["items"]):
            at = ("items", index)
            inner = [(path[2:], given) for path, given in floats if path[:2] == at]
            for part in split_parts(item, inner):
                yield part._replace(at=at + part.at)
    else:
        yield DocumentPart(value, (), floats)


def find_dropped(given: Any, kept: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the paths of fields that a server dropped. Empty values do not count, because Go omits them."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            if name in kept:
                yield from find_dropped(value, kept[name], (*at, name))
            elif value:
                yield (*at, name)
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for index, (value, left) in enumerate(zip(given, kept, strict=True)):
            yield from find_dropped(value, left, (*at, index))


def index_objects(document: Document) -> Iterator[tuple[ObjectIdentity, bytes]]:
    """Yield the objects in a document as JSON. An unreadable document yields nothing."""
    try:
        value, floats = read_document(document, [])
    except JSONError:
        return
    for part in split_parts(value, floats):
        named = _named(part.value)
        if not isinstance(named, str):
            yield identify_object(part.value, named[0], named[2]), serializer.encode_json(part.value)


def _ask(notes: ReleaseRecorder, struct: Struct, text: bytes) -> None:
    """Record which fields of an object depend on the release."""
    for span, gate in set(find_dates(struct, serializer.decode_json(text))):
        notes.note_span(span)
        if gate:
            notes.release.has_feature(gate)


def _find_named(said: str) -> str:
    """Return the path in a message about an unknown or duplicate field; "" if there is none."""
    quoted = _QUOTED.search(said)
    return str(json.loads(f'"{quoted[1]}"')) if quoted else ""


def _defines(value: Any) -> bool:
    named = _named(value)
    return not isinstance(named, str) and (named[0], named[2]) == DEFINITION


def identify_object(value: Any, group: str, kind: str) -> ObjectIdentity:
    """Return the identity of an object, from its metadata. Missing parts are ""."""
    metadata = value.get("metadata")
    given = [metadata.get(name) if isinstance(metadata, dict) else "" for name in ("namespace", "name", "generateName")]
    namespace, name, prefix = (text if isinstance(text, str) else "" for text in given)
    return ObjectIdentity(group, kind, namespace, name or (f"{prefix}*" if prefix else ""))


def _named(value: Any) -> tuple[str, str, str] | str:
    """Return group, version and kind of an object, or the error text if they are missing or invalid."""
    try:
        api_version, kind = typemeta.read_type_meta(value)
    except ValueError as error:
        return str(error)
    missing = "apiVersion" if not api_version else "kind" if not kind else ""
    if missing:
        return f"{missing} not set"
    group, _, version = api_version.rpartition("/")
    return group, version, kind


class _Found:
    """Collects the findings in a document with their positions. about: the current object."""

    def __init__(self, document: Document, places: Places, outcome: Outcome) -> None:
        self.document = document
        self.outcome = outcome
        self.about = ""
        self._places = places

    def add_finding(
        self, severity: Severity, said: str, at: Path, path: At, shown: str, rule: str, *, key: bool = False
    ) -> None:
        """Add a finding. at: path of the object in the document. path, shown: the field in the object."""
        inner = field_.parse_path(path) if isinstance(path, str) else tuple(path)
        place = self._places.key(at + inner) if key else self._places.value(at + inner)
        self._note_finding(Position(*place), severity, shown, said, rule)

    def error(self, said: str, at: Path, path: At, rule: str) -> None:
        """Add an error."""
        self.add_finding(Severity.ERROR, said, at, path, "", rule)

    def warn(self, said: str, at: Path, path: At, rule: str) -> None:
        """Add a warning."""
        self.add_finding(Severity.WARNING, said, at, path, "", rule)

    def unknown(self, said: str, at: Path, severity: Severity) -> None:
        """Add a finding about an unknown or duplicate field, as the server reports it."""
        rule = "UnknownField" if said.startswith("unknown ") else "RepeatedField"
        if line := _REPEATED.match(said):
            self._note_finding(Position(int(line[1]) + self.document.line, 1), severity, "", said, rule)
            return
        self.add_finding(severity, said, at, _find_named(said), "", rule, key=True)

    def _note_finding(self, where: Position, severity: Severity, path: str, said: str, rule: str) -> None:
        finding = Finding(self.document.file, where.line, where.column, severity, path, said, rule, self.about)
        self.outcome.report.findings.append(finding)
