"""The type of a JSONSchemaProps field that data cannot describe, and empty lists and maps that a schema keeps.

A Go server drops these, although some rules tell them from absent ones.
"""

from __future__ import annotations

from typing import Any

from podless.structs.gotypes import ListOf

_ANYWHERE = ("required", "properties", "x-kubernetes-validations")
_ELSEWHERE = ("enum", "allOf", "oneOf", "anyOf", "patternProperties", "definitions", "x-kubernetes-list-map-keys")

_PAIR = ["integer", "string"]


class Alternatives(ListOf):
    """Schemas; two that are for an integer and for a text are given as such, or are none of that pair."""

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        read = super().read_value(value, unknown)
        if len(read) == len(_PAIR) and [part.get("type") for part in read] == _PAIR:
            for part, given in zip(read, value, strict=True):
                keep_empty(part, given, root=False)
        return read


def keep_empty(schema: dict[str, Any], given: dict[str, Any], *, root: bool) -> None:
    """Put back what is empty in a schema as it was given. root: but for what may be there beside a status."""
    names = _ELSEWHERE if root else _ANYWHERE + _ELSEWHERE
    schema |= {name: given[name] for name in names if given.get(name) in ([], {})}
