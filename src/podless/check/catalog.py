"""The kinds that objects are checked against: built-in kinds, those of definitions, and those of OpenAPI documents.

A cluster's OpenAPI documents describe kinds without rules in podless. They have types, required fields and enums; the
server's other checks are not in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from podless.check.sources import CannotCheck
from podless.codec import serializer
from podless.kinds.custom import CustomStrategy
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind, Version
from podless.meta import gvk
from podless.runtime.dataclass import dataclass
from podless.runtime.files import read_path
from podless.runtime.jsonobject import Object, Schema
from podless.runtime.release import ALL_ON, Release

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_GVK = "x-kubernetes-group-version-kind"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING: Schema = {"x-kubernetes-int-or-string": True}
_ANY_OBJECT: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_COPIED = ("type", "format", "enum", "required", "pattern", "minimum", "maximum", "minLength", "maxLength", "nullable")
_OPEN_TYPES = ("RawExtension", "FieldsV1", "JSON", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrArray", "Unknown")
_MAX_DEPTH = 40  # levels of a schema; recursive schemas end there


class Catalog:
    """Kinds by group, version and kind.

    described: kinds from OpenAPI documents; podless' own rules for a kind have precedence. definitions: valid v1
    CustomResourceDefinitions. release: decides the built-in kinds. unsound: group and kind of definitions with errors,
    whose objects cannot be checked. dated: kinds with formats that releases validate differently.
    """

    def __init__(
        self, described: Iterable[Kind] = (), definitions: Iterable[Object] = (), release: Release = ALL_ON
    ) -> None:
        from podless.apis.catalog import ALL
        from podless.apis.runtimeconfig import serve_kinds

        self._kinds: dict[tuple[str, str, str], tuple[Kind, Version]] = {}
        self.unsound: set[tuple[str, str]] = set()
        self.dated: set[Kind] = set()
        for described_kind in described:
            self.add_kind(described_kind)
        for kind in serve_kinds(ALL, {"api/all": True}, release=release):
            if not kind.virtual:  # reviews and other virtual kinds are never stored, so files do not have them
                self.add_kind(kind)
        for definition in definitions:
            self.add_kind(make_kind(definition))

    def add_kind(self, kind: Kind, *, dated: bool = False) -> None:
        """Add a kind, replacing an earlier one of the same name. dated: as in `dated`."""
        if dated:
            self.dated.add(kind)
        for version in kind.versions:
            self._kinds[kind.group, version.name, kind.kind] = kind, version

    def find(self, group: str, version: str, kind: str) -> tuple[Kind, Version] | None:
        """Return the kind and version of an object, None if the kind is unknown."""
        return self._kinds.get((group, version, kind))

    def list_versions(self, group: str, kind: str) -> list[str]:
        """Return the versions of a kind, sorted by Kubernetes' version priority."""
        versions = [version for known_group, version, name in self._kinds if (known_group, name) == (group, kind)]
        return sorted(versions, key=gvk.rank_version)


def make_kind(definition: Object) -> Kind:
    """Return the kind of a definition that has no errors."""
    return compile_kind(definition, serializer.encode_json(definition))


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
        for served in schema.get(_GVK) or ():
            group, version, kind = served["group"], served["version"], served["kind"]
            if "metadata" in (schema.get("properties") or {}) and not kind.endswith("List"):
                yield DescribedKind(group, version, kind, _resolve_kind_schema(definitions, name))


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
