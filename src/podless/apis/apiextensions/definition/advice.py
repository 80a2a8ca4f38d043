"""Warnings about an accepted CustomResourceDefinition."""

from __future__ import annotations

from podless.apis.apiextensions.definition import shared
from podless.runtime.jsonobject import Object
from podless.schema import warnings as of_schema


def warn_of_formats(new: Object, old: Object | None = None) -> list[str]:
    """Return warnings about formats that are not validated; on an update, only about new ones."""
    known = set() if old is None else set(_list_warnings(old))
    return [text for text in _list_warnings(new) if text not in known]


def _list_warnings(crd: Object) -> list[str]:
    """Return the warnings of all schemas, each once."""
    return list(dict.fromkeys(text for schema in shared.list_schemas(crd["spec"]) for text in of_schema(schema)))
