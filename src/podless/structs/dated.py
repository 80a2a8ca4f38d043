"""Finds the fields of an object that only some releases have.

A .fields file (structs/structfiles.py) says so with the options since, until and gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.structs.gotypes import GoType, ListOf, MapOf, Union
from podless.structs.structfiles import Dates, dated_fields
from podless.structs.structs import Struct


def find_dates(type: GoType, value: Any) -> Iterator[Dates]:
    """Yield the conditions of dated fields in a value, once for each occurrence, except fields of no release."""
    if isinstance(type, Union):
        type = type.forms.get(value.__class__) or type
    if isinstance(type, Struct):
        if isinstance(value, dict):
            yield from _find_in(type, value)
    elif isinstance(type, ListOf) and isinstance(value, list):
        for item in value if type.nested else ():
            yield from find_dates(type.item, item)
    elif isinstance(type, MapOf) and isinstance(value, dict):
        for item in value.values() if type.nested else ():
            yield from find_dates(type.item, item)


def _find_in(struct: Struct, value: dict[str, Any]) -> Iterator[Dates]:
    dated = dated_fields(struct.home).get(struct.name, {}) if struct.home else {}
    for name in dated.keys() & value.keys():
        yield dated[name]
    for field in struct.parts:
        if field.inline:
            yield from find_dates(field.type, value)
        elif field.type.nested and field.name in value:
            yield from find_dates(field.type, value[field.name])
