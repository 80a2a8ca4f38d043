"""Encodes discovery documents as protobuf: meta/v1 and apidiscovery/v2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from podless.structs import protobuf
from podless.structs.gotypes import STRING, STRINGS, GoType, ListOf
from podless.structs.structfiles import load_struct
from podless.structs.structs import TYPE_META, Field, Struct

LIST_META = load_struct("meta/v1", "ListMeta")
OBJECT_META = load_struct("meta/v1", "ObjectMeta")

Document = dict[str, Any]

_VERBS = Struct("Verbs", (Field("items", STRINGS, 1),))


# JSON has a list of strings; in protobuf it is a message of its own
RESOURCE = load_struct("meta/v1", "APIResource")
RESOURCES = load_struct("meta/v1", "APIResourceList")


def _replace_type(struct: Struct, name: str, kind: GoType) -> Struct:
    """Return a struct with another type for one field."""
    return Struct(
        struct.name,
        lambda: tuple(replace(part, type=kind) if part.name == name else part for part in struct.declared_fields),
    )


_RESOURCES = _replace_type(RESOURCES, "resources", ListOf(_replace_type(RESOURCE, "verbs", _VERBS)))
_TYPE = Struct("GroupVersionKind", (Field("group", STRING, 1), Field("version", STRING, 2), Field("kind", STRING, 3)))
_SUBRESOURCE_DISCOVERY = Struct(
    "APISubresourceDiscovery",
    (
        Field("subresource", STRING, 1),
        Field("responseKind", _TYPE, 2, pointer=True),
        Field("acceptedTypes", ListOf(_TYPE), 3),
        Field("verbs", STRINGS, 4),
    ),
)
_RESOURCE_DISCOVERY = Struct(
    "APIResourceDiscovery",
    (
        Field("resource", STRING, 1),
        Field("responseKind", _TYPE, 2, pointer=True),
        Field("scope", STRING, 3),
        Field("singularResource", STRING, 4),
        Field("verbs", STRINGS, 5),
        Field("shortNames", STRINGS, 6),
        Field("categories", STRINGS, 7),
        Field("subresources", ListOf(_SUBRESOURCE_DISCOVERY), 8),
    ),
)
_VERSION_DISCOVERY = Struct(
    "APIVersionDiscovery",
    (Field("version", STRING, 1), Field("resources", ListOf(_RESOURCE_DISCOVERY), 2), Field("freshness", STRING, 3)),
)
_GROUP_DISCOVERY = Struct(
    "APIGroupDiscovery", (Field("metadata", OBJECT_META, 1), Field("versions", ListOf(_VERSION_DISCOVERY), 2))
)

MESSAGES = {
    **{name: load_struct("meta/v1", name) for name in ("APIVersions", "APIGroup", "APIGroupList")},
    "APIResourceList": _RESOURCES,
    "APIGroupDiscoveryList": Struct(
        "APIGroupDiscoveryList",
        (*TYPE_META, Field("metadata", LIST_META, 1), Field("items", ListOf(_GROUP_DISCOVERY), 2)),
    ),
}


def encode_discovery(document: Document) -> bytes:
    """Return a discovery document in its protobuf envelope."""
    if document["kind"] == "APIResourceList":
        resources = [{**resource, "verbs": {"items": resource["verbs"]}} for resource in document["resources"]]
        document = {**document, "resources": resources}
    return protobuf.write_object(MESSAGES[document["kind"]], document)
