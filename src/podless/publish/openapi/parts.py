"""The part of a custom kind's version in a document, in each form: paths and components, by name.

Parts are made once for each kind. In JSON, only the component of the kind itself is kept as bytes; the rest is filled
into templates when it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from podless.codec import serializer
from podless.kinds.kind import Kind, Version
from podless.publish.openapi import builtin, templates, v2, v2pb, v3, v3pb
from podless.publish.openapi.pieces import Piece, Text
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import Release, served_release

Document = dict[str, Any]
Area = dict[str, Piece]


class AreaEntries(NamedTuple):
    """Entries of the two areas of a document, by name."""

    paths: Mapping[str, Piece]
    components: Mapping[str, Piece]


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
    path: Callable[[str, Any], bytes] = templates.encode_entry
    component: Callable[[str, Any], bytes] = templates.encode_entry
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
        components |= _scale(form.name, served_release())
    values = templates.template_names(kind, version) if form.templated and not version.selectable else None
    if values is None:
        components |= encode_entries(form.component, form.listed(kind, version))
        return AreaEntries(encode_entries(form.path, form.paths(kind, version)), components)
    shape = _shape(form.name, kind.namespaced, version.status, version.scale is not None, served_release())
    components[values[templates.LISTED].decode()] = templates.Filled(shape.listed, values)
    return AreaEntries(
        {name.fill_in(values).decode(): templates.Filled(path, values) for name, path in shape.paths}, components
    )


def encode_entries(make: Callable[[str, Any], bytes], found: Document) -> Area:
    """Return entries as bytes."""
    return {name: Text(serializer.fit_bytes(make(name, value))) for name, value in found.items()}


@bounded_cache(32)
def _scale(name: str, _: Release) -> Area:
    form = FORMS[name]
    return encode_entries(form.component, form.scale())


@bounded_cache(64)
def _shape(name: str, namespaced: bool, status: bool, scale: bool, _: Release) -> templates.TemplateShape:
    form = FORMS[name]
    return templates.make_shape(namespaced, status, scale, form.paths, form.listed)
