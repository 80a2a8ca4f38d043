"""Encodes discovery documents as protobuf: meta/v1 and apidiscovery/v2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from podless.structs import protobuf
from podless.structs.gotypes import STRINGS, GoType, ListOf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct

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
        lambda: tuple(replace(field, type=kind) if field.name == name else field for field in struct.declared_fields),
    )


_RESOURCES = _replace_type(RESOURCES, "resources", ListOf(_replace_type(RESOURCE, "verbs", _VERBS)))
MESSAGES = {
    **{name: load_struct("meta/v1", name) for name in ("APIVersions", "APIGroup", "APIGroupList")},
    "APIResourceList": _RESOURCES,
    "APIGroupDiscoveryList": load_struct("apidiscovery/v2", "APIGroupDiscoveryList"),
}


def encode_discovery(document: Document) -> bytes:
    """Return a discovery document in its protobuf envelope."""
    if document["kind"] == "APIResourceList":
        resources = [{**resource, "verbs": {"items": resource["verbs"]}} for resource in document["resources"]]
        document = {**document, "resources": resources}
    return protobuf.write_object(MESSAGES[document["kind"]], document)
