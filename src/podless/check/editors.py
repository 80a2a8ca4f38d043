"""Definitions as JSON schemas, for editors (yaml-language-server) and for kubeconform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from podless.runtime.jsonobject import Schema

DIALECT = "http://json-schema.org/draft-07/schema#"
_COPIED_KEYWORDS = (
    "description", "format", "enum", "default", "required", "pattern", "minimum", "maximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
_METADATA: Schema = {
    "type": "object",
    "description": "Metadata of the object: name, namespace, labels and annotations.",
    "properties": {
        "name": {"type": "string"},
        "generateName": {"type": "string"},
        "namespace": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        "finalizers": {"type": "array", "items": {"type": "string"}},
    },
}


class EditorSchema(NamedTuple):
    """The schema of a kind in one version."""

    group: str
    kind: str
    version: str
    schema: Schema

    @property
    def file(self) -> str:
        """The file name below a folder, as kubeconform expects it."""
        return f"{self.group}/{self.kind.lower()}_{self.version}.json"


def make_editor_schemas(definition: dict[str, Any]) -> Iterator[EditorSchema]:
    """Yield the JSON schemas of a v1 CustomResourceDefinition, one for each served version."""
    spec = definition["spec"]
    kind = spec["names"]["kind"]
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        openapi = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        node = convert_node(openapi, open_=bool(spec.get("preserveUnknownFields")))
        api_version = f"{spec['group']}/{version['name']}"
        head = {"apiVersion": {"type": "string", "enum": [api_version]}, "kind": {"type": "string", "enum": [kind]}}
        properties = {**(node.get("properties") or {}), **head, "metadata": _METADATA}
        required = list(dict.fromkeys(["apiVersion", "kind", *(node.get("required") or ())]))
        document = {"$schema": DIALECT, "title": kind, **node, "type": "object", "properties": properties}
        yield EditorSchema(spec["group"], kind, version["name"], {**document, "required": required})


def convert_node(schema: Schema, *, open_: bool = False) -> Schema:
    """Convert one node. open_: allow unknown fields; otherwise they are errors, because the server would drop them."""
    converted: Schema = {key: schema[key] for key in _COPIED_KEYWORDS if key in schema}
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(word) and bound in converted:  # a boolean in OpenAPI v3, a number in JSON Schema
            converted[word] = converted.pop(bound)
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        converted["type"] = kind = ["integer", "string"]
    elif kind:
        converted["type"] = kind
    if schema.get("nullable"):
        converted["type"] = [*(kind if isinstance(kind, list) else [kind]), "null"] if kind else converted.get("type")
        if "enum" in converted and None not in converted["enum"]:
            converted["enum"] = [*converted["enum"], None]
    converted.update(_convert_children(schema, open_))
    for word in ("allOf", "anyOf", "oneOf"):
        if schema.get(word):
            converted[word] = [convert_node(child, open_=True) for child in schema[word]]
    if isinstance(schema.get("not"), dict):
        converted["not"] = convert_node(schema["not"], open_=True)
    return {key: value for key, value in converted.items() if value is not None}


def _convert_children(schema: Schema, open_: bool) -> Schema:
    result: Schema = {}
    keeps_unknown = open_ or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    if isinstance(schema.get("items"), dict):
        result["items"] = convert_node(schema["items"], open_=open_)
    if schema.get("properties"):
        result["properties"] = {name: convert_node(child, open_=open_) for name, child in schema["properties"].items()}
        if schema.get("x-kubernetes-embedded-resource"):
            result["properties"] |= {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": _METADATA,
            }
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        result["additionalProperties"] = convert_node(additional, open_=open_)
    elif not keeps_unknown and not additional and schema.get("type") == "object":
        result["additionalProperties"] = False
    return result
