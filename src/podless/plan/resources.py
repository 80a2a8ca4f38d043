"""The resources that a running API serves, from its discovery documents."""

from __future__ import annotations

import asyncio

from podless.plan.applyset import GroupKind
from podless.plan.reader import APIReader, ReadFailed
from podless.plan.requests import Endpoint
from podless.plan.result import UnreadPart
from podless.runtime.jsonobject import Object


class Resources:
    """The resources of one API; each document is read once. effect: on the plan if one cannot be read."""

    def __init__(self, reader: APIReader, effect: str) -> None:
        self._reader = reader
        self._effect = effect
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
                self._reader.missing.append(UnreadPart(path, str(error), self._effect))
                document = {}
            self._listed[path] = document.get(name) or []
        return self._listed[path]


def _endpoint_of(version: str, resource: Object) -> Endpoint:
    return Endpoint(version, resource["name"], resource["kind"], bool(resource["namespaced"]))
