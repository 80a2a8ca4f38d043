"""Kinds from a cluster's OpenAPI documents, for kinds without rules in podless.

The documents have types, required fields and enums; the server's other checks are not in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from podless.check.sources import CannotCheck
from podless.kinds.custom import CustomStrategy
from podless.kinds.kind import Kind, Version
from podless.runtime.dataclass import dataclass
from podless.runtime.inputs import read_path
from podless.runtime.jsonobject import Schema

_GVK = "x-kubernetes-group-version-kind"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING: Schema = {"x-kubernetes-int-or-string": True}
_ANY_OBJECT: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_COPIED = ("type", "format", "enum", "required", "pattern", "minimum", "maximum", "minLength", "maxLength", "nullable")
_OPEN_TYPES = ("RawExtension", "FieldsV1", "JSON", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrArray", "Unknown")
_MAX_DEPTH = 40  # levels of a schema; recursive schemas end there


@dataclass(frozen=True, slots=True)
class DescribedKind:
    """A kind in one version, with its schema."""

    group: str
    version: str
    name: str
    schema: Schema

    def make_kind(self) -> Kind:
        """Return a Kind for this schema.

        It accepts namespaced and cluster-scoped objects, because the scope is unknown.
        """
        return Kind(
            group=self.group,
            plural=f"{self.name.lower()}s",
            kind=self.name,
            singular=self.name.lower(),
            list_kind=f"{self.name}List",
            namespaced=True,
            versions=(Version(self.version, self.schema),),
            storage_version=self.version,
            strategy=CustomStrategy(),
        )


def read_kinds(files: Sequence[str]) -> list[DescribedKind]:
    """Read the kinds in OpenAPI documents, v2 or v3. Raises CannotCheck."""
    kinds: list[DescribedKind] = []
    for file in files:
        try:
            document = json.loads(read_path(Path(file)))
        except (ValueError, RecursionError) as error:
            raise CannotCheck(f"{file}: not JSON: {error}") from None
        root = document if isinstance(document, dict) else {}
        components = root.get("components")
        definitions = root.get("definitions") or (components.get("schemas") if isinstance(components, dict) else None)
        if not isinstance(definitions, dict):
            raise CannotCheck(f"{file}: not an OpenAPI v2 or v3 document")
        kinds += _list_described(definitions)
    return kinds


def _list_described(definitions: Mapping[str, Schema]) -> Iterator[DescribedKind]:
    for name, schema in definitions.items():
        for gvk in schema.get(_GVK) or ():
            if "metadata" not in (schema.get("properties") or {}) or gvk["kind"].endswith("List"):
                continue
            yield DescribedKind(gvk["group"], gvk["version"], gvk["kind"], _resolve_kind_schema(definitions, name))


def _resolve_kind_schema(definitions: Mapping[str, Schema], name: str) -> Schema:
    """Return the schema of a kind with all references resolved. ObjectMeta has its own rules."""
    schema = _build_schema(definitions, definitions[name], 0)
    properties = {**(schema.get("properties") or {}), "metadata": {"type": "object"}}
    return {**schema, "type": "object", "properties": properties}


def _build_schema(definitions: Mapping[str, Schema], source: Schema, level: int) -> Schema:
    subschemas: list[Schema] = source.get("allOf") or []
    if len(subschemas) == 1 and "$ref" in subschemas[0]:
        source = subschemas[0]
    if "$ref" in source:
        name = source["$ref"].rpartition("/")[2]
        if name == _META or level > _MAX_DEPTH or name.rpartition(".")[2] in _OPEN_TYPES:
            return _ANY_OBJECT if name == _META else {"x-kubernetes-preserve-unknown-fields": True}
        if name == _QUANTITY:
            return _INT_OR_STRING
        return _build_schema(definitions, definitions.get(name) or {}, level + 1)
    if source.get("format") == "int-or-string" or source.get("oneOf"):
        return _INT_OR_STRING
    schema: Schema = {key: source[key] for key in _COPIED if key in source}
    if "properties" in source:
        schema["type"] = "object"
        schema["properties"] = {
            key: _build_schema(definitions, value, level) for key, value in source["properties"].items()
        }
    elif isinstance(source.get("additionalProperties"), dict):
        schema["additionalProperties"] = _build_schema(definitions, source["additionalProperties"], level)
    elif schema.get("type", "object") == "object":
        return {**schema, "x-kubernetes-preserve-unknown-fields": True}
    if "items" in source:
        schema["items"] = _build_schema(definitions, source["items"], level)
    return schema
