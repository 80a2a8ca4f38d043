"""JSONSchemaProps of apiextensions.k8s.io/v1: what an openAPIV3Schema may say."""

from __future__ import annotations

from podless.meta.structs import BOOL, FLOAT64, INT64, JSON, STRING, Field, ListOf, MapOf, String, Struct, Union
from podless.meta.structs_meta import STRINGS

VALIDATION_RULE = Struct(
    "ValidationRule",
    (
        Field("rule", STRING, 1, always=True),
        Field("message", STRING, 2),
        Field("messageExpression", STRING, 3),
        Field("reason", String("v1.FieldValueErrorReason"), 4, pointer=True),
        Field("fieldPath", STRING, 5),
        Field("optionalOldSelf", BOOL, 6, pointer=True),
    ),
)

EXTERNAL_DOCUMENTATION = Struct("ExternalDocumentation", (Field("description", STRING, 1), Field("url", STRING, 2)))


def _fields() -> tuple[Field, ...]:
    schemas, by_name = ListOf(JSON_SCHEMA_PROPS), MapOf(JSON_SCHEMA_PROPS)
    return (
        Field("id", STRING, 1),
        Field("$schema", String("v1.JSONSchemaURL"), 2),
        Field("$ref", STRING, 3, pointer=True),
        Field("description", STRING, 4),
        Field("type", STRING, 5),
        Field("format", STRING, 6),
        Field("title", STRING, 7),
        Field("default", JSON, 8, pointer=True),
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
        Field("enum", ListOf(JSON), 20),
        Field("maxProperties", INT64, 21, pointer=True),
        Field("minProperties", INT64, 22, pointer=True),
        Field("required", STRINGS, 23),
        Field("items", SCHEMA_OR_ARRAY, 24, pointer=True),
        Field("allOf", schemas, 25),
        Field("oneOf", schemas, 26),
        Field("anyOf", schemas, 27),
        Field("not", JSON_SCHEMA_PROPS, 28, pointer=True),
        Field("properties", by_name, 29),
        Field("additionalProperties", SCHEMA_OR_BOOL, 30, pointer=True),
        Field("patternProperties", by_name, 31),
        # refused even when it is empty, so the empty one must not get lost
        Field("dependencies", MapOf(SCHEMA_OR_STRINGS, "v1.JSONSchemaDependencies"), 32, pointer=True),
        Field("additionalItems", SCHEMA_OR_BOOL, 33, pointer=True),
        Field("definitions", MapOf(JSON_SCHEMA_PROPS, "v1.JSONSchemaDefinitions"), 34),
        Field("externalDocs", EXTERNAL_DOCUMENTATION, 35, pointer=True),
        Field("example", JSON, 36, pointer=True),
        Field("nullable", BOOL, 37),
        Field("x-kubernetes-preserve-unknown-fields", BOOL, 38, pointer=True),
        Field("x-kubernetes-embedded-resource", BOOL, 39),
        Field("x-kubernetes-int-or-string", BOOL, 40),
        Field("x-kubernetes-list-map-keys", STRINGS, 41),
        Field("x-kubernetes-list-type", STRING, 42, pointer=True),
        Field("x-kubernetes-map-type", STRING, 43, pointer=True),
        Field("x-kubernetes-validations", ListOf(VALIDATION_RULE, "v1.ValidationRules"), 44),
    )


JSON_SCHEMA_PROPS = Struct("JSONSchemaProps", _fields)

SCHEMA_OR_ARRAY = Union("v1.JSONSchemaPropsOrArray", lambda: {dict: JSON_SCHEMA_PROPS, list: ListOf(JSON_SCHEMA_PROPS)})
SCHEMA_OR_BOOL = Union(
    "v1.JSONSchemaPropsOrBool",
    lambda: {dict: JSON_SCHEMA_PROPS, bool: None},
    "boolean or JSON schema expected",
)
SCHEMA_OR_STRINGS = Union("v1.JSONSchemaPropsOrStringArray", lambda: {dict: JSON_SCHEMA_PROPS, list: STRINGS})
