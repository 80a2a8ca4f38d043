"""Checks one document with the server's own code, and maps messages to positions in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, NamedTuple

from podless.apis import offline
from podless.apis.apiextensions.definition.status import set_condition
from podless.apis.offline import Checked
from podless.check.catalog import DEFINITION, Catalog
from podless.check.findings import Finding, PositionFinder, Report, Severity
from podless.codec import serializer
from podless.codec.documents import Document, split_list
from podless.codec.jsontext import JSONError
from podless.codec.positions import Position
from podless.codec.serializer import Floats, ParsedJSON
from podless.kinds import scheme
from podless.kinds.kind import Kind, Version
from podless.meta import gvk
from podless.meta.errors import Internal
from podless.meta.field import At, Path, format_path, parse_path
from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.release import ALL_ON, Release, ReleaseRecorder
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
        prefix = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {prefix}{self.name}"


class DocumentEntry(NamedTuple):
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
    """The result for one document."""

    report: Report = field(default_factory=Report)
    definitions: list[Object] = field(default_factory=list)  # the valid definitions, as stored
    unsound: set[tuple[str, str]] = field(default_factory=set)  # groups and kinds of invalid definitions
    objects: list[KnownObject] = field(default_factory=list)  # all decoded objects, including definitions
    mixed: bool = False  # the document has definitions and other objects, and only one of the two was checked
    # the kinds that were looked up; for an unknown one whether its definition is invalid
    looked: dict[tuple[str, str, str], tuple[Kind, Version] | bool] = field(default_factory=dict)
    # other properties of the release on which the result depends
    notes: ReleaseRecorder = field(default_factory=lambda: ReleaseRecorder(ALL_ON))
    # objects of built-in kinds with their structs, whose fields are not in the notes yet
    texts: list[tuple[Struct, bytes]] = field(default_factory=list)


class DocumentChecker:
    """Checks documents. old: earlier objects as JSON with their apiVersion and kind, by identity.

    release: whose rules apply; the catalog must have its kinds.
    """

    def __init__(
        self,
        catalog: Catalog,
        rules: Strictness,
        old: Mapping[ObjectIdentity, bytes] | None = None,
        release: Release = ALL_ON,
    ) -> None:
        self.catalog = catalog
        self.release = release
        self._rules = rules
        self._old = old

    def check_document(self, document: Document, *, definitions: bool, reported: bool = False) -> Outcome:
        """Check either the definitions in a document or all other objects in it.

        reported: the faults of the text were reported, when the other half was checked.
        """
        with ReleaseRecorder(self.release) as notes:
            return self._check_entries(document, Outcome(notes=notes), definitions, reported)

    def agrees_with(self, outcome: Outcome) -> bool:
        """Return whether this checker would return an outcome that the checker of another release returned."""
        while outcome.texts:
            _note_dates(outcome.notes, *outcome.texts.pop())
        return outcome.notes.agrees_with(self.release) and all(
            self._find_kind(*name) == found_kind for name, found_kind in outcome.looked.items()
        )

    def _find_kind(self, group: str, version: str, kind: str) -> tuple[Kind, Version] | bool:
        return self.catalog.find(group, version, kind) or (group, kind) in self.catalog.unsound

    def _look_up_kind(self, outcome: Outcome, group: str, version: str, kind: str) -> tuple[Kind, Version] | None:
        """Look up a kind, and record the result."""
        result = outcome.looked[group, version, kind] = self._find_kind(group, version, kind)
        if not isinstance(result, tuple):
            return None
        # record these here, because a compiled schema does not ask the release again
        if result[0] in self.catalog.dated:
            for change in formats.CHANGES:
                outcome.notes.release.has_feature(change)
        return result

    def _check_entries(self, document: Document, outcome: Outcome, definitions: bool, reported: bool) -> Outcome:
        collector = _FindingCollector(document, outcome)
        repeated: list[str] = []
        floats: Floats = []
        try:
            value = document.decode_value(repeated, floats)
        except JSONError as error:
            position = collector.positions.find_fault(error.message)
            collector.note_finding(position, Severity.ERROR, "", error.message, "Syntax")
            return outcome
        if self._rules.validation != IGNORE and not reported:
            for message in repeated:
                collector.add_unknown_field(message, self._unknown_severity)
        for entry in split_entries(value, floats):
            if _is_definition(entry.value) is definitions:
                self._check_entry(entry, collector)
            else:
                outcome.mixed = True
        return outcome

    def convert_to_stored(self, known_object: KnownObject) -> Object:
        """Return an object in its storage version."""
        group, _, version = known_object.obj["apiVersion"].rpartition("/")
        found_kind = self.catalog.find(group, version, known_object.identity.kind)
        assert found_kind is not None
        return found_kind[0].strategy.make_stored(found_kind[0], known_object.obj)

    @property
    def _unknown_severity(self) -> Severity:
        return Severity.ERROR if self._rules.validation == STRICT else Severity.WARNING

    def _check_entry(self, entry: DocumentEntry, collector: _FindingCollector) -> None:
        collector.at, collector.label = entry.at, ""
        kind_names = _identify_kind(entry.value)
        if isinstance(kind_names, str):
            collector.add_error(kind_names, (), "Unreadable")
            return
        group, version, name = kind_names
        identity = identify_object(entry.value, group, name)
        collector.label = str(identity)
        found_kind = self._look_up_kind(collector.outcome, group, version, name)
        if found_kind is None:
            self._report_unknown(collector, group, version, name)
            return
        kind, served = found_kind
        # error texts show numbers as written, if the text of the object is available
        is_whole = not collector.document.yaml and not entry.at
        text = serializer.encode_json(entry.value)
        if (struct := kind.struct_of(served)) is not None:
            collector.outcome.texts.append((struct, text))
        raw = ParsedJSON(collector.document.raw if is_whole else text)
        raw.outcome = entry.value, [], entry.floats
        old = self._find_old(collector, identity, kind, served)
        checked = offline.check_object(kind, served, raw, old)
        self._report_findings(collector, checked)
        if self._rules.dropped and checked.obj is not None:
            reported = {_find_named(message) for message in checked.findings}
            for path in find_dropped(serializer.decode_json(text), checked.obj):
                if (path_text := format_path(path)) not in reported:
                    collector.add_finding(Severity.WARNING, "dropped", path, path_text, "DroppedField", key=True)
        if checked.obj is not None and not checked.errors and kind.webhook is not None and _can_convert(kind):
            self._convert_to_all(collector, kind, served, checked.obj)
        self._count_object(collector, kind, checked, KnownObject(identity, entry.value, entry.at))

    def _convert_to_all(self, collector: _FindingCollector, kind: Kind, version: Version, obj: Object) -> None:
        """Convert an object to all versions of its kind, as the server does to store and to serve it."""
        for target in kind.by_version.values():
            if target is not version:
                try:
                    kind.strategy.convert_object(kind, target, obj)
                except Internal as error:
                    collector.add_error(error.message, ("apiVersion",), "Conversion")

    def _report_unknown(self, collector: _FindingCollector, group: str, version: str, name: str) -> None:
        if (group, name) in self.catalog.unsound:
            collector.add_warning(
                "not checked, because its CustomResourceDefinition has errors", ("kind",), "Unchecked"
            )
        elif self._rules.ignore_unknown:
            kind_name = f"{name}.{group}" if group else name
            collector.outcome.report.skipped[kind_name] = collector.outcome.report.skipped.get(kind_name, 0) + 1
        else:
            message = f'no matches for kind "{name}" in version "{gvk.GroupVersion(group, version)}"'
            collector.add_error(message, ("kind",), "UnknownKind")

    def _find_old(
        self, collector: _FindingCollector, identity: ObjectIdentity, kind: Kind, version: Version
    ) -> Object | None:
        """Return the earlier object in the version of the new one; None if there is none."""
        raw = self._old.get(identity) if self._old else None
        if raw is None:
            return None
        kind_names = _identify_kind(serializer.decode_json(raw))
        found_kind = None if isinstance(kind_names, str) else self._look_up_kind(collector.outcome, *kind_names)
        old = offline.read_accepted(*found_kind, raw) if found_kind is not None else None
        if old is None:
            collector.add_warning("not checked as an update, because its old state cannot be read", (), "Unchecked")
        elif (kind.group, kind.kind) == DEFINITION:
            set_condition(old, "Established", "True", "", "", clock.now())
        elif not _can_convert(kind) and old["apiVersion"] != kind.api_version(version.name):
            message = "not checked as an update, because only a webhook can convert its old state to this version"
            collector.add_warning(message, ("apiVersion",), "Unchecked")
            return None
        return old

    def _report_findings(self, collector: _FindingCollector, checked: Checked) -> None:
        if checked.refusal:
            field_match = _FIELD.search(checked.refusal)
            collector.add_error(checked.refusal, field_match[1] if field_match else (), "Unreadable")
        if self._rules.validation != IGNORE:
            for message in dict.fromkeys(checked.findings):
                collector.add_unknown_field(message, self._unknown_severity)
        for path, field_text, body, reason in dict.fromkeys(
            (error.path, error.field, error.body, error.reason) for error in checked.errors
        ):
            collector.add_finding(Severity.ERROR, body, path, "" if field_text == "<nil>" else field_text, reason)
        for message in checked.warnings:
            collector.add_warning(message, (), "Warning")

    def _count_object(self, collector: _FindingCollector, kind: Kind, checked: Checked, written: KnownObject) -> None:
        """Count the object. Keep a valid definition, to check the objects of its kind. written: as in the file."""
        outcome = collector.outcome
        if checked.obj is not None:
            outcome.objects.append(written._replace(obj=checked.obj))
        if (kind.group, kind.kind) != DEFINITION:
            outcome.report.objects += 1
            return
        outcome.report.definitions += 1
        if checked.obj is not None and not checked.errors:
            outcome.definitions.append(kind.strategy.make_stored(kind, checked.obj))
        elif isinstance(spec := written.obj.get("spec"), dict) and isinstance(names := spec.get("names"), dict):
            outcome.unsound.add((str(spec.get("group")), str(names.get("kind"))))


def _can_convert(kind: Kind) -> bool:
    """Return whether objects can be converted without a webhook and hooks."""
    return kind.webhook is None or "rules" in kind.webhook


def split_entries(value: Any, floats: Floats) -> Iterator[DocumentEntry]:
    """Yield the objects in a document: the value itself, or the items of a list."""
    for obj, at in split_list(value):
        yield DocumentEntry(obj, at, [(path[len(at) :], number) for path, number in floats if path[: len(at)] == at])


def find_dropped(written: Any, stored: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the paths of fields that a server dropped. Empty values do not count, because Go omits them."""
    if isinstance(written, dict) and isinstance(stored, dict):
        for name, value in written.items():
            if name in stored:
                yield from find_dropped(value, stored[name], (*at, name))
            elif value:
                yield (*at, name)
    elif isinstance(written, list) and isinstance(stored, list) and len(written) == len(stored):
        for index, (value, stored_item) in enumerate(zip(written, stored, strict=True)):
            yield from find_dropped(value, stored_item, (*at, index))


def index_objects(document: Document) -> Iterator[tuple[ObjectIdentity, bytes]]:
    """Yield the objects in a document as JSON. An unreadable document yields nothing."""
    floats: Floats = []
    try:
        value = document.decode_value(None, floats)
    except JSONError:
        return
    for entry in split_entries(value, floats):
        kind_names = _identify_kind(entry.value)
        if not isinstance(kind_names, str):
            yield identify_object(entry.value, kind_names[0], kind_names[2]), serializer.encode_json(entry.value)


def _note_dates(notes: ReleaseRecorder, struct: Struct, text: bytes) -> None:
    """Record which fields of an object depend on the release."""
    for span, gate in set(find_dates(struct, serializer.decode_json(text))):
        notes.note_span(span)
        if gate:
            notes.release.has_feature(gate)


def _find_named(message: str) -> str:
    """Return the path in a message about an unknown or duplicate field; "" if there is none."""
    quoted = _QUOTED.search(message)
    return str(json.loads(f'"{quoted[1]}"')) if quoted else ""


def _is_definition(value: Any) -> bool:
    kind_names = _identify_kind(value)
    return not isinstance(kind_names, str) and (kind_names[0], kind_names[2]) == DEFINITION


def identify_object(value: Any, group: str, kind: str) -> ObjectIdentity:
    """Return the identity of an object, from its metadata. Missing parts are ""."""
    metadata = value.get("metadata")
    names = [metadata.get(name) if isinstance(metadata, dict) else "" for name in ("namespace", "name", "generateName")]
    namespace, name, prefix = (text if isinstance(text, str) else "" for text in names)
    return ObjectIdentity(group, kind, namespace, name or (f"{prefix}*" if prefix else ""))


def _identify_kind(value: Any) -> tuple[str, str, str] | str:
    """Return group, version and kind of an object, or the error text if they are missing or invalid."""
    try:
        api_version, kind = scheme.read_type_meta(value)
    except ValueError as error:
        return str(error)
    missing = "apiVersion" if not api_version else "kind" if not kind else ""
    if missing:
        return f"{missing} not set"
    group, _, version = api_version.rpartition("/")
    return group, version, kind


class _FindingCollector:
    """Collects the findings in a document with their positions. at, label: of the current object."""

    def __init__(self, document: Document, outcome: Outcome) -> None:
        self.document = document
        self.outcome = outcome
        self.positions = PositionFinder(document)
        self.at: Path = ()
        self.label = ""

    def add_finding(
        self, severity: Severity, message: str, path: At, field_text: str, rule: str, *, key: bool = False
    ) -> None:
        """Add a finding. path, field_text: the field in the object."""
        full_path = self.at + (parse_path(path) if isinstance(path, str) else tuple(path))
        position = self.positions.find_key(full_path) if key else self.positions.find_value(full_path)
        self.note_finding(position, severity, field_text, message, rule)

    def add_error(self, message: str, path: At, rule: str) -> None:
        self.add_finding(Severity.ERROR, message, path, "", rule)

    def add_warning(self, message: str, path: At, rule: str) -> None:
        self.add_finding(Severity.WARNING, message, path, "", rule)

    def add_unknown_field(self, message: str, severity: Severity) -> None:
        """Add a finding about an unknown or duplicate field, as the server reports it."""
        rule = "UnknownField" if message.startswith("unknown ") else "RepeatedField"
        if line := _REPEATED.match(message):
            self.note_finding(Position(int(line[1]) + self.document.line, 1), severity, "", message, rule)
        else:
            self.add_finding(severity, message, _find_named(message), "", rule, key=True)

    def note_finding(self, position: Position, severity: Severity, path: str, message: str, rule: str) -> None:
        """Add a finding at a position in the file."""
        finding = Finding(self.document.file, *position, severity, path, message, rule, self.label)
        self.outcome.report.findings.append(finding)
