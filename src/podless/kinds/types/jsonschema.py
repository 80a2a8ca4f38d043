"""JSONSchemaProps of apiextensions.k8s.io: what an openAPIV3Schema may say. Only Go's package differs by version."""

from __future__ import annotations

from typing import Any

from podless.meta.gotypes import BOOL, FLOAT64, INT64, STRING, Canonical, ListOf, MapOf, String, Union
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS

_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


# lists and maps, which are dropped where they are empty, though the rules for some schemas tell them from none
_ANYWHERE = ("required", "properties", "x-kubernetes-validations")
_ELSEWHERE = ("enum", "allOf", "oneOf", "anyOf", "patternProperties", "definitions", "x-kubernetes-list-map-keys")
_PAIR = ["integer", "string"]


def keep_empty(schema: dict[str, Any], given: dict[str, Any], *, root: bool) -> None:
    """Put back what is empty in a schema as it was given. root: but for what may be there beside a status."""
    names = _ELSEWHERE if root else _ANYWHERE + _ELSEWHERE
    schema |= {name: given[name] for name in names if given.get(name) in ([], {})}


class _Alternatives(ListOf):
    """Schemas; two that are for an integer and for a text are given as such, or are none of that pair."""

    def read(self, value: Any, unknown: list[str]) -> Any:
        """The schemas."""
        read = super().read(value, unknown)
        if len(read) == len(_PAIR) and [part.get("type") for part in read] == _PAIR:
            for part, given in zip(read, value, strict=True):
                keep_empty(part, given, root=False)
        return read


def make(package: str) -> Struct:
    """JSONSchemaProps with all that belongs to it, as types of a Go package, which messages name."""

    def go(name: str) -> str:
        return f"{package}.{name}"

    rule = Struct(
        "ValidationRule",
        (
            Field("rule", STRING, 1, always=True),
            Field("message", STRING, 2),
            Field("messageExpression", STRING, 3),
            Field("reason", String(go("FieldValueErrorReason"), _REASONS), 4, pointer=True),
            Field("fieldPath", STRING, 5),
            Field("optionalOldSelf", BOOL, 6, pointer=True),
        ),
        package,
    )
    docs = Struct("ExternalDocumentation", (Field("description", STRING, 1), Field("url", STRING, 2)), package)
    json = Canonical(go("JSON"))

    def fields() -> tuple[Field, ...]:
        schemas, by_name = ListOf(props), MapOf(props)
        return (
            Field("id", STRING, 1),
            Field("$schema", String(go("JSONSchemaURL")), 2),
            Field("$ref", STRING, 3, pointer=True),
            Field("description", STRING, 4),
            Field("type", STRING, 5),
            Field("format", STRING, 6),
            Field("title", STRING, 7),
            Field("default", json, 8, pointer=True),
            Field("maximum", FLOAT64, 9, pointer=True),
            Field("exclusiveMaximum", BOOL, 10),
            Field("minimum", FLOAT64, 11, pointer=True),
            Field("exclusiveMinimum", BOOL, 12),
            Field("maxLength", INT64, 13, pointer=True),
            Field("minLength", INT64, 14, pointer=True),
            Field("pattern", STRING, 15),
            Field("maxItems", INT64, 16, pointer=True),
            Field("minItems", INT64, 17, pointer=True),
            Field("uniqueItems", BOOL, 18),
            Field("multipleOf", FLOAT64, 19, pointer=True),
            Field("enum", ListOf(json), 20),
            Field("maxProperties", INT64, 21, pointer=True),
            Field("minProperties", INT64, 22, pointer=True),
            Field("required", STRINGS, 23),
            Field("items", or_array, 24, pointer=True),
            Field("allOf", schemas, 25),
            Field("oneOf", schemas, 26),
            Field("anyOf", _Alternatives(props), 27),
            Field("not", props, 28, pointer=True),
            Field("properties", by_name, 29),
            Field("additionalProperties", or_bool, 30, pointer=True),
            Field("patternProperties", by_name, 31),
            # refused even when it is empty, so the empty one must not get lost
            Field("dependencies", MapOf(or_strings, go("JSONSchemaDependencies")), 32, pointer=True),
            Field("additionalItems", or_bool, 33, pointer=True),
            Field("definitions", MapOf(props, go("JSONSchemaDefinitions")), 34),
            Field("externalDocs", docs, 35, pointer=True),
            Field("example", json, 36, pointer=True),
            Field("nullable", BOOL, 37),
            Field("x-kubernetes-preserve-unknown-fields", BOOL, 38, pointer=True),
            Field("x-kubernetes-embedded-resource", BOOL, 39),
            Field("x-kubernetes-int-or-string", BOOL, 40),
            Field("x-kubernetes-list-map-keys", STRINGS, 41),
            Field("x-kubernetes-list-type", STRING, 42, pointer=True),
            Field("x-kubernetes-map-type", STRING, 43, pointer=True),
            Field(
                "x-kubernetes-validations",
                ListOf(rule, go("ValidationRules")),
                44,
                keys=("rule",),
                patch="merge",
                merge="rule",
            ),
        )

    props = Struct("JSONSchemaProps", fields, package)
    or_array = Union(go("JSONSchemaPropsOrArray"), lambda: {dict: props, list: ListOf(props)})
    or_bool = Union(go("JSONSchemaPropsOrBool"), lambda: {dict: props, bool: None}, "boolean or JSON schema expected")
    or_strings = Union(go("JSONSchemaPropsOrStringArray"), lambda: {dict: props, list: STRINGS})
    return props


JSON_SCHEMA_PROPS = make("v1")
