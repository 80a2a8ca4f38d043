"""The published schema of a custom kind: version 3 without loss, version 2 with the losses that old clients need.

`publish_schema` and `convert_to_v2` work on any schema; `make_component` makes the component of a kind with them.
Sources: the structural schema of apiextensions.k8s.io/v1 for the kept keywords, the section "Publish Validation Schema
in OpenAPI" of the CustomResourceDefinition documents for version 2, and the recorded documents for order and form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.codec import gotext
from podless.publish.openapi.builtin import describe_field, describe_type_meta
from podless.publish.openapi.standard import META, REF
from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.schema.plain import mentions_any
from podless.structs.structfiles import META_GROUP

DEFINITIONS = "#/definitions/"
# apiVersion and kind of the kind itself, and of an embedded object
_TYPE_META = describe_type_meta()
_EMBEDDED_TYPE_META = describe_type_meta("EmbeddedObject")
_INT_OR_STRING: list[Schema] = [{"type": "integer"}, {"type": "string"}]
_EXACT = 1 << 53


def _publish_number(value: float) -> float:
    """Return a whole number as an integer, as a Go server writes floats below 1e21."""
    text = gotext.format_number(float(value))
    return int(text) if "." not in text and "e" not in text else value


def _publish_bound(value: float) -> float:
    """Return a bound as a float64 of Go: integers beyond 2^53 lose digits."""
    return value if isinstance(value, int) and -_EXACT <= value <= _EXACT else _publish_number(value)


def _publish_literal(value: Any) -> Any:
    if isinstance(value, float):
        return _publish_number(value)
    if isinstance(value, list | dict):
        charge(len(value))
    if isinstance(value, list):
        return [_publish_literal(item) for item in value]
    if isinstance(value, dict):
        return {key: _publish_literal(item) for key, item in value.items()}
    return value


def _publish_unchanged(value: Any) -> Any:
    return value


def _publish_literals(value: list[Any]) -> list[Any] | None:
    return [_publish_literal(item) for item in value] or None


def _publish_children(value: dict[str, Schema]) -> dict[str, Schema] | None:
    # fast path: most children are only a type
    return {
        name: child if len(child := value[name]) == 1 and child.get("type") else publish_schema(child)
        for name in sorted(each(value))
    } or None


def _publish_nested(value: Schema) -> Schema:
    return publish_schema(value, nested=True)


def _publish_nested_list(value: list[Schema]) -> list[Schema] | None:
    return [_publish_nested(item) for item in value] or None


def _publish_nested_children(value: dict[str, Schema]) -> dict[str, Schema] | None:
    return {name: _publish_nested(value[name]) for name in sorted(value)} or None


def _publish_additional(value: Schema | bool) -> Schema | bool:
    return value if isinstance(value, bool) else publish_schema(value)


def _publish_docs(value: dict[str, str]) -> dict[str, str]:
    return {key: value[key] for key in ("description", "url") if value.get(key)}


def _publish_rule(rule: Schema) -> Schema:
    """Return a rule as its struct prints it: only `rule` is always present, and optionalOldSelf may be false."""
    published = {key: rule[key] for key in ("message", "messageExpression", "reason", "fieldPath") if rule.get(key)}
    if rule.get("optionalOldSelf") is not None:
        published["optionalOldSelf"] = rule["optionalOldSelf"]
    return {"rule": rule.get("rule", "")} | published


def _publish_rules(value: list[Schema]) -> list[Schema] | None:
    return [_publish_rule(rule) for rule in value] or None


# keyword -> function that returns the published form of its value (None: leave it out), in the order of the documents.
# Without a function, the value is published as it is, unless it is empty
_Plan = dict[str, Callable[[Any], Any] | None]
_KEYWORDS: _Plan = {
    "description": None,
    "type": None,
    "nullable": None,
    "format": None,
    "title": None,
    "default": _publish_literal,
    "maximum": _publish_bound,
    "exclusiveMaximum": None,
    "minimum": _publish_bound,
    "exclusiveMinimum": None,
    "maxLength": _publish_unchanged,
    "minLength": _publish_unchanged,
    "pattern": None,
    "maxItems": _publish_unchanged,
    "minItems": _publish_unchanged,
    "uniqueItems": None,
    "multipleOf": _publish_bound,
    "enum": _publish_literals,
    "maxProperties": _publish_unchanged,
    "minProperties": _publish_unchanged,
    "required": None,
    "items": lambda value: publish_schema(value),
    "allOf": _publish_nested_list,
    "oneOf": _publish_nested_list,
    "anyOf": _publish_nested_list,
    "not": _publish_nested,
    "properties": _publish_children,
    "additionalProperties": _publish_additional,
    "externalDocs": _publish_docs,
    "example": _publish_literal,
    "x-kubernetes-embedded-resource": None,
    "x-kubernetes-int-or-string": None,
    "x-kubernetes-list-map-keys": None,
    "x-kubernetes-list-type": None,
    "x-kubernetes-map-type": None,
    "x-kubernetes-preserve-unknown-fields": None,
    "x-kubernetes-validations": _publish_rules,
}
_EXAMPLES = frozenset(("example", "externalDocs"))
_ORDER = {keyword: place for place, keyword in enumerate(_KEYWORDS)}
# in allOf, oneOf, anyOf and not, children are conditions as well, and additionalProperties is not published
_NESTED: _Plan = _KEYWORDS | {
    "items": _publish_nested,
    "properties": _publish_nested_children,
    "additionalProperties": lambda value: None,
}
_StepFinder = Callable[[tuple[str, ...]], tuple[tuple[str, Callable[[Any], Any] | None], ...]]


def _make_step_finder(plan: _Plan) -> _StepFinder:
    """Return a function that returns the steps that show a schema with some keywords, in order."""

    @bounded_cache(1024)  # few different sets of keywords occur, again and again
    def find_steps(keywords: tuple[str, ...]) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
        known = [keyword for keyword in keywords if keyword in plan]
        return tuple((keyword, plan[keyword]) for keyword in sorted(known, key=_ORDER.__getitem__))

    return find_steps


_find_steps, _find_nested_steps = _make_step_finder(_KEYWORDS), _make_step_finder(_NESTED)
_CONVERTED_TYPES = ("array", "", None)
# keywords that both versions show as they are, unless their value is empty
_SAME = frozenset(
    ("description", "type", "format", "title", "maxLength", "minLength", "pattern", "maxItems", "minItems")
)
_SAME |= {"maxProperties", "minProperties", "required"}
_MAX_LEVELS = 3  # levels; each node is visited by so many of its ancestors at most


def _is_unchanged(schema: Schema, levels: int = _MAX_LEVELS) -> bool:
    """Return whether both versions certainly show a schema as it is. It costs less than the walk that converts it."""
    for keyword, value in schema.items():
        if keyword in _SAME:
            if not value:
                return False
        elif keyword == "properties" and levels and value:
            for child in each(value).values():
                if (len(child) != 1 or child.get("type") in _CONVERTED_TYPES) and not _is_unchanged(child, levels - 1):
                    return False
        elif keyword != "items" or not levels or not value or not _is_unchanged(value, levels - 1):
            return False
    return schema.get("type") != "array" or "items" in schema


def publish_schema(schema: Schema, *, nested: bool = False) -> Schema:
    """Return the schema as version 3 shows it: the same one if nothing changes.

    An int-or-string node says so in a way that every client understands: in its anyOf, or, if that is in use, in an
    allOf at the start. nested: it is inside allOf, oneOf, anyOf or not.
    """
    if len(schema) == 1 and (kind := schema.get("type")):
        return {"type": kind}  # fast path: most nodes are only a type
    if not nested and _is_unchanged(schema):
        return schema
    published = _run_steps(schema, _find_nested_steps if nested else _find_steps)
    return _unfold_all_of(published) if "x-kubernetes-int-or-string" in published and not nested else published


def _run_steps(schema: Schema, find_steps: _StepFinder) -> Schema:
    published: Schema = {}
    charge(len(schema))
    for keyword, show in find_steps(tuple(schema)):
        value = schema[keyword]
        if keyword in _EXAMPLES and not has("PublishedExamples"):
            continue
        if show is None:
            if value:
                published[keyword] = value
        elif value is not None and (value := show(value)) is not None:
            published[keyword] = value
    return published


def _unfold_all_of(schema: Schema) -> Schema:
    all_of = schema.get("allOf", [])
    if schema.get("anyOf") == _INT_OR_STRING or (all_of and all_of[0].get("anyOf") == _INT_OR_STRING):
        return schema
    if "anyOf" not in schema:
        schema["anyOf"] = _INT_OR_STRING
    else:
        schema["allOf"] = [{"anyOf": _INT_OR_STRING}, *all_of]
    return {keyword: schema[keyword] for keyword in sorted(schema, key=_ORDER.__getitem__)}


# the plan of version 2, without keywords that it lacks; `nullable` shows as the absence of other keywords
_V2_CHILDLESS: _Plan = {
    keyword: show
    for keyword, show in _KEYWORDS.items()
    if keyword not in ("allOf", "oneOf", "anyOf", "not", "default", "nullable", "items", "properties")
} | {"additionalProperties": lambda value: value if isinstance(value, bool) else convert_to_v2(value)}
_V2: _Plan = _V2_CHILDLESS | {
    "items": lambda value: convert_to_v2(value),
    "properties": lambda value: {name: _convert_part(value[name]) for name in sorted(each(value))} or None,
}
_find_v2_steps, _find_v2_childless_steps = _make_step_finder(_V2), _make_step_finder(_V2_CHILDLESS)


def _convert_part(child: Schema) -> Schema:
    return child if len(child) == 1 and child.get("type") not in _CONVERTED_TYPES else convert_to_v2(child)


def convert_to_v2(schema: Schema) -> Schema:
    """Return the schema as version 2 can express it.

    Drops keywords that version 2 lacks, and everything that would make kubectl reject valid objects. Nullable values
    lose their type and children. If unknown fields are kept, a value loses its children, and an object its type. An
    array without items loses its type, and nullable fields are not required.
    """
    if len(schema) == 1 and (kind := schema.get("type")) and kind != "array":
        return {"type": kind}  # fast path: most nodes are only a type
    if _is_unchanged(schema):
        return schema
    null, free = schema.get("nullable"), schema.get("x-kubernetes-preserve-unknown-fields")
    converted = _run_steps(schema, _find_v2_childless_steps if null or free else _find_v2_steps)
    kind = converted.get("type")
    if kind and (null or (kind == "array" and "items" not in converted) or (free and kind == "object")):
        del converted["type"]
    if "required" in converted:
        _unrequire_nullable(
            converted, {} if null or free else schema.get("properties") or {}, schema.get("additionalProperties")
        )
    return converted


def _unrequire_nullable(schema: Schema, children: dict[str, Schema], additional: Schema | bool | None) -> None:
    """Remove nullable fields from `required`."""
    required = [name for name in schema["required"] if not children.get(name, {}).get("nullable")]
    if required and not (isinstance(additional, dict) and additional.get("nullable")):
        schema["required"] = required
    else:
        del schema["required"]


def _refer_to_metadata(v2: bool, of: str = "Object", struct: str = "ObjectMeta") -> Schema:
    """Return the metadata of an Object, EmbeddedObject or List: a reference with its own description."""
    described = describe_field(META_GROUP, of, "metadata")
    if v2:
        return described | {"$ref": DEFINITIONS + META + struct}
    return described | {"allOf": [{"$ref": REF + META + struct}]}


def _embed_object(schema: Schema, v2: bool) -> None:
    """Add the fields of every object to embedded objects."""
    charge(1)
    for child in schema.get("properties", {}).values():
        _embed_object(child, v2)
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            _embed_object(schema[keyword], v2)
    if "x-kubernetes-embedded-resource" not in schema:
        return
    if v2 and "x-kubernetes-preserve-unknown-fields" in schema:
        return  # kubectl would reject all other fields
    properties = (
        schema.get("properties", {}) | _EMBEDDED_TYPE_META | {"metadata": _refer_to_metadata(v2, "EmbeddedObject")}
    )
    schema["properties"] = dict(sorted(properties.items()))
    required = schema.get("required", [])
    schema["required"] = required + [name for name in ("kind", "apiVersion") if name not in required]


def make_component(schema: Schema | None, *, v2: bool = False) -> Schema:
    """Return the component of a kind, without the extensions that name it.

    Without a schema it has no fields. In version 2 it has none either if unknown fields are kept, because kubectl
    rejects fields that are not listed.
    """
    if schema is None or (v2 and schema.get("x-kubernetes-preserve-unknown-fields")):
        return {"type": "object"}
    published = {**(convert_to_v2(schema) if v2 else publish_schema(schema))}
    if mentions_any(schema, b'"x-kubernetes-embedded-resource"'):
        _embed_object(published, v2)
    properties = published.get("properties", {}) | _TYPE_META | {"metadata": _refer_to_metadata(v2)}
    published["properties"] = dict(sorted(properties.items()))
    return published


def make_list(kind: str, item: str, *, v2: bool = False) -> Schema:
    """Return the component of a list, without the extensions that name it. item: the component of the kind."""
    prefix = DEFINITIONS if v2 else REF
    items = {**describe_field(META_GROUP, "List", "items"), "type": "array", "items": {"$ref": prefix + item}}
    return {
        "description": f"A list of {kind} objects.",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _TYPE_META["apiVersion"],
            "items": items,
            "kind": _TYPE_META["kind"],
            "metadata": _refer_to_metadata(v2, "List", "ListMeta"),
        },
    }
