"""A JSONSchemaProps type that .fields cannot describe, and empty lists and maps that a schema keeps.

Go drops these, although some rules distinguish them from absent ones.
"""

from __future__ import annotations

from typing import Any

from podless.structs.gotypes import ListOf

_ANYWHERE = ("required", "properties", "x-kubernetes-validations")
_ELSEWHERE = ("enum", "allOf", "oneOf", "anyOf", "patternProperties", "definitions", "x-kubernetes-list-map-keys")

_PAIR = ["integer", "string"]


class Alternatives(ListOf):
    """A list of schemas. If it has exactly an integer and a string schema, these keep empty lists and maps."""

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        read = super().read_value(value, unknown)
        if len(read) == len(_PAIR) and [schema.get("type") for schema in read] == _PAIR:
            for schema, raw_schema in zip(read, value, strict=True):
                keep_empty(schema, raw_schema, root=False)
        return read


def keep_empty(schema: dict[str, Any], raw: dict[str, Any], *, root: bool) -> None:
    """Restore empty lists and maps of a schema. root: skip those that are allowed next to a status subresource."""
    names = _ELSEWHERE if root else _ANYWHERE + _ELSEWHERE
    schema |= {name: raw[name] for name in names if raw.get(name) in ([], {})}
