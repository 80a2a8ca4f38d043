"""Components of built-in kinds and of what all groups share, from the tables of their Go structs (structs/structs.py).

The rest of a document follows from rules. The default of a struct that is not a pointer is {}; that of a scalar that is
always written is its zero value. Fields have the merge rules. Descriptions are those of the .fields files. Source:
kube-openapi's generator for the rules, the recorded documents for their results.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from podless.kinds.kind import Kind, Version
from podless.publish.openapi.standard import CORE, META, REF, VERSION, cache_by_release, find_home_package, find_package
from podless.runtime.jsonobject import Schema
from podless.runtime.release import Release, has
from podless.structs.gotypes import GoType, ListOf, MapOf, Quantity, Raw, String, Time, Union
from podless.structs.structfiles import META_GROUP, find_description, folder_of, load_struct
from podless.structs.structs import Field, Struct

_SCALARS: dict[str, Schema] = {
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "[]uint8": {"type": "string", "format": "byte"},
}
_ZEROS: dict[str, Any] = {"string": "", "boolean": False, "integer": 0, "number": 0}
# kinds without objects, by name; then the structs of answers and options
_DISCOVERY = ("APIGroup", "APIGroupList", "APIVersions", "APIResourceList")
_STANDARD = ("DeleteOptions", "ListMeta", "ObjectMeta", "Status")
# the answer of /version, whose struct is in another package
_VERSION = "Info"
# fields whose extensions differ from those of their type
_MERGED: Mapping[tuple[str, str], Schema] = {
    ("APIResource", "verbs"): {},
    ("APIServiceSpec", "caBundle"): {"x-kubernetes-list-type": "atomic"},
}

# fields that are only a reference, without a description
_BARE = {("JSONSchemaProps", name) for name in ("additionalItems", "additionalProperties", "example", "items", "not")}
_BARE |= {("JSONSchemaProps", "externalDocs")}

_KIND = {"apiVersion", "kind", "metadata"}  # the fields of a struct that is a kind
_TIME: Schema = {"type": "string", "format": "date-time"}
# types that decode themselves: Go type -> component and its schema
_SPECIAL: Mapping[str, tuple[str, Schema]] = {
    "v1.FieldsV1": (META + "FieldsV1", {"type": "object"}),
    "runtime.RawExtension": ("io.k8s.apimachinery.pkg.runtime.RawExtension", {"type": "object"}),
    "intstr.IntOrString": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    ),
    "resource.Quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {"oneOf": [{"type": "string"}, {"type": "number"}]},
    ),
}


def describe_field(group: str, struct: str, field: str = "") -> Schema:
    """Return the description of a field or struct, empty if there is none."""
    text = find_description(group, struct, field)
    return {"description": text} if text else {}


def describe_type_meta(struct: str = "Object") -> Schema:
    """Return the properties apiVersion and kind, of an object or of an EmbeddedObject."""
    return {name: {**describe_field(META_GROUP, struct, name), "type": "string"} for name in ("apiVersion", "kind")}


@cache_by_release
def make_standard_components(release: Release) -> dict[str, Schema]:
    """Return the components of meta/v1 that every group-version has."""
    walk = _ComponentCollector("", "v1")
    for name in _STANDARD:
        walk.name_component(load_struct("meta/v1", name, release))
    walk.components[META + "Patch"] = describe_field(META_GROUP, "Patch") | {"type": "object"}
    status = _make_gvk("", "Status", "v1")
    if not release.has_feature("OneStatus"):
        status = {
            name: [*gvks, *_make_gvk("resource.k8s.io", "Status", "v1alpha2")[name]] for name, gvks in status.items()
        }
    walk.components[META + "Status"] |= status
    return dict(sorted(walk.components.items()))


@cache_by_release
def make_scale_components(release: Release) -> dict[str, Schema]:
    """Return the components of Scale."""
    walk = _ComponentCollector("autoscaling", "v1")
    name = walk.name_component(load_struct("autoscaling/v1", "Scale", release))
    walk.components[name] |= _make_gvk("autoscaling", "Scale", "v1")
    return {name: value for name, value in walk.components.items() if name.startswith(walk.prefix)}


@cache_by_release
def make_server_components(release: Release) -> dict[str, Schema]:
    """Return the components of discovery documents and watch events."""
    walk = _ComponentCollector("", "v1")
    for noun in _DISCOVERY:
        walk.components[walk.name_component(load_struct("meta/v1", noun, release))] |= _make_gvk("", noun, "v1")
    walk.name_component(load_struct("meta/v1", "WatchEvent", release))
    walk.name_component(load_struct("meta/v1", _VERSION, release))
    return walk.components


def _make_gvk(group: str, noun: str, version: str) -> Schema:
    return {"x-kubernetes-group-version-kind": [{"group": group, "kind": noun, "version": version}]}


def make_kind_components(kind: Kind, version: Version, excluded: Iterable[str] = ()) -> dict[str, Schema]:
    """Return the components of a built-in kind, of its list, and of all structs inside, except the standard ones.

    excluded: names of components to leave out with their content, because another kind has them.
    """
    struct = kind.struct_of(version)
    assert struct is not None, f"{kind.kind} is not a built-in kind"
    walk = _ComponentCollector(kind.group, version.name, {*make_standard_components(), *excluded})
    item = walk.name_component(struct, is_kind=True)
    walk.components[item] |= _make_gvk(kind.group, kind.kind, version.name)
    for subresource in kind.more_subresources:
        if subresource.kind is not None and not subresource.connects:
            walk.components |= make_kind_components(subresource.kind, subresource.kind.versions[0], excluded)
    if not kind.virtual:
        walk.components[walk.prefix + kind.list_kind] = _describe_list(kind, version, item)
    return walk.components


def _describe_list(kind: Kind, version: Version, item: str) -> Schema:
    items = describe_field(META_GROUP, "List", "items") | {"type": "array", "items": {"$ref": REF + item}}
    metadata = describe_field(META_GROUP, "List", "metadata") | {
        "default": {},
        "allOf": [{"$ref": f"{REF}{META}ListMeta"}],
    }
    return {
        "description": f"A list of {kind.kind} objects.",
        "type": "object",
        "required": ["items"],
        "properties": dict(sorted((describe_type_meta() | {"items": items, "metadata": metadata}).items())),
    } | _make_gvk(kind.group, kind.list_kind, version.name)


class _ComponentCollector:
    """Collects the components of a group-version's structs, and of the structs in them, except those shown already."""

    def __init__(self, group: str, version: str, excluded: Container[str] = ()) -> None:
        self.group = group
        self.excluded = excluded
        self.prefix = find_package(group, version)
        self.components: dict[str, Schema] = {}

    def name_component(self, struct: Struct, *, is_kind: bool = False) -> str:
        """Return the component name of a struct. The first call writes the component.

        is_kind: of the kind itself, whose component is written even if it is shown already.
        """
        group, prefix = self._find_home(struct)
        name = prefix + struct.name
        if is_kind or (name not in self.components and name not in self.excluded):
            self.components[name] = {}  # before its fields, because a struct can contain itself
            self.components[name] = self._describe_struct(struct, group)
        return name

    def _find_home(self, struct: Struct) -> tuple[str, str]:
        """Return the group of a struct, and the prefix of its name: that of this group, or of one that shares it."""
        if struct.name == _VERSION and struct.home == "meta/v1":
            return META_GROUP, VERSION
        if struct.home == "meta/v1":
            return META_GROUP, META
        if struct.home == "core/v1":
            return "", CORE
        if struct.home.partition("/")[0] in ("", folder_of(self.group)):
            return self.group, self.prefix
        return find_home_package(struct.home)

    def _describe_struct(self, struct: Struct, group: str) -> Schema:
        schema = describe_field(group, struct.name) | {"type": "object"}
        required = [field.name for field in struct if (field.always if field.required is None else field.required)]
        if required:
            schema["required"] = required
        properties = {field.name: self._describe_field(field, group, struct.name) for field in struct}
        if properties:
            schema["properties"] = dict(sorted(properties.items()))
        if struct.atomic:
            schema["x-kubernetes-map-type"] = "atomic"
        if group == "" and properties.keys() >= _KIND:
            schema |= _make_gvk(group, struct.name, "v1")  # a core kind that is the type of fields in other groups
        if struct.union:
            schema["x-kubernetes-unions"] = [_describe_union(*struct.union)]
        return schema

    def _describe_field(self, field: Field, group: str, struct: str) -> Schema:
        described = {} if _is_bare(field, struct) else describe_field(group, struct, field.name)
        shape = self._describe_type(field.type)
        if field.default is not None:
            described["default"] = field.default
        elif isinstance(field.type, Struct) and not field.pointer:
            described["default"] = {}
        elif field.always and not field.pointer and shape.get("type") in _ZEROS and shape.get("format") != "byte":
            described["default"] = _ZEROS[shape["type"]]
        if (struct, field.name) == ("ScaleSpec", "replicas") and not has("DefaultReplicas"):
            described.pop("default", None)
        described |= _merge_extensions(field, struct)
        return described | {"allOf": [shape]} if described and "$ref" in shape else described | shape

    def _describe_type(self, kind: GoType) -> Schema:
        if isinstance(kind, String):  # the most frequent type
            return {"type": "string", "enum": list(kind.enum)} if kind.enum else {"type": "string"}
        if isinstance(kind, Struct):
            return {"$ref": REF + self.name_component(kind)}
        if isinstance(kind, ListOf):
            return {"type": "array", "items": self._describe_item(kind.item)}
        if isinstance(kind, MapOf):
            return {"type": "object", "additionalProperties": self._describe_item(kind.item)}
        if isinstance(kind, Time):
            return self._refer_to(META + ("MicroTime" if kind.digits else "Time"), _TIME)
        if isinstance(kind, (Quantity, Raw, Union)):
            schema = _SPECIAL.get(kind.go)
            return (
                self._refer_to(*schema)
                if schema
                else self._refer_to(self.prefix + kind.go.rpartition(".")[2], {}, self.group)
            )
        return _SCALARS[kind.go]

    def _describe_item(self, kind: GoType) -> Schema:
        shape = self._describe_type(kind)
        if has("PlainItems"):
            return shape
        if isinstance(kind, Struct):
            return {"default": {}, "allOf": [shape]}
        zero = _ZEROS.get(shape.get("type", ""))
        return shape if zero is None or shape.get("format") == "byte" else shape | {"default": zero}

    def _refer_to(self, name: str, shape: Schema, group: str = META_GROUP) -> Schema:
        """Return a reference to a type with its own component."""
        if name not in self.components and name not in self.excluded:
            self.components[name] = describe_field(group, name.rpartition(".")[2]) | shape
        return {"$ref": REF + name}


def _is_bare(field: Field, struct: str) -> bool:
    if (struct, field.name) == ("IngressRule", "http"):
        return has("BareHTTPRules")
    return (struct, field.name) in _BARE


def _describe_union(discriminator: str, fields: tuple[str, ...]) -> Schema:
    named = {"discriminator": discriminator} if discriminator else {}
    return named | {"fields-to-discriminateBy": {name: name[0].upper() + name[1:] for name in fields}}


def _merge_extensions(field: Field, struct: str) -> Schema:
    extensions: Schema = {}
    if (struct, field.name) == ("Status", "details") and not has("DetailsAreNoList"):
        return {"x-kubernetes-list-type": "atomic"}
    if (struct, field.name) in _MERGED:
        return _MERGED[struct, field.name]
    if field.atomic is not None:
        extensions["x-kubernetes-map-type"] = "atomic" if field.atomic else "granular"
    kind = field.type
    if isinstance(kind, ListOf):
        extensions["x-kubernetes-list-type"] = "atomic" if field.keys is None else "map" if field.keys else "set"
        if field.keys:
            extensions["x-kubernetes-list-map-keys"] = list(field.keys)
    if field.patch:
        extensions["x-kubernetes-patch-strategy"] = field.patch
    if field.merge:
        extensions["x-kubernetes-patch-merge-key"] = field.merge
    return extensions
