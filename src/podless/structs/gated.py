"""Drops fields whose feature gate is off, as kube-apiserver's strategies do, and finds fields that some releases lack.

Decoding keeps these fields, so managed fields and mutating admission see them. A field stays if the stored object has a
field of the same gate already. Source: the dropDisabledFields functions of pkg/api and pkg/registry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.runtime.meter import each
from podless.structs.gotypes import GoType, ListOf, MapOf, Union
from podless.structs.structfiles import Dates, dated_fields
from podless.structs.structs import Field, Struct


def drop_gated(struct: Struct | None, obj: dict[str, Any], old: dict[str, Any] | None = None) -> None:
    """Remove the fields of gates that are off from an object, in place. old: the object before the write.

    struct: the fields of the object, None for a custom object, which has no such fields.
    """
    if struct is None or not struct.off_gates:
        return
    used = {field.gate for _, field in _find_gated(struct, old)} if old is not None else ()
    for holder, field in list(_find_gated(struct, obj)):
        if field.gate not in used:
            del holder[field.name]


def _find_gated(kind: GoType, value: Any) -> Iterator[tuple[dict[str, Any], Field]]:
    """Yield the fields of gates that are off, each with the object that contains it."""
    for struct, holder in _find_structs(kind, value):
        for field in struct.fields if struct.off_gates else ():
            if field.name in holder and field.gate:
                yield holder, field
            elif field.name in holder and field.type.nested:
                yield from _find_gated(field.type, holder[field.name])


def find_dates(kind: GoType, value: Any) -> Iterator[Dates]:
    """Yield the conditions of dated fields in a value, once for each occurrence, except fields of no release.

    A .fields file (structs/structfiles.py) states them with the options since, until and gate.
    """
    for struct, holder in _find_structs(kind, value):
        dated = dated_fields(struct.home).get(struct.name, {}) if struct.home else {}
        for name in dated.keys() & holder.keys():
            yield dated[name]
        for field in struct.declared_fields:
            if field.inline:
                yield from find_dates(field.type, holder)
            elif field.type.nested and field.name in holder:
                yield from find_dates(field.type, holder[field.name])


def _find_structs(kind: GoType, value: Any) -> Iterator[tuple[Struct, dict[str, Any]]]:
    """Yield the objects of structs in a value, each with its struct, without those in the fields of these."""
    if isinstance(kind, Union):
        kind = kind.forms.get(value.__class__) or kind
    if isinstance(kind, Struct) and isinstance(value, dict):
        yield kind, value
    elif isinstance(kind, ListOf) and isinstance(value, list):
        for item in each(value) if kind.nested else ():
            yield from _find_structs(kind.item, item)
    elif isinstance(kind, MapOf) and isinstance(value, dict):
        for item in each(value).values() if kind.nested else ():
            yield from _find_structs(kind.item, item)
