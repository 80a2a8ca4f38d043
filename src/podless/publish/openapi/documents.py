"""Documents that are joined from parts while they are sent, and never exist as one text.

A part holds the paths and components of one version of a kind, by name. Parts are made once for each kind, in each
form: version 2 or 3, JSON or protobuf. Paths and list components of custom kinds depend only on names, and kinds with
the same subresources differ there in nothing else. So their JSON is made once with placeholders, as a template, and
filled in when it is sent. This takes some microseconds, and saves 20 KB for each kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from podless.codec import serializer
from podless.kinds.kind import Kind, Scale, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import builtin, gnostic, routes, v2, v3
from podless.publish.openapi.standard import cache_by_release
from podless.runtime.release import Release

Document = dict[str, Any]
Values = tuple[bytes, ...]

_TOGETHER = 1 << 16  # bytes of entries after which they are joined and sent, to limit the copies in memory
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9]{0,99}")  # a kind that occurs unchanged in operation ids
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,299}")  # groups, versions and plurals of valid definitions
_LISTED = 1  # index of the list's component among the values


class DocumentPiece(Protocol):
    """One entry of a document, its name and value: bytes, or an object that makes them."""

    def __len__(self) -> int: ...

    def __bytes__(self) -> bytes: ...


class DocumentBody:
    """A document: texts, and between them the entries of its areas. between: the separator of two entries.

    size: in bytes. It can be iterated any number of times.
    """

    __slots__ = ("_between", "_runs", "size")

    def __init__(self, runs: Sequence[bytes | Sequence[DocumentPiece]], between: bytes = b",") -> None:
        self._runs = runs
        self._between = between
        self.size = 0
        for run in runs:
            if isinstance(run, bytes):
                self.size += len(run)
            elif run:
                self.size += sum(map(len, run)) + (len(run) - 1) * len(between)

    def __iter__(self) -> Iterator[bytes]:
        pending: list[bytes] = []
        size = 0
        for run in self._runs:
            if isinstance(run, bytes):
                pending.append(run)
                continue
            lead = b""
            for piece in run:
                text = bytes(piece)
                pending += lead, text
                lead = self._between
                size += len(text)
                if size >= _TOGETHER:
                    yield b"".join(pending)
                    pending, size = [], 0
        if pending:
            yield b"".join(pending)

    def __bytes__(self) -> bytes:
        return b"".join(self)


Area = dict[str, DocumentPiece]


class AreaEntries(NamedTuple):
    """Entries of the two areas of a document, by name."""

    paths: Mapping[str, DocumentPiece]
    components: Mapping[str, DocumentPiece]


def encode_entry(name: str, value: Any) -> bytes:
    """Return an entry as JSON."""
    return serializer.encode_json({name: value})[1:-1]


class DocumentForm(NamedTuple):
    """One of the forms of documents (version 2 or 3, JSON or protobuf): how a kind is described there.

    item, listed, scale, paths: return the schema of the kind, its list, Scale and its paths. path, component: encode an
    entry. templated: entries that follow from names are filled into templates.
    """

    item: Callable[[Kind, Version], Document]
    listed: Callable[[Kind, Version], Document]
    scale: Callable[[], Document]
    paths: Callable[[Kind, Version], Document]
    path: Callable[[str, Any], bytes] = encode_entry
    component: Callable[[str, Any], bytes] = encode_entry
    templated: bool = True


V2_JSON = DocumentForm(v2.make_item_definition, v2.make_list_definition, v2.make_scale_definitions, v2.describe_kind)
V3_JSON = DocumentForm(v3.make_item_component, v3.make_list_component, builtin.make_scale_components, v3.describe_kind)
V2_PROTOBUF = V2_JSON._replace(path=gnostic.encode_v2_path, component=gnostic.encode_definition, templated=False)
V3_PROTOBUF = V3_JSON._replace(path=gnostic.encode_v3_path, component=gnostic.encode_schema, templated=False)
FORMS = V2_JSON, V3_JSON, V2_PROTOBUF, V3_PROTOBUF


def make_part(form: DocumentForm, kind: Kind, version: Version) -> AreaEntries:
    """Return the part of a custom kind's version in documents of a form."""
    components = _encode_entries(form.component, form.item(kind, version))
    if version.scale is not None:
        components |= _make_scale(form)
    values = _find_template_values(kind, version) if form.templated and not version.selectable else None
    if values is None:
        components |= _encode_entries(form.component, form.listed(kind, version))
        return AreaEntries(_encode_entries(form.path, form.paths(kind, version)), components)
    paths, listed = _make_templates(form, kind.namespaced, version.status, version.scale is not None)
    components[values[_LISTED].decode()] = _FilledEntry(listed, values)
    return AreaEntries({name.fill_in(values).decode(): _FilledEntry(path, values) for name, path in paths}, components)


def make_builtin_part(form: DocumentForm, kinds: Sequence[Kind]) -> AreaEntries:
    """Return the part of all built-in kinds in the version 2 document, and the constant part.

    It walks the structs of all kinds, so call it off the event loop.
    """
    constant, swagger = _make_constant(form), v2.make_swagger_parts(*kinds)
    return AreaEntries(
        {**constant.paths, **_encode_entries(form.path, swagger["paths"])},
        {**constant.components, **_encode_entries(form.component, swagger["definitions"])},
    )


def _encode_entries(encode: Callable[[str, Any], bytes], document: Document) -> Area:
    return {name: serializer.fit_bytes(encode(name, value)) for name, value in document.items()}


# the release is only a key of these caches: the functions that they call find the served release themselves
@cache_by_release
def _make_scale(_: Release, form: DocumentForm) -> Area:
    return _encode_entries(form.component, form.scale())


@cache_by_release
def _make_standard(_: Release, form: DocumentForm) -> Area:
    """Return the components that all version 3 documents of custom kinds share, in the served release."""
    return _encode_entries(form.component, v3.make_standard_components())


@cache_by_release
def _make_constant(_: Release, form: DocumentForm) -> AreaEntries:
    """Return the constant part of the version 2 document in a release."""
    swagger = v2.make_standard_definitions()
    return AreaEntries(
        _encode_entries(form.path, swagger["paths"]), _encode_entries(form.component, swagger["definitions"])
    )


@cache_by_release
def _make_templates(
    _: Release, form: DocumentForm, namespaced: bool, status: bool, scale: bool
) -> tuple[tuple[tuple[_TextTemplate, _TextTemplate], ...], _TextTemplate]:
    """Return the templates of kinds that differ only in names: the paths' names with the paths, and the list."""
    kind = _make_sample_kind(namespaced, status, scale)
    version = kind.versions[0]
    paths = form.paths(kind, version).items()
    (listed,) = form.listed(kind, version).items()
    return (
        tuple((_TextTemplate(path.encode()), _TextTemplate(encode_entry(path, item))) for path, item in paths),
        _TextTemplate(encode_entry(*listed)),
    )


def _find_template_values(kind: Kind, version: Version) -> Values | None:
    """Return the values for a custom kind's version, None if its names need escaping."""
    group, served = kind.group, version.name
    if not (_PLAIN.fullmatch(kind.kind) and _PLAIN.fullmatch(kind.list_kind)) or kind.more_subresources:
        return None
    if not all(map(_NAME.fullmatch, (group, served, kind.plural))):
        return None
    prefix, tag = routes.name_group(group, served)
    item, list_name = (routes.name_model(group, served, noun) for noun in (kind.kind, kind.list_kind))
    return tuple(map(str.encode, (item, list_name, prefix, tag, kind.kind, kind.list_kind, kind.plural, group, served)))


def _make_sample_kind(namespaced: bool, status: bool, scale: bool) -> Kind:
    version = Version("zzversion", status=status, scale=Scale("", "") if scale else None)
    return Kind("zzgroup", "zzplural", "Zzkind", "zzkind", "Zzmany", namespaced, (version,), "zzversion", Strategy())


def _make_marks() -> tuple[Values, re.Pattern[bytes]]:
    kind = _make_sample_kind(True, True, True)
    marks = _find_template_values(kind, kind.versions[0])
    assert marks is not None
    # component names first, because they contain the other names
    return marks, re.compile(b"(" + b"|".join(map(re.escape, marks)) + b")")


_MARKS, _MARK = _make_marks()


class _TextTemplate:
    """A text with places for names: at least two, because all of them name a group and a version."""

    __slots__ = ("_pick", "_size", "_texts", "_uses")

    def __init__(self, text: bytes) -> None:
        """Split a template at its placeholders. text: with the placeholder names."""
        self._texts = _MARK.split(text)
        places = [_MARKS.index(mark) for mark in self._texts[1::2]]
        self._pick = itemgetter(*places)
        self._size = sum(map(len, self._texts[::2]))
        self._uses = [*Counter(places).items()]

    def fill_in(self, values: Values) -> bytes:
        """Return the text of a kind."""
        texts = self._texts.copy()
        texts[1::2] = self._pick(values)
        return b"".join(texts)

    def measure_filled(self, values: Values) -> int:
        """Return the size of the filled template in bytes."""
        return self._size + sum(len(values[slot]) * times for slot, times in self._uses)


class _FilledEntry:
    """An entry of a document that is filled in when it is sent."""

    __slots__ = ("_size", "_template", "_values")

    def __init__(self, template: _TextTemplate, values: Values) -> None:
        self._template = template
        self._values = values
        self._size = template.measure_filled(values)

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return self._template.fill_in(self._values)


def join_document(form: DocumentForm, areas: Iterable[AreaEntries]) -> DocumentBody:
    """Return the version 3 document of a group-version, of the parts of its kinds."""
    paths, schemas = _merge_areas(AreaEntries({}, _make_standard(form)), areas)
    head = {"openapi": "3.0.0", "info": v3.CUSTOM_INFO}
    if form is V3_JSON:
        start = serializer.encode_json(head)[:-1] + b',"paths":{'
        return DocumentBody([start, paths, b'},"components":{"schemas":{', schemas, b"}}}"])
    sizes = _sum_sizes(paths), _sum_sizes(schemas)
    begun_schemas = gnostic.begin_field(gnostic.SCHEMAS, sizes[1])
    begun = gnostic.begin_field(gnostic.COMPONENTS, len(begun_schemas) + sizes[1]) + begun_schemas
    begun_paths = gnostic.V3.encode("Document", head) + gnostic.begin_field(gnostic.V3_PATHS, sizes[0])
    return DocumentBody([begun_paths, paths, begun, schemas], b"")


def join_swagger(form: DocumentForm, release: str, builtin: AreaEntries, areas: Iterable[AreaEntries]) -> DocumentBody:
    """Return the version 2 document. builtin: by make_builtin_part. areas: the parts of custom kinds."""
    paths, definitions = _merge_areas(builtin, areas)
    head, tail = v2.make_swagger_head(release), v2.make_swagger_tail()
    if form is V2_PROTOBUF:
        begun_paths = gnostic.begin_field(gnostic.V2_PATHS, _sum_sizes(paths))
        begun = gnostic.begin_field(gnostic.DEFINITIONS, _sum_sizes(definitions))
        rest = gnostic.V2.encode("Document", {**head, **tail})
        return DocumentBody([rest + begun_paths, paths, begun, definitions], b"")
    start, end = serializer.encode_json(head)[:-1], serializer.encode_json(tail)[1:]
    return DocumentBody([start + b',"paths":{', paths, b'},"definitions":{', definitions, b"}," + end])


def _merge_areas(first: AreaEntries, areas: Iterable[AreaEntries]) -> tuple[list[DocumentPiece], list[DocumentPiece]]:
    """Return the entries of both areas, sorted by name; of equal names the later one counts."""
    paths, components = dict(first.paths), dict(first.components)
    for area in areas:
        paths.update(area.paths)
        components.update(area.components)
    return [paths[name] for name in sorted(paths)], [components[name] for name in sorted(components)]


def _sum_sizes(pieces: Iterable[DocumentPiece]) -> int:
    return sum(map(len, pieces))
