"""The internal form of a schema, as Go prints it: some messages of kube-apiserver show it whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from podless.cel.rules import rule
from podless.codec import gotext
from podless.codec.gotext import Literal
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.runtime.sorting import sort_texts
from podless.schema.vocabulary import FIELDS

_ZEROS = {'""': "", "false": False}
_ADDRESS = "0xc000000000"
_STEPS = 16  # steps on the meter for all fields of a schema


def _name_field(keyword: str) -> str:
    name = "".join(word[:1].upper() + word[1:] for word in keyword.replace("x-kubernetes", "x").strip("$").split("-"))
    return "ID" if name == "Id" else name


class _PropsField(NamedTuple):
    """A field of JSONSchemaProps. name: in Go. kind: its Go type, "" for a string or bool that is no pointer."""

    name: str
    keyword: str
    zero: Any
    kind: str


def _read_field(word: str) -> _PropsField:
    keyword, _, zero = word.partition("=")
    keyword, _, kind = keyword.partition(":")
    return _PropsField(
        _name_field(keyword), keyword, _ZEROS.get(zero), re.sub(r"([JEV])", r"apiextensions.\1", kind, count=1)
    )


_FIELDS: Final = tuple(_read_field(word) for word in FIELDS)


def show_schema(schema: dict[str, Any]) -> Any:
    """Return a schema as errors show it."""
    return dump_schema(schema) if has("ValuesAsJSON") else Literal(_write_schema(schema))


def dump_schema(schema: dict[str, Any] | None) -> dict[str, Any]:
    """Return the internal form of a schema, keys in Go's order."""
    keywords = schema or {}
    charge(_STEPS)
    return {field.name: _convert_value(field.keyword, keywords.get(field.keyword), field.zero) for field in _FIELDS}


def dump_items(items: Any) -> dict[str, Any]:
    """Return the internal form of `items`: a schema, a list of schemas, or neither."""
    schemas = [dump_schema(item) for item in each(items)] if isinstance(items, list) else None
    return {"Schema": dump_schema(items) if isinstance(items, dict) else None, "JSONSchemas": schemas}


def list_given_fields(schema: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the keywords of a schema that do not have Go's zero values, with their internal names, in their order."""
    values = ((field.name, schema.get(field.keyword), field.zero) for field in _FIELDS)
    # pointers and lists of Go are given even if they point to an empty value
    return [(name, value) for name, value, empty in values if value is not None and (empty is None or value != empty)]


def _convert_value(keyword: str, value: Any, empty: Any) -> Any:
    if value is None:
        return empty
    if keyword in ("allOf", "anyOf", "oneOf"):
        return [dump_schema(branch) for branch in each(value)]
    if keyword in ("properties", "patternProperties", "definitions"):
        return {name: dump_schema(value[name]) for name in each(sort_texts(value))}
    if keyword == "not":
        return dump_schema(value)
    if keyword == "items":
        return dump_items(value)
    if keyword in ("additionalProperties", "additionalItems"):
        is_schema = isinstance(value, dict)
        return {"Allows": is_schema or value, "Schema": dump_schema(value) if is_schema else None}
    if keyword == "dependencies":
        return {name: _convert_dependency(value[name]) for name in each(sort_texts(value))}
    if keyword == "externalDocs":
        return {"Description": value.get("description") or "", "URL": value.get("url") or ""}
    if keyword == "x-kubernetes-validations":
        return [rule.list_go_fields(item) for item in each(value)]
    return value


def _convert_dependency(value: Any) -> dict[str, Any]:
    is_schema = isinstance(value, dict)
    return {"Schema": dump_schema(value) if is_schema else None, "Property": None if is_schema else value}


def _write_schema(schema: dict[str, Any]) -> str:
    """Return a schema in Go's syntax (%#v). Addresses of pointers are arbitrary."""
    charge(_STEPS)
    return f"apiextensions.JSONSchemaProps{{{', '.join(_write_fields(schema))}}}"


def _write_fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, keyword, zero, kind in _FIELDS:
        value = schema.get(keyword)
        if not kind:
            yield f"{name}:{gotext.format_value(value or zero)}"
        elif kind[0] == "*":
            yield f"{name}:({kind})({'nil' if value is None else _ADDRESS})"
        elif value is None:
            yield f"{name}:{kind}(nil)"
        else:
            yield f"{name}:{kind}{{{', '.join(_write_items(keyword, value))}}}"


def _write_items(keyword: str, value: Any) -> Iterator[str]:
    """Return the items of a list or map in Go's syntax."""
    if isinstance(value, dict):
        write = _write_dependency if keyword == "dependencies" else _write_schema
        yield from (f"{gotext.quote(name)}:{write(value[name])}" for name in each(sort_texts(value)))
    elif keyword == "x-kubernetes-validations":
        yield from map(rule.format_go_rule, each(value))
    elif keyword in ("allOf", "anyOf", "oneOf"):
        yield from map(_write_schema, each(value))
    else:
        yield from map(gotext.format_interface, each(value))


def _write_dependency(value: Any) -> str:
    schema, names = (_ADDRESS, None) if isinstance(value, dict) else ("nil", value)
    listed = "[]string(nil)" if names is None else gotext.format_strings(names)
    fields = f"Schema:(*apiextensions.JSONSchemaProps)({schema}), Property:{listed}"
    return f"apiextensions.JSONSchemaPropsOrStringArray{{{fields}}}"
