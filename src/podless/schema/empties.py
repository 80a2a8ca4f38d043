"""Lists and maps of a schema that a Go server drops where they are empty, though some rules tell them from none."""

from __future__ import annotations

from typing import Any

_ANYWHERE = ("required", "properties", "x-kubernetes-validations")
_ELSEWHERE = ("enum", "allOf", "oneOf", "anyOf", "patternProperties", "definitions", "x-kubernetes-list-map-keys")


def keep_empty(schema: dict[str, Any], given: dict[str, Any], *, root: bool) -> None:
    """Put back what is empty in a schema as it was given. root: but for what may be there beside a status."""
    names = _ELSEWHERE if root else _ANYWHERE + _ELSEWHERE
    schema |= {name: given[name] for name in names if given.get(name) in ([], {})}
