"""The part of a custom kind's version in a document, in each form: paths and components, by name.

Parts are made once for each kind. In JSON, only the component of the kind itself is kept as bytes; the rest is filled
into templates when it is sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from podless.codec import serializer
from podless.kinds.kind import Kind, Scale, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import builtin, routes, v2, v2pb, v3, v3pb
from podless.publish.openapi.pieces import DocumentPiece
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import Release, served_release

# templates for JSON that depends only on the names of a custom kind: paths, and list components. Kinds with the same
# subresources differ there only in a few names. So the text is made once, with placeholders, and filled in when it is
# sent: this takes some microseconds, and saves 20 KB for each kind.

_PLAIN = re.compile(r"[A-Z][A-Za-z0-9]{0,99}")  # a kind that occurs unchanged in operation ids
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,299}")  # groups, versions and plurals of valid definitions

Values = tuple[bytes, ...]
LISTED = 1  # index of the list's component among the values


def template_names(kind: Kind, version: Version) -> Values | None:
    """Return the values for a custom kind's version, None if its names need escaping."""
    group, served = kind.group, version.name
    if not (_PLAIN.fullmatch(kind.kind) and _PLAIN.fullmatch(kind.list_kind)) or kind.more_subresources:
        return None
    if not all(map(_NAME.fullmatch, (group, served, kind.plural))):
        return None
    prefix, tag = routes.group_names(group, served)
    item, list_name = (routes.model_name(group, served, noun) for noun in (kind.kind, kind.list_kind))
    return tuple(map(str.encode, (item, list_name, prefix, tag, kind.kind, kind.list_kind, kind.plural, group, served)))


def _make_stand_in(namespaced: bool, status: bool, scale: bool) -> Kind:
    version = Version("zzversion", status=status, scale=Scale("", "") if scale else None)
    return Kind("zzgroup", "zzplural", "Zzkind", "zzkind", "Zzmany", namespaced, (version,), "zzversion", Strategy())


def _make_marks() -> tuple[Values, re.Pattern[bytes]]:
    kind = _make_stand_in(True, True, True)
    marks = template_names(kind, kind.versions[0])
    assert marks is not None
    # component names first, because they contain the other names
    return marks, re.compile(b"(" + b"|".join(map(re.escape, marks)) + b")")


_MARKS, _MARK = _make_marks()


class TextTemplate:
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


class FilledEntry:
    """An entry of a document that is filled in when it is sent."""

    __slots__ = ("_size", "_template", "_values")

    def __init__(self, template: TextTemplate, values: Values) -> None:
        self._template = template
        self._values = values
        self._size = template.measure_filled(values)

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return self._template.fill_in(self._values)


class TemplateShape(NamedTuple):
    """The templates of kinds that differ only in names. paths: with their names, which are templates, too."""

    paths: tuple[tuple[TextTemplate, TextTemplate], ...]
    listed: TextTemplate


def make_shape(
    namespaced: bool,
    status: bool,
    scale: bool,
    paths: Callable[[Kind, Version], dict[str, Any]],
    listed: Callable[[Kind, Version], dict[str, Any]],
) -> TemplateShape:
    """Return the templates for a scope and subresources. paths, listed: return the parts of a kind."""
    kind = _make_stand_in(namespaced, status, scale)
    version = kind.versions[0]
    items = paths(kind, version)
    return TemplateShape(
        tuple((TextTemplate(path.encode()), TextTemplate(encode_entry(path, items[path]))) for path in items),
        TextTemplate(encode_entry(*next(iter(listed(kind, version).items())))),
    )


def encode_entry(name: str, value: Any) -> bytes:
    """Return an entry as JSON."""
    return serializer.encode_json({name: value})[1:-1]


Document = dict[str, Any]
Area = dict[str, DocumentPiece]


class AreaEntries(NamedTuple):
    """Entries of the two areas of a document, by name."""

    paths: Mapping[str, DocumentPiece]
    components: Mapping[str, DocumentPiece]


class KindForm(NamedTuple):
    """How a kind is described in a form.

    item, listed, scale, paths: return the schema of the kind, its list, Scale and its paths.

    path, component: encode an entry. templated: entries that follow from names are filled into templates.
    """

    name: str
    item: Callable[[Kind, Version], Document]
    listed: Callable[[Kind, Version], Document]
    scale: Callable[[], Document]
    paths: Callable[[Kind, Version], Document]
    path: Callable[[str, Any], bytes] = encode_entry
    component: Callable[[str, Any], bytes] = encode_entry
    templated: bool = True


V2_JSON = KindForm("v2", v2.item_definition, v2.list_definition, v2.scale_definitions, v2.kind_paths)
V3_JSON = KindForm("v3", v3.item_component, v3.list_component, builtin.scale_components, v3.kind_paths)
V2_PROTOBUF = V2_JSON._replace(name="v2pb", path=v2pb.encode_path, component=v2pb.encode_definition, templated=False)
V3_PROTOBUF = V3_JSON._replace(name="v3pb", path=v3pb.encode_path, component=v3pb.encode_schema, templated=False)
FORMS = {form.name: form for form in (V2_JSON, V3_JSON, V2_PROTOBUF, V3_PROTOBUF)}


def make_part(form: KindForm, kind: Kind, version: Version) -> AreaEntries:
    """Return the part of a custom kind's version in documents of a form."""
    components = encode_entries(form.component, form.item(kind, version))
    if version.scale is not None:
        components |= _scale_area(form.name, served_release())
    values = template_names(kind, version) if form.templated and not version.selectable else None
    if values is None:
        components |= encode_entries(form.component, form.listed(kind, version))
        return AreaEntries(encode_entries(form.path, form.paths(kind, version)), components)
    shape = _make_shape(form.name, kind.namespaced, version.status, version.scale is not None, served_release())
    components[values[LISTED].decode()] = FilledEntry(shape.listed, values)
    return AreaEntries(
        {name.fill_in(values).decode(): FilledEntry(path, values) for name, path in shape.paths}, components
    )


def encode_entries(make: Callable[[str, Any], bytes], document: Document) -> Area:
    """Return entries as bytes."""
    return {name: serializer.fit_bytes(make(name, value)) for name, value in document.items()}


# the release is only a key of these caches, as in documents.py
@bounded_cache(32)
def _scale_area(name: str, _: Release) -> Area:
    form = FORMS[name]
    return encode_entries(form.component, form.scale())


@bounded_cache(64)
def _make_shape(name: str, namespaced: bool, status: bool, scale: bool, _: Release) -> TemplateShape:
    form = FORMS[name]
    return make_shape(namespaced, status, scale, form.paths, form.listed)
