"""Discovery documents: groups, versions and resources, in the older forms and aggregated, in JSON and protobuf.

Source: the recorded discovery documents. Groups of definitions are listed as soon as the definition is stored, even
before its names are accepted, as a real server's aggregator does.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson

from podless.apis import catalog
from podless.apis.features import RECORDED
from podless.codec import serializer
from podless.kinds.kind import Kind, Version
from podless.kinds.registry import Registry
from podless.meta import gvk
from podless.runtime.meter import charge
from podless.runtime.release import ALL_ON, CURRENT, covers, has
from podless.structs import protobuf
from podless.structs.gotypes import STRINGS, GoType, ListOf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct

Document = dict[str, Any]

_SUBRESOURCE_VERBS = ["get", "patch", "update"]
_GROUP, _KIND = 16, 32  # steps on the meter for a group, and for a kind in a version


def make_api_versions(address: str) -> Document:
    """Return the document of /api."""
    served = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": served}


def make_groups_document(registry: Registry) -> Document:
    """Return the document of /apis."""
    groups = sorted((_rank_group(registry, *group), *group) for group in _iterate_groups(registry))
    described = [_describe_group(registry, name, versions) for _, name, versions in groups]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": described}


def _iterate_groups(registry: Registry) -> Iterator[tuple[str, list[str]]]:
    """Yield each group and its versions, unordered."""
    for name in registry.list_groups():
        charge(_GROUP)
        if versions := registry.list_versions(name):
            yield name, versions


def _list_groups(registry: Registry) -> list[str]:
    ranks = {name: _rank_group(registry, name, versions)[0] for name, versions in _iterate_groups(registry)}
    return sorted(ranks, key=lambda name: (ranks[name], name))


def _rank_group(registry: Registry, name: str, versions: list[str]) -> tuple[int, str]:
    """Return the sort key of a group: that of its first APIService, by priority and then by name."""
    return min((-_find_priorities(registry, name, version)[0], f"{version}.{name}") for version in versions)


def _find_priorities(registry: Registry, name: str, version: str) -> tuple[int, int]:
    """Return the priority of a group-version's group, and its priority within the group."""
    entry = registry.announced.get((name, version))
    return entry[:2] if entry is not None else (catalog.group_priority(name), catalog.version_priority(name, version))


def _sort_versions(registry: Registry, name: str, versions: list[str]) -> list[str]:
    """Return the versions of a group, the preferred one first."""
    if len(versions) < 2:
        return versions
    return sorted(
        versions, key=lambda version: (-_find_priorities(registry, name, version)[1], gvk.rank_version(version))
    )


def make_group_document(registry: Registry, name: str) -> Document | None:
    """Return the document of /apis/<group>, None if the group is empty."""
    versions = registry.list_versions(name)
    return {"kind": "APIGroup", "apiVersion": "v1"} | _describe_group(registry, name, versions) if versions else None


def _describe_group(registry: Registry, name: str, served: list[str]) -> Document:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version} for version in _sort_versions(registry, name, served)
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def make_resources_document(registry: Registry, group_name: str, version: str) -> Document | None:
    """Return the document of /apis/<group>/<version> or /api/v1, None if it is not served."""
    kinds = registry.list_kinds_of(group_name, version)
    if not kinds:
        return None
    listed = [resource for kind in kinds for resource in _describe_resources(kind, kind.by_version[version])]
    head: Document = {"kind": "APIResourceList"}
    if group_name:
        head["apiVersion"] = "v1"
    name = f"{group_name}/{version}" if group_name else version
    return head | {"groupVersion": name, "resources": listed}


def _describe_resources(kind: Kind, version: Version) -> list[Document]:
    charge(_KIND)
    entry: Document = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    entry |= _describe_aliases(kind)
    if kind.hashed and not kind.virtual:
        entry["storageVersionHash"] = hash_storage_version(kind)
    return [entry, *_describe_subresources(kind, version)]


def _describe_aliases(kind: Kind) -> Document:
    aliases = {"shortNames": list(kind.short_names), "categories": list(kind.categories)}
    return {name: values for name, values in aliases.items() if values}


def _describe_subresources(kind: Kind, version: Version) -> list[Document]:
    base: Document = {"singularName": "", "namespaced": kind.namespaced}
    subresources: list[Document] = []
    for name in kind.list_subresources(version):
        answers, verbs = _describe_subresource(kind, version, name)
        entry: Document = {"name": f"{kind.plural}/{name}"} | base
        if (answers["group"], answers["version"]) == (kind.group, version.name):
            del answers["group"], answers["version"]
        subresources.append(entry | answers | {"verbs": verbs})
    return subresources


def _describe_subresource(kind: Kind, version: Version, name: str) -> tuple[Document, list[str]]:
    """Return the kind of a subresource, and its verbs."""
    if name == "scale":
        return {"group": "autoscaling", "version": "v1", "kind": "Scale"}, list(_SUBRESOURCE_VERBS)
    subresource = kind.find_subresource(name)
    of = kind if subresource is None else subresource.kind or kind
    served = version.name if of is kind else of.storage_version
    verbs = list(_SUBRESOURCE_VERBS if subresource is None else subresource.verbs)
    noun = subresource.noun if subresource is not None and subresource.noun else of.kind
    return {"group": of.group, "version": served, "kind": noun}, verbs


def hash_storage_version(kind: Kind) -> str:
    """Return the hash of the stored form: the first eight bytes of the SHA-256 of group/version/kind, in base64."""
    stored = kind.home or kind
    release = CURRENT.get()
    minor = RECORDED if release is ALL_ON else release.minor
    version = stored.hash_version if covers(stored.hash_in, minor) else ""
    text = f"{stored.group}/{version or stored.storage_version}/{stored.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


def make_aggregated_document(registry: Registry, *, core: bool) -> Document:
    """Return /api or /apis as one apidiscovery.k8s.io/v2 APIGroupDiscoveryList; its resources are encoded already."""
    items: list[Document] = []
    omits = has("OmittedTimestamps")
    for name in [""] if core else _list_groups(registry):
        charge(_GROUP)
        versions = [
            _describe_version(registry, name, version)
            for version in _sort_versions(registry, name, registry.list_versions(name, waiting=False))
        ]
        if versions:
            metadata = {"name": name} if name else {}
            items.append(
                {"metadata": metadata if omits else metadata | {"creationTimestamp": None}, "versions": versions}
            )
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _describe_version(registry: Registry, group: str, version: str) -> Document:
    """Return a version with its resources; those of another server are unknown."""
    if (group, version) in registry.remote:
        return {"version": version, "freshness": "Stale"}
    kinds = registry.list_kinds_of(group, version)
    charge(len(kinds))
    resources = [kind.derive((_encode_resource, version), _encode_resource, kind, version) for kind in kinds]
    return {"version": version} | ({"resources": resources} if resources else {}) | {"freshness": "Current"}


def _encode_resource(kind: Kind, version: str) -> orjson.Fragment:
    """Return the JSON of a kind, kept with the kind: a changed definition costs no descriptions of other kinds."""
    return orjson.Fragment(
        serializer.fit_bytes(serializer.encode_json(_describe_aggregated(kind, kind.by_version[version])))
    )


def _describe_aggregated(kind: Kind, version: Version) -> Document:
    charge(_KIND)
    gv = {"group": kind.group, "version": version.name}
    entry: Document = {
        "resource": kind.plural,
        "responseKind": _make_response(kind, gv | {"kind": kind.kind}, gv),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    entry |= _describe_aliases(kind)
    subresources = []
    for name in kind.list_subresources(version):
        answers, verbs = _describe_subresource(kind, version, name)
        subresources.append({"subresource": name, "responseKind": _make_response(kind, answers, gv), "verbs": verbs})
    if subresources:
        entry["subresources"] = subresources
    return entry


def _make_response(kind: Kind, response: Document, gv: Document) -> Document:
    """Return the responseKind of a subresource, or nothing for built-in kinds if it is that of the resource."""
    is_same = gv.items() <= response.items() and not kind.custom
    return response | dict.fromkeys(gv, "") if is_same else response


def _replace_type(struct: Struct, name: str, kind: GoType) -> Struct:
    return Struct(
        struct.name,
        lambda: tuple(replace(field, type=kind) if field.name == name else field for field in struct.declared_fields),
    )


# in JSON the verbs of a resource are a list of strings, in protobuf a message of its own
_VERBS = Struct("Verbs", (Field("items", STRINGS, 1),))
_RESOURCE = _replace_type(load_struct("meta/v1", "APIResource"), "verbs", _VERBS)
_MESSAGES = {
    **{name: load_struct("meta/v1", name) for name in ("APIVersions", "APIGroup", "APIGroupList")},
    "APIResourceList": _replace_type(load_struct("meta/v1", "APIResourceList"), "resources", ListOf(_RESOURCE)),
    "APIGroupDiscoveryList": load_struct("apidiscovery/v2", "APIGroupDiscoveryList"),
}


def encode_discovery(document: Document) -> bytes:
    """Return a discovery document in its protobuf envelope."""
    if document["kind"] == "APIResourceList":
        resources = [{**resource, "verbs": {"items": resource["verbs"]}} for resource in document["resources"]]
        document = {**document, "resources": resources}
    return protobuf.write_object(_MESSAGES[document["kind"]], document)
