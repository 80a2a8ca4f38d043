"""A Table as a decoded object, made from decoded objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from podless.codec.gotext import Named
from podless.meta import field
from podless.meta.errors import BadRequest
from podless.publish.table.layout import TableLayout
from podless.publish.table.partial import make_partial
from podless.runtime.jsonobject import Object

INCLUDED = ("", "Metadata", "Object", "None")


def check_include(text: str) -> str:
    """Return the includeObject parameter: Metadata for "". Raises BadRequest."""
    if text not in INCLUDED:
        error = field.invalid("includeObject", Named(text), "must be 'Metadata', 'Object', 'None', or empty")
        raise BadRequest(f"Unable to convert to Table as requested: {error}")
    return text or "Metadata"


def make_table(
    layout: TableLayout,
    objects: Iterable[Object],
    metadata: Mapping[str, Any],
    include: str = "Metadata",
    version: str = "v1",
    *,
    with_columns: bool = True,
    now: float | None = None,
) -> Object:
    """Return a Table of decoded objects.

    metadata: the list's metadata, or the object's own for a single one. include: Metadata, Object or None.
    with_columns: include the columnDefinitions, as in all tables except those of later watch events.
    """
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": listed_meta(metadata),
        "columnDefinitions": layout.definitions if with_columns else None,
        "rows": [_make_row(layout, obj, include, version, now) for obj in objects],
    }


def _make_row(layout: TableLayout, obj: Object, include: str, version: str, now: float | None) -> Object:
    row: Object = {"cells": layout.read_cells(obj, now)}
    if layout.conditions is not None and (conditions := layout.conditions(obj)):
        row["conditions"] = conditions
    return row | {"object": included_object(obj, include, version)}


def included_object(obj: Object, include: str, version: str) -> Mapping[str, Any] | None:
    """Return the object that a row includes."""
    return obj if include == "Object" else make_partial(obj, version) if include == "Metadata" else None


def listed_meta(metadata: Mapping[str, Any]) -> Object:
    """Return the fields of metadata that ListMeta has, without empty ones."""
    return {
        name: metadata[name] for name in ("resourceVersion", "continue", "remainingItemCount") if metadata.get(name)
    }
