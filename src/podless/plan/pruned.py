"""Reads the objects that a set would delete, by labels or as members of an ApplySet, and their dependents.

Dependents are owned objects, and the contents of namespaces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from podless.fields.kubectl import LAST_APPLIED
from podless.plan.applyset import (
    PART_OF,
    ApplySet,
    GroupKind,
    ParentReference,
    parse_reference,
    split_kinds,
    split_namespaces,
    split_resources,
)
from podless.plan.baseline import Baseline
from podless.plan.prune import PRUNED
from podless.plan.reader import APIReader, ReadFailed
from podless.plan.requests import Endpoint
from podless.plan.result import UnreadPart
from podless.runtime.jsonobject import Object

FindEndpoint = Callable[[str, str], Awaitable[Endpoint | None]]
_EFFECT = "what would be pruned or goes with it is not in the plan"
_SECRETS = Endpoint("v1", "secrets", "Secret", True)
_CONFIG_MAPS = Endpoint("v1", "configmaps", "ConfigMap", True)
_USUAL = {
    **dict.fromkeys(("secrets", "secret"), _SECRETS),
    **dict.fromkeys(("configmaps", "configmap", "cm"), _CONFIG_MAPS),
}


async def fetch_pruned(
    reader: APIReader,
    baseline: Baseline,
    labels: str,
    in_set: Collection[tuple[str, str, str]],
    namespaces: Sequence[str],
) -> None:
    """Read the objects with labels that the set no longer has, and the objects that their deletion deletes.

    in_set: resource, namespace and name of the set's objects.
    """
    listed = await reader.try_lists(PRUNED, namespaces, labels, effect=_EFFECT)
    applied = [entry for entry in listed if LAST_APPLIED in (entry[2]["metadata"].get("annotations") or {})]
    await _add_deleted(reader, baseline, applied, in_set)


async def find_parent(reader: APIReader, text: str, find: FindEndpoint) -> tuple[Endpoint, ParentReference] | None:
    """Return the endpoint of an ApplySet's parent, None if its kind is not served. Raises CannotPlan."""
    reference = parse_reference(text)
    endpoint = _USUAL.get(reference.resource) if not reference.group else None
    if endpoint is None:
        endpoint = await _Resources(reader).find_resource(reference.resource, reference.group)
        if endpoint is not None:
            await find(endpoint.api_version, endpoint.kind)  # also reads its definition
    return None if endpoint is None else (endpoint, reference)


async def fetch_members(
    reader: APIReader, baseline: Baseline, applyset: ApplySet, in_set: Collection[tuple[str, str, str]]
) -> None:
    """Read the members that the set no longer has, and the objects that their deletion deletes.

    in_set: resource, namespace and name of the set's objects. The parent is read from the baseline.
    """
    parent = next((obj for obj in baseline.objects if _is_parent(obj, applyset)), None)
    if parent is None:
        return
    annotations = parent["metadata"].get("annotations") or {}
    resources = _Resources(reader)
    endpoints = [await resources.find_kind(kind) for kind in split_kinds(annotations) or ()]
    endpoints += [await resources.find_resource(*resource) for resource in split_resources(annotations)]
    namespaces = sorted(split_namespaces(annotations, applyset.namespace))
    labels = f"{PART_OF}={applyset.id}"
    served = dict.fromkeys(filter(None, endpoints))
    listed = await reader.try_lists(served, namespaces, labels, effect=_EFFECT)
    await _add_deleted(reader, baseline, listed, in_set)


def _is_parent(obj: Object, applyset: ApplySet) -> bool:
    metadata, parent = obj["metadata"], applyset.parent
    identity = (obj["apiVersion"].rpartition("/")[0], obj["kind"], metadata.get("namespace") or "", metadata["name"])
    kind = GroupKind(parent.api_version.rpartition("/")[0], parent.kind)
    return bool(identity == (*kind, applyset.namespace, applyset.name))


async def _add_deleted(
    reader: APIReader,
    baseline: Baseline,
    listed: Iterable[tuple[Endpoint, str, Object]],
    in_set: Collection[tuple[str, str, str]],
) -> None:
    """Add objects that are not in the set, and their dependents. listed: with their endpoints and namespaces."""
    deleted = [
        obj
        for endpoint, namespace, obj in listed
        if (endpoint.resource, namespace, obj["metadata"]["name"]) not in in_set
    ]
    baseline.objects += deleted
    if deleted:
        baseline.objects += await _fetch_dependents(reader, deleted)


async def _fetch_dependents(reader: APIReader, deleted: Sequence[Object]) -> list[Object]:
    """Return the metadata of all objects that are deleted with others: owned objects, and contents of namespaces."""
    namespaces = {str(obj["metadata"]["name"]) for obj in deleted if obj["kind"] == "Namespace"}
    cluster_wide = any(not obj["metadata"].get("namespace") for obj in deleted if obj["kind"] != "Namespace")
    spaces = {*namespaces, *(str(obj["metadata"]["namespace"]) for obj in deleted if obj["metadata"].get("namespace"))}
    endpoints = [item for item in await _Resources(reader).list_deletable() if item.namespaced or cluster_wide]
    within = ("",) if cluster_wide else sorted(spaces)
    listed = await reader.try_lists(endpoints, within, effect=_EFFECT, metadata=True)
    return _choose_dependents([obj for _, _, obj in listed], deleted, namespaces)


def _choose_dependents(
    objects: Iterable[Object], deleted: Iterable[Object], namespaces: Collection[str] = ()
) -> list[Object]:
    """Return the objects with a deleted owner (direct or not), or in a deleted namespace."""
    deleted_uids = {obj["metadata"].get("uid") for obj in deleted}
    remaining = [obj for obj in objects if obj["metadata"].get("uid") not in deleted_uids]
    dependents: list[Object] = []
    while True:
        found_now = [
            obj
            for obj in remaining
            if obj["metadata"].get("namespace") in namespaces
            or any(owner.get("uid") in deleted_uids for owner in obj["metadata"].get("ownerReferences") or ())
        ]
        if not found_now:
            return dependents
        dependents += found_now
        deleted_uids |= {obj["metadata"].get("uid") for obj in found_now}
        remaining = [obj for obj in remaining if obj["metadata"].get("uid") not in deleted_uids]


class _Resources:
    """The resources of one API; each discovery document is read once."""

    def __init__(self, reader: APIReader) -> None:
        self._reader = reader
        self._listed: dict[str, list[Object]] = {}

    async def list_deletable(self) -> list[Endpoint]:
        """Return the endpoints of resources that can be listed and deleted, in their group's preferred version."""
        versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in await self._list_groups())]
        listed = await asyncio.gather(*map(self._list_version, versions))
        return [
            _endpoint_of(version, resource)
            for version, resources in zip(versions, listed, strict=True)
            for resource in resources
            if {"list", "delete"} <= {*resource["verbs"]} and resource["name"] != "events"
        ]

    async def find_kind(self, kind: GroupKind) -> Endpoint | None:
        """Return the endpoint of a kind; None if it is not served."""
        for version in await self._list_versions(kind.group):
            for resource in await self._list_version(version):
                if resource["kind"] == kind.kind:
                    return _endpoint_of(version, resource)
        return None

    async def find_resource(self, resource: str, group: str) -> Endpoint | None:
        """Return the endpoint of a resource. resource: plural, singular or short name. group: its start, "" for any."""
        if not group and (endpoint := await self._find_named("v1", resource)) is not None:
            return endpoint
        groups = [group_entry for group_entry in await self._list_groups() if group_entry["name"].startswith(group)]
        for group_entry in sorted(groups, key=lambda group_entry: group_entry["name"] != group):
            for version in [group_entry["preferredVersion"], *group_entry["versions"]]:
                endpoint = await self._find_named(version["groupVersion"], resource)
                if endpoint is not None:
                    return endpoint
        return None

    async def _find_named(self, version: str, resource: str) -> Endpoint | None:
        for entry in await self._list_version(version):
            if resource in (entry["name"], entry.get("singularName"), *(entry.get("shortNames") or ())):
                return _endpoint_of(version, entry)
        return None

    async def _list_versions(self, group: str) -> list[str]:
        """Return the versions of a group, the preferred one first."""
        if not group:
            return ["v1"]
        listed = next((entry for entry in await self._list_groups() if entry["name"] == group), None)
        if listed is None:
            return []
        versions = [entry["groupVersion"] for entry in (listed["preferredVersion"], *listed["versions"])]
        return list(dict.fromkeys(versions))

    async def _list_groups(self) -> list[Object]:
        return await self._read_list("/apis", "groups")

    async def _list_version(self, version: str) -> list[Object]:
        """Return the resources of a version, without subresources."""
        listed = await self._read_list(f"/apis/{version}" if "/" in version else f"/api/{version}", "resources")
        return [resource for resource in listed if "/" not in resource["name"]]

    async def _read_list(self, path: str, name: str) -> list[Object]:
        if path not in self._listed:
            try:
                document = await self._reader.read_document(path, "get discovery") or {}
            except ReadFailed as error:
                self._reader.missing.append(UnreadPart(path, str(error), _EFFECT))
                document = {}
            self._listed[path] = document.get(name) or []
        return self._listed[path]


def _endpoint_of(version: str, resource: Object) -> Endpoint:
    return Endpoint(version, resource["name"], resource["kind"], bool(resource["namespaced"]))
