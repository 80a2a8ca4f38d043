"""What a server tells of itself as structs, and discovery documents as protobuf: meta/v1 and apidiscovery/v2."""

from __future__ import annotations

from typing import Any

from podless.meta import protobuf
from podless.meta.gotypes import BOOL, STRING, ListOf, Type
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LIST_META, OBJECT_META, STRINGS, TYPE_META

Document = dict[str, Any]

ADDRESS = Struct(
    "ServerAddressByClientCIDR",
    (Field("clientCIDR", STRING, 1, always=True), Field("serverAddress", STRING, 2, always=True)),
)
GROUP_VERSION = Struct(
    "GroupVersionForDiscovery",
    (Field("groupVersion", STRING, 1, always=True), Field("version", STRING, 2, always=True)),
)
GROUP = Struct(
    "APIGroup",
    (
        *TYPE_META,
        Field("name", STRING, 1, always=True),
        Field("versions", ListOf(GROUP_VERSION), 2, always=True),
        Field("preferredVersion", GROUP_VERSION, 3),
        Field("serverAddressByClientCIDRs", ListOf(ADDRESS), 4),
    ),
)
_VERBS = Struct("Verbs", (Field("items", STRINGS, 1),))


def _resource(verbs: Type) -> Struct:
    return Struct(
        "APIResource",
        (
            Field("name", STRING, 1, always=True),
            Field("singularName", STRING, 6, always=True),
            Field("namespaced", BOOL, 2, always=True),
            Field("group", STRING, 8),
            Field("version", STRING, 9),
            Field("kind", STRING, 3, always=True),
            Field("verbs", verbs, 4, always=True),
            Field("shortNames", STRINGS, 5),
            Field("categories", STRINGS, 7),
            Field("storageVersionHash", STRING, 10),
        ),
    )


def _resources(resource: Struct) -> Struct:
    fields = Field("groupVersion", STRING, 1, always=True), Field("resources", ListOf(resource), 2, always=True)
    return Struct("APIResourceList", (*TYPE_META, *fields))


# as JSON has it; in protobuf a list of verbs is a message of its own
RESOURCE = _resource(STRINGS)
RESOURCES = _resources(RESOURCE)
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
    "APIVersions": Struct(
        "APIVersions",
        (
            *TYPE_META,
            Field("versions", STRINGS, 1, always=True),
            Field("serverAddressByClientCIDRs", ListOf(ADDRESS), 2, always=True),
        ),
    ),
    "APIGroup": GROUP,
    "APIGroupList": Struct("APIGroupList", (*TYPE_META, Field("groups", ListOf(GROUP), 1, always=True))),
    "APIResourceList": _resources(_resource(_VERBS)),
    "APIGroupDiscoveryList": Struct(
        "APIGroupDiscoveryList",
        (*TYPE_META, Field("metadata", LIST_META, 1), Field("items", ListOf(_GROUP_DISCOVERY), 2)),
    ),
}

# the answer of /version
VERSION = Struct(
    "Info",
    (
        *(Field(name, STRING, always=True) for name in ("major", "minor")),
        *(Field(f"{of}{part}", STRING) for of in ("emulation", "minCompatibility") for part in ("Major", "Minor")),
        *(Field(name, STRING, always=True) for name in ("gitVersion", "gitCommit", "gitTreeState", "buildDate")),
        *(Field(name, STRING, always=True) for name in ("goVersion", "compiler", "platform")),
    ),
)


def encode(document: Document) -> bytes:
    """A discovery document in its envelope."""
    if document["kind"] == "APIResourceList":
        resources = [{**resource, "verbs": {"items": resource["verbs"]}} for resource in document["resources"]]
        document = {**document, "resources": resources}
    return protobuf.write(MESSAGES[document["kind"]], document)
