"""The internal form of a schema, as Go prints it: some messages of kube-apiserver show it whole."""

from __future__ import annotations

from typing import Any

from podless.cel.rules.rule import RULE
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts

# the keywords in the order of the internal JSONSchemaProps. "=": the zero value is "". "?": False. Others: None
_KEYWORDS = """
id= $schema= $ref description= type= nullable? format= title= default maximum exclusiveMaximum? minimum
exclusiveMinimum? maxLength minLength pattern= maxItems minItems uniqueItems? multipleOf enum maxProperties
minProperties required items allOf oneOf anyOf not properties additionalProperties patternProperties dependencies
additionalItems definitions externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource?
x-kubernetes-int-or-string? x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type
x-kubernetes-validations
"""


def _name_field(keyword: str) -> str:
    """Return the name of a keyword's field in Go."""
    name = "".join(part[:1].upper() + part[1:] for part in keyword.replace("x-kubernetes", "x").strip("$").split("-"))
    return "ID" if name == "Id" else name


# (name in Go, keyword, zero value)
_FIELDS: tuple[tuple[str, str, Any], ...] = tuple(
    (_name_field(word.rstrip("=?")), word.rstrip("=?"), "" if word[-1] == "=" else False if word[-1] == "?" else None)
    for word in _KEYWORDS.split()
)


def dump_schema(schema: dict[str, Any] | None) -> dict[str, Any]:
    """Return the internal form of a schema, keys in Go's order."""
    given = schema or {}
    charge(1)
    return {name: _value(keyword, given.get(keyword), empty) for name, keyword, empty in _FIELDS}


def given_fields(schema: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the keywords of a schema that do not have Go's zero values, with their internal names, in their order."""
    values = ((name, schema.get(keyword), empty) for name, keyword, empty in _FIELDS)
    # pointers and lists of Go are given even if they point to an empty value
    return [(name, value) for name, value, empty in values if value is not None and (empty is None or value != empty)]


def internal_rule(item: dict[str, Any]) -> dict[str, Any]:
    """Return the internal form of a rule in x-kubernetes-validations."""
    return {name: empty if item.get(keyword) is None else item[keyword] for name, keyword, empty in RULE}


def _value(keyword: str, value: Any, empty: Any) -> Any:
    if value is None:
        return empty
    if keyword in ("allOf", "anyOf", "oneOf"):
        return [dump_schema(part) for part in each(value)]
    if keyword in ("properties", "patternProperties", "definitions"):
        return {name: dump_schema(value[name]) for name in each(sort_texts(value))}
    if keyword == "not":
        return dump_schema(value)
    if keyword == "items":
        if isinstance(value, list):
            return {"Schema": None, "JSONSchemas": [dump_schema(part) for part in each(value)]}
        return {"Schema": dump_schema(value), "JSONSchemas": None}
    if keyword in ("additionalProperties", "additionalItems"):
        whole = isinstance(value, dict)
        return {"Allows": whole or value, "Schema": dump_schema(value) if whole else None}
    if keyword == "dependencies":
        return {name: _dependency(value[name]) for name in each(sort_texts(value))}
    if keyword == "externalDocs":
        return {"Description": value.get("description") or "", "URL": value.get("url") or ""}
    if keyword == "x-kubernetes-validations":
        return [internal_rule(item) for item in each(value)]
    return value


def _dependency(value: Any) -> dict[str, Any]:
    whole = isinstance(value, dict)
    return {"Schema": dump_schema(value) if whole else None, "Property": None if whole else value}
