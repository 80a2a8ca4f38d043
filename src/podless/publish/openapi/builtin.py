"""Components of built-in kinds, from the tables of their Go structs (meta/structs.py) and the texts in facts.py.

Sources: the Go conventions of the API's documentation (a struct that is no pointer is {} by default, a required scalar
its zero value), and the recorded standard components, which are made by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.fields.tables import ATOMIC
from podless.kinds.kind import Kind, Version
from podless.kinds.types import core
from podless.meta import structs
from podless.meta.structs import Field, ListOf, MapOf, Quantity, Raw, Struct, Time, Type, Union
from podless.publish.openapi.fact import CORE, EXTENSIONS, EXTENSIONS_BETA, Fact
from podless.publish.openapi.facts import FACTS
from podless.publish.openapi.schema import TYPE_META
from podless.publish.openapi.standard import META, REF, SCHEMAS

Schema = dict[str, Any]

_RUNTIME = "io.k8s.apimachinery.pkg.runtime."
_PACKAGES = {
    ("", "v1"): CORE,
    ("apiextensions.k8s.io", "v1"): EXTENSIONS,
    ("apiextensions.k8s.io", "v1beta1"): EXTENSIONS_BETA,
    ("apiregistration.k8s.io", "v1"): "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.",
}
_SCALARS: dict[str, Schema] = {
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "[]uint8": {"type": "string", "format": "byte"},
}
_ZEROS: dict[str, Any] = {"string": "", "boolean": False, "integer": 0, "number": 0}
# structs of meta/v1 that the standard components do not have
_META_STRUCTS = {"Condition", "FieldSelectorRequirement", "LabelSelector", "LabelSelectorRequirement"}
# structs of the core group that others have fields of
_CORE_STRUCTS = {core.EVENT_SOURCE, core.LOCAL_OBJECT_REFERENCE, core.OBJECT_REFERENCE}
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_ANY_QUANTITY: Schema = {
    "description": "Quantity is a fixed-point representation of a number.",
    "oneOf": [{"type": "string"}, {"type": "number"}],
}
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_EITHER: Schema = {
    "description": "IntOrString is a type that can hold an int32 or a string.",
    "format": "int-or-string",
    "oneOf": [{"type": "integer"}, {"type": "string"}],
}
_MICRO_TIME: Schema = {
    "description": "MicroTime is version of Time with microsecond level precision.",
    "type": "string",
    "format": "date-time",
}


def package(group: str, version: str) -> str:
    """What stands before the names of a built-in group's components."""
    return _PACKAGES.get((group, version)) or f"io.k8s.api.{group.split('.')[0] or 'core'}.{version}."


def namer(kind: Kind, version: Version) -> Callable[[str], str]:
    """Gives the component of a kind of the same group-version."""
    prefix = package(kind.group, version.name)
    return lambda noun: prefix + noun


def components(kind: Kind, version: Version) -> dict[str, Schema]:
    """The components of a built-in kind, of its list, and of all structs inside."""
    struct = kind.struct_of(version)
    assert struct is not None, f"{kind.kind} is not a built-in kind"
    walk = _Walk(package(kind.group, version.name))
    walk.name(struct)
    item, whole = walk.prefix + kind.kind, walk.prefix + kind.list_kind
    found = walk.found
    found[item] = _rooted(found[item], kind, version, kind.kind)
    for known in kind.more_subresources:
        if known.kind is not None:
            found |= components(known.kind, known.kind.versions[0])
    if kind.virtual:
        return found
    found[whole] = _rooted(_list(kind, item, FACTS.get(whole)), kind, version, kind.list_kind)
    return found


def _rooted(shown: Schema, kind: Kind, version: Version, noun: str) -> Schema:
    properties = dict(sorted((shown.get("properties", {}) | TYPE_META).items()))
    gvk = {"group": kind.group, "kind": noun, "version": version.name}
    return shown | {"properties": properties, "x-kubernetes-group-version-kind": [gvk]}


def _list(kind: Kind, item: str, fact: Fact | None) -> Schema:
    fact = fact or Fact(f"{kind.list_kind} is a list of {kind.kind}", ("items",))
    items = {"type": "array", "items": {"$ref": REF + item}}
    metadata = {"default": {}, "allOf": [{"$ref": f"{REF}{META}ListMeta"}]}
    return {
        "description": fact.text,
        "type": "object",
        "required": ["items"],
        "properties": {"items": _told("items", fact) | items, "metadata": _told("metadata", fact) | metadata},
    }


def _told(name: str, fact: Fact) -> Schema:
    return {"description": fact.fields[name]} if fact.fields.get(name) else {}


class _Walk:
    """Collects the components of a struct and of the structs in it; prefix: of their names."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.found: dict[str, Schema] = {}

    def name(self, struct: Struct) -> str:
        """The struct's component, which is written when it is first asked for."""
        if META + struct.name in SCHEMAS:
            return META + struct.name
        name = self._package(struct) + struct.name
        if name not in self.found:
            self.found[name] = {}  # a struct may contain itself
            self.found[name] = self._struct(struct, FACTS.get(name) or Fact("", None))
        return name

    def _package(self, struct: Struct) -> str:
        """Where a struct is that the groups share, or else this group."""
        if struct.name in _META_STRUCTS:
            return META
        return CORE if struct in _CORE_STRUCTS else self.prefix

    def _struct(self, struct: Struct, fact: Fact) -> Schema:
        required = fact.required
        if required is None:
            required = tuple(field.name for field in struct if field.always and not isinstance(field.type, Struct))
        shown: Schema = {"description": fact.text} if fact.text else {}
        shown["type"] = "object"
        if required:
            shown["required"] = list(required)
        properties = {field.name: self._field(field, fact, field.name in required) for field in struct}
        if properties:
            shown["properties"] = dict(sorted(properties.items()))
        if struct.name in ATOMIC:
            shown["x-kubernetes-map-type"] = "atomic"
        return shown

    def _field(self, field: Field, fact: Fact, required: bool) -> Schema:
        shape = self._shape(field.type)
        told = _told(field.name, fact)
        if isinstance(field.type, Struct) and not field.pointer:
            told["default"] = {}
        elif required and shape.get("type") in _ZEROS:
            told["default"] = _ZEROS[shape["type"]]
        told |= fact.more.get(field.name, {})
        if "enum" in told and told.get("default") not in told["enum"]:
            told.pop("default", None)  # it would be none of the values that are allowed
        if told and "$ref" in shape:
            return told | {"allOf": [shape]}
        return told | shape

    def _shape(self, kind: Type) -> Schema:
        if isinstance(kind, Struct):
            return {"$ref": REF + self.name(kind)}
        if isinstance(kind, ListOf):
            return {"type": "array", "items": self._shape(kind.item)}
        if isinstance(kind, MapOf):
            return {"type": "object", "additionalProperties": self._shape(kind.item)}
        if isinstance(kind, Time):
            return self._time(kind)
        if isinstance(kind, Quantity):
            self.found[_QUANTITY] = _ANY_QUANTITY
            return {"$ref": REF + _QUANTITY}
        if kind.go == "intstr.IntOrString":
            self.found[_INT_OR_STRING] = _EITHER
            return {"$ref": REF + _INT_OR_STRING}
        if isinstance(kind, (Raw, Union)):
            return self._free(kind)
        return _SCALARS.get(kind.go, {"type": "string"})

    def _time(self, kind: Time) -> Schema:
        if not kind.digits:
            return {"$ref": f"{REF}{META}Time"}
        self.found[META + "MicroTime"] = _MICRO_TIME
        return {"$ref": f"{REF}{META}MicroTime"}

    def _free(self, kind: Type) -> Schema:
        """A type that decodes itself may be anything."""
        if kind is structs.RAW:
            self.found[_RUNTIME + "RawExtension"] = {"type": "object"}
            return {"$ref": f"{REF}{_RUNTIME}RawExtension"}
        name = self.prefix + kind.go.rpartition(".")[2]
        fact = FACTS.get(name)
        self.found[name] = {"description": fact.text} if fact else {}
        return {"$ref": REF + name}
