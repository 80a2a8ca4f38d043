"""Runs a check of files, definitions first, on all cores if the files are large."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import field
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from podless.apis import features
from podless.check import references
from podless.check.catalog import Catalog, DescribedKind, make_kind
from podless.check.documents import DocumentChecker, ObjectIdentity, Outcome, Strictness, index_objects
from podless.check.findings import Finding, PositionFinder, Report, Severity, merge_findings
from podless.check.references import Reference
from podless.check.sources import CannotCheck, SourceFile
from podless.codec.documents import Document, split_documents
from podless.kinds.kind import Kind
from podless.meta.field import format_path
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.schema import formats

Progress = Callable[[int, int], None]

_ONE_PROCESS_BYTES = 384 * 1024  # bytes up to which one process is faster than several
_BATCH_BYTES = 64 * 1024  # bytes that a process gets at a time
_QUEUED_BATCHES = 3  # maximum number of queued batches for each process
_DEFINITION = b"CustomResourceDefinition"
_InvalidDefinition = tuple[str, str, tuple[str, ...]]  # group, kind, and the releases in which it has errors


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How to check. references: report references to objects that are not in the set. processes: 0 for one per core.

    definitions: additional v1 CustomResourceDefinitions, for example of a running API. schemas: kinds from OpenAPI
    documents (check.catalog). releases: names of the releases to check against, oldest first.
    """

    rules: Strictness = field(default_factory=Strictness)
    references: bool = False
    processes: int = 0
    definitions: Sequence[Object] = ()
    schemas: Sequence[DescribedKind] = ()
    releases: Sequence[str] = (features.DEFAULT,)


class _WorkerData(NamedTuple):
    """The data that a process needs.

    for_definitions: check only definitions, else only other objects. definitions: with the releases in which they are
    valid. old: earlier objects.
    """

    for_definitions: bool
    options: CheckOptions
    definitions: Sequence[tuple[Object, Sequence[str]]]
    unsound: frozenset[_InvalidDefinition]
    old: dict[ObjectIdentity, bytes]


@dataclass(slots=True)
class _BatchResult:
    """The result of some documents. mixed: file and line of documents with definitions and other objects."""

    report: Report = field(default_factory=Report)
    definitions: list[tuple[Object, Sequence[str]]] = field(default_factory=list)
    unsound: set[_InvalidDefinition] = field(default_factory=set)
    mixed: set[tuple[str, int]] = field(default_factory=set)
    identities: list[ObjectIdentity] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)

    def add_result(self, other: _BatchResult) -> None:
        self.report.add_report(other.report)
        self.definitions += other.definitions
        self.unsound |= other.unsound
        self.mixed |= other.mixed
        self.identities += other.identities
        self.references += other.references


def check_files(
    sources: Sequence[SourceFile],
    *,
    known: Sequence[SourceFile] = (),
    old: Sequence[SourceFile] = (),
    options: CheckOptions | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check files, and return everything that a server would report about them.

    known: files with additional definitions. old: earlier objects; an object that is among them is checked as an
    update. progress: called now and then with the number of finished files and of all files. Raises CannotCheck.
    """
    options = options or CheckOptions()
    total = _BatchResult(Report(files=len(sources)))
    report = total.report
    with ExitStack() as stack:
        work = _BatchRunner(stack, options, [*sources, *known, *old])
        given = [(definition, options.releases) for definition in options.definitions]
        data = _WorkerData(True, options, given, frozenset(), _index_old(work, old))
        for result in work.run_batches(_check_batch, data, _make_batches([*known, *sources], _may_define)):
            total.add_result(result)
        data = data._replace(
            for_definitions=False, definitions=[*given, *total.definitions], unsound=frozenset(total.unsound)
        )

        def needs_check(document: Document) -> bool:
            return not _may_define(document) or (document.file, document.line) in total.mixed

        for result in work.run_batches(_check_batch, data, _make_batches(sources, needs_check, progress)):
            total.add_result(result)
        if options.references:
            missing = [*_report_missing(sources, total.references, total.identities)]
            report.findings += merge_findings([(missing, options.releases)], options.releases)
    order = {source.name: index for index, source in enumerate([*known, *sources])}
    report.findings.sort(key=lambda finding: (order.get(finding.file, 0), finding.line, finding.column))
    return report


def read_definitions(sources: Sequence[SourceFile]) -> Iterator[Object]:
    """Yield the CustomResourceDefinitions in files, as v1, valid or not.

    Raises CannotCheck for a syntax error, and for a version without a schema.
    """
    checker = DocumentChecker(Catalog(), Strictness("ignore"))
    for source in sources:
        for document in filter(_may_define, split_documents(source.name, source.read())):
            outcome = checker.check_document(document, definitions=True)
            for finding in outcome.report.findings:
                if finding.rule == "Syntax":
                    raise CannotCheck(f"{finding.file}:{finding.line}:{finding.column}: {finding.message}")
            for definition in map(checker.convert_to_stored, outcome.objects):
                _require_schemas(source.name, definition)
                yield definition


def _require_schemas(file: str, definition: Object) -> None:
    """Raise CannotCheck for a version without a schema, unless the definition keeps unknown fields, as old ones do."""
    spec = definition["spec"]
    for version in () if spec.get("preserveUnknownFields") else spec.get("versions") or ():
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            named = f"{definition['metadata']['name']} {version.get('name')}"
            raise CannotCheck(f"{file}: {named} has no schema: set schema.openAPIV3Schema of the version")


def has_definition(source: SourceFile) -> bool:
    """Return whether a file can contain a definition. Raises CannotCheck if it cannot be read."""
    return any(map(_may_define, split_documents(source.name, source.read())))


class _BatchRunner:
    """Runs batches in this process, or in several if the files are large enough."""

    def __init__(self, stack: ExitStack, options: CheckOptions, sources: Sequence[SourceFile]) -> None:
        self._processes = options.processes or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        if self._processes > 1 and sum(source.size for source in sources) > _ONE_PROCESS_BYTES:
            # forked processes need no imports; fork is only safe without other threads
            alone = sys.platform == "linux" and threading.active_count() == 1
            context = get_context("fork" if alone else "spawn")
            self._pool = stack.enter_context(ProcessPoolExecutor(self._processes, mp_context=context))
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="podless-check-")))
            self._states = 0

    def run_batches(
        self, do: Callable[[Any, list[Document]], Any], data: _WorkerData | None, batches: Iterable[list[Document]]
    ) -> Iterator[Any]:
        """Yield the result of each batch, in order. Other processes read the data from a file, once."""
        if self._pool is None:
            state = None if data is None else _PreparedState.prepare(data)
            yield from (do(state, batch) for batch in batches)
            return
        self._states += 1
        file = self._folder / f"{self._states}"
        file.write_bytes(pickle.dumps(data))
        waiting: deque[Future[Any]] = deque()
        for batch in batches:
            waiting.append(self._pool.submit(do, str(file), batch))
            if len(waiting) > _QUEUED_BATCHES * self._processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _may_define(document: Document) -> bool:
    """Return whether a document can contain a definition."""
    return _DEFINITION in document.raw


def _make_batches(
    sources: Sequence[SourceFile], is_wanted: Callable[[Document], bool], progress: Progress | None = None
) -> Iterator[list[Document]]:
    """Yield batches of the selected documents of files."""
    batch: list[Document] = []
    size = 0
    for index, source in enumerate(sources):
        for document in filter(is_wanted, split_documents(source.name, source.read())):
            batch.append(document)
            size += len(document.raw)
            if size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if progress is not None:
            progress(index + 1, len(sources))
    if batch:
        yield batch


class _PreparedState(NamedTuple):
    """The data of a process, and a checker for each release."""

    data: _WorkerData
    checkers: Sequence[DocumentChecker]

    @classmethod
    def prepare(cls, data: _WorkerData) -> _PreparedState:
        """Make the checkers. Releases share equal parts."""
        options = data.options
        described = [schema.make_kind() for schema in options.schemas]
        releases = {name: features.choose_release(name) for name in options.releases}
        catalogs = {name: Catalog(described, (), release) for name, release in releases.items()}
        for definition, names in data.definitions:
            dated = formats.depends_on_release(definition)
            kinds: dict[tuple[bool, ...], Kind] = {}
            for name in names:
                answers = tuple(map(releases[name].has_feature, formats.CHANGES)) if dated else ()
                if answers not in kinds:
                    kinds[answers] = make_kind(definition)
                catalogs[name].add_kind(kinds[answers], dated=dated)
        for group, named, names in data.unsound:
            for name in names:
                catalogs[name].unsound.add((group, named))
        checkers = [
            DocumentChecker(catalogs[name], options.rules, data.old, release) for name, release in releases.items()
        ]
        return cls(data, checkers)

    def check_document(self, document: Document) -> list[tuple[Outcome, list[str]]]:
        """Return the different outcomes of a document, each with its releases."""
        results: list[tuple[Outcome, list[str]]] = []
        definitions = self.data.for_definitions
        reported = not definitions and _may_define(document)
        for checker in self.checkers:
            same_releases = next((names for outcome, names in results if checker.agrees_with(outcome)), None)
            if same_releases is None:
                outcome = checker.check_document(document, definitions=definitions, reported=reported)
                results.append((outcome, same_releases := []))
            same_releases.append(checker.release.name)
        return results


@lru_cache(maxsize=4)
def _load_state(file: str) -> _PreparedState:
    # safe to unpickle: this run wrote it, in its own temporary folder
    return _PreparedState.prepare(pickle.loads(Path(file).read_bytes()))


def _check_batch(shared_state: _PreparedState | str, batch: list[Document]) -> _BatchResult:
    state = _load_state(shared_state) if isinstance(shared_state, str) else shared_state
    result = _BatchResult()
    for document in batch:
        outcomes = state.check_document(document)
        among = [checker.release.name for checker in state.checkers]
        # the newest release decides the counts
        report = next(outcome.report for outcome, names in outcomes if among[-1] in names)
        report.findings = merge_findings([(outcome.report.findings, names) for outcome, names in outcomes], among)
        result.report.add_report(report)
        result.definitions.extend(_collect_valid(outcomes))
        if outcomes[0][0].mixed:
            result.mixed.add((document.file, document.line))
        known_objects = {
            (known_object.identity, known_object.at): known_object
            for outcome, _ in outcomes
            for known_object in outcome.objects
        }
        result.identities.extend(known_object.identity for known_object in known_objects.values())
        for outcome, names in outcomes:
            result.unsound.update((group, kind, tuple(names)) for group, kind in outcome.unsound)
        if state.data.options.references and not state.data.for_definitions:
            for known_object in known_objects.values():
                result.references.extend(
                    references.find_references(known_object.identity, known_object.obj, document, known_object.at)
                )
    return result


def _collect_valid(outcomes: Sequence[tuple[Outcome, list[str]]]) -> list[tuple[Object, list[str]]]:
    """Return the definitions that some releases accept, once for all releases that store them in the same form."""
    results: list[tuple[Object, list[str]]] = []
    for outcome, names in outcomes:
        for definition in outcome.definitions:
            same_releases = next((releases for stored, releases in results if stored == definition), None)
            if same_releases is None:
                results.append((definition, same_releases := []))
            same_releases += names
    return results


def _index_old(work: _BatchRunner, old: Sequence[SourceFile]) -> dict[ObjectIdentity, bytes]:
    result: dict[ObjectIdentity, bytes] = {}
    for objects in work.run_batches(_index_batch, None, _make_batches(old, lambda document: True)):
        result.update(objects)
    return result


def _index_batch(_: Any, batch: list[Document]) -> dict[ObjectIdentity, bytes]:
    return {identity: raw for document in batch for identity, raw in index_objects(document)}


def _report_missing(
    sources: Sequence[SourceFile], named: list[Reference], known_identities: list[ObjectIdentity]
) -> Iterator[Finding]:
    """Yield findings about missing references; documents are read again to get positions."""
    known_set = frozenset(known_identities)
    kinds = {(identity.group, identity.kind) for identity in known_identities}
    by_file: dict[str, list[Reference]] = {}
    for reference in references.find_missing(named, known_set, kinds):
        by_file.setdefault(reference.file, []).append(reference)
    for source in sources:
        wanted_references = by_file.get(source.name)
        if not wanted_references:
            continue
        places = {document.line: PositionFinder(document) for document in split_documents(source.name, source.read())}
        for reference in wanted_references:
            position = places[reference.line].find_value(reference.at)
            target = reference.target
            message = f'{target.kind} "{target.name}" is not among the given objects'
            yield Finding(
                source.name, *position, Severity.ERROR, format_path(reference.at), message, "Reference", reference.about
            )
