"""Assembles whole documents from parts as they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podless.codec import serializer
from podless.kinds.kind import Kind
from podless.publish.openapi import v2, v2pb, v3, v3pb
from podless.publish.openapi.parts import (
    FORMS,
    V2_PROTOBUF,
    V3_JSON,
    V3_PROTOBUF,
    Area,
    AreaEntries,
    KindForm,
    encode_entries,
)
from podless.publish.openapi.pieces import DocumentBody, DocumentPiece
from podless.publish.openapi.wire import begin_field
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import Release, served_release


def custom_document(binary: bool, areas: Iterable[AreaEntries]) -> DocumentBody:
    """Return the version 3 document of a group-version, of the parts of its kinds."""
    form = V3_PROTOBUF if binary else V3_JSON
    paths, schemas = _merge_areas(AreaEntries({}, _standard_area(form.name, served_release())), areas)
    if not binary:
        return DocumentBody([_encode_json_head(), paths, b'},"components":{"schemas":{', schemas, b"}}}"])
    sizes = _sum_sizes(paths), _sum_sizes(schemas)
    head = begin_field(v3pb.SCHEMAS, sizes[1])
    start = begin_field(v3pb.COMPONENTS, len(head) + sizes[1])
    return DocumentBody([_encode_binary_head() + begin_field(v3pb.PATHS, sizes[0]), paths, start + head, schemas], b"")


def make_builtin_part(form: KindForm, kinds: Sequence[Kind]) -> AreaEntries:
    """Return the part of all built-in kinds in the version 2 document, and the constant part.

    It walks the structs of all kinds, so call it off the event loop.
    """
    constant, swagger = _constant_entries(form.name, served_release()), v2.swagger_parts(*kinds)
    return AreaEntries(
        {**constant.paths, **encode_entries(form.path, swagger["paths"])},
        {**constant.components, **encode_entries(form.component, swagger["definitions"])},
    )


def swagger_document(form: KindForm, release: str, builtin: AreaEntries, areas: Iterable[AreaEntries]) -> DocumentBody:
    """Return the version 2 document. builtin: by make_builtin_part. areas: the parts of custom kinds."""
    paths, definitions = _merge_areas(builtin, areas)
    if form is V2_PROTOBUF:
        begun = begin_field(v2pb.PATHS, _sum_sizes(paths)), begin_field(v2pb.DEFINITIONS, _sum_sizes(definitions))
        return DocumentBody([v2pb.encode_rest(release) + begun[0], paths, begun[1], definitions], b"")
    head, tail = serializer.encode_json(v2.swagger_head(release))[:-1], serializer.encode_json(v2.swagger_tail())[1:]
    return DocumentBody([head + b',"paths":{', paths, b'},"definitions":{', definitions, b"}," + tail])


def _merge_areas(first: AreaEntries, areas: Iterable[AreaEntries]) -> tuple[list[DocumentPiece], list[DocumentPiece]]:
    """Return the entries of both areas, sorted by name; of equal names the later one counts."""
    paths, components = dict(first.paths), dict(first.components)
    for area in areas:
        paths.update(area.paths)
        components.update(area.components)
    return [paths[name] for name in sorted(paths)], [components[name] for name in sorted(components)]


def _sum_sizes(pieces: Iterable[DocumentPiece]) -> int:
    return sum(map(len, pieces))


# the release is only a key of these caches: the functions that they call read the served release themselves
@bounded_cache(32)
def _standard_area(name: str, _: Release) -> Area:
    """Return the components that all version 3 documents of custom kinds share, in the served release."""
    return encode_entries(FORMS[name].component, v3.standard_components())


@bounded_cache(32)
def _constant_entries(name: str, _: Release) -> AreaEntries:
    """Return the constant part of the version 2 document in a release."""
    form, swagger = FORMS[name], v2.standard_definitions()
    return AreaEntries(
        encode_entries(form.path, swagger["paths"]), encode_entries(form.component, swagger["definitions"])
    )


def _encode_json_head() -> bytes:
    return serializer.encode_json({"openapi": "3.0.0", "info": v3.CUSTOM_INFO})[:-1] + b',"paths":{'


def _encode_binary_head() -> bytes:
    return v3pb.MESSAGES.encode("Document", {"openapi": "3.0.0", "info": v3.CUSTOM_INFO})
