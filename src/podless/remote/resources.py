"""The resources of an API: their paths, and the discovery documents that list them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import field
from urllib.parse import quote

from podless.remote.cluster import Refused, RemoteCluster
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_TRANSFERRED = {"create", "get", "list"}  # verbs of a resource whose objects can be read and created
_SERVED_TWICE = {("events.k8s.io", "events")}  # also served in the core group


@dataclass(frozen=True, slots=True)
class APIResource:
    """A resource in one version. What only discovery tells is not compared.

    has_status: it has this subresource. verbs: of its requests. names: its plural, singular and short names.
    """

    api_version: str
    plural: str
    kind: str
    namespaced: bool
    has_status: bool = field(default=False, compare=False)
    verbs: frozenset[str] = field(default=frozenset(), compare=False)
    names: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def group(self) -> str:
        """The API group, "" for the core one."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version without its group."""
        return self.api_version.rpartition("/")[2]

    @property
    def gvk(self) -> str:
        """Group, version and kind as Go prints them."""
        return f"{self.group}/{self.version}, Kind={self.kind}"

    @property
    def full_name(self) -> str:
        """The plural with its group, as definitions are named."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the URL path of an object, or of a collection for the name ""."""
        base = version_path(self.api_version)
        base += f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"{base}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")

    def is_called(self, name: str) -> bool:
        """Return whether a name in lower case selects it: one of `names` or the kind, alone or as NAME.GROUP."""
        names = {*map(str.lower, self.names), self.kind.lower()} - {""}
        plain, dot, suffix = name.partition(".")
        return name in names or (bool(dot) and plain in names and suffix == self.group)


def version_path(api_version: str) -> str:
    """Return the URL path of a group-version, which is that of its discovery document."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def parse_resources(api_version: str, document: Object) -> list[APIResource]:
    """Return the resources in the discovery document of a group-version, without subresources."""
    listed: Sequence[Object] = document.get("resources") or ()
    statuses = {entry["name"].removesuffix("/status") for entry in listed if entry["name"].endswith("/status")}
    return [
        APIResource(
            api_version,
            entry["name"],
            entry["kind"],
            bool(entry["namespaced"]),
            entry["name"] in statuses,
            frozenset(entry.get("verbs") or ()),
            frozenset(filter(None, (entry["name"], entry.get("singularName"), *(entry.get("shortNames") or ())))),
        )
        for entry in listed
        if "/" not in entry["name"]
    ]


async def list_transferable(cluster: RemoteCluster, api_version: str) -> list[APIResource]:
    """Return the resources of a group-version whose objects can be read and created. Raises Refused, RemoteError."""
    document = await cluster.send("GET", version_path(api_version))
    return [resource for resource in parse_resources(api_version, document) if resource.verbs >= _TRANSFERRED]


async def discover_resources(cluster: RemoteCluster, warn: Callable[[str], None]) -> list[APIResource]:
    """Return all such resources, each in its group's preferred version, or in the first version that has it.

    warn: called for a group that does not answer. Raises RemoteError.
    """
    versions = ["v1"]
    for group in (await cluster.send("GET", "/apis"))["groups"]:
        preferred = group.get("preferredVersion", {}).get("groupVersion")
        names = [group_version["groupVersion"] for group_version in group["versions"]]
        versions += sorted(names, key=lambda name: name != preferred)

    async def list_version(version: str) -> list[APIResource]:
        try:
            return await list_transferable(cluster, version)
        except Refused as refused:
            warn(f"{version}: {refused}")
            return []

    resources: dict[tuple[str, str], APIResource] = {}
    for listed in await asyncio.gather(*map(list_version, versions)):
        for resource in listed:
            if (resource.group, resource.plural) not in _SERVED_TWICE:
                resources.setdefault((resource.group, resource.plural), resource)
    return list(resources.values())


def choose_resources(resources: Iterable[APIResource], names: Sequence[str]) -> list[APIResource]:
    """Return the first match for each name. Raises LookupError."""
    chosen = {}
    for name in names:
        resource = next((resource for resource in resources if resource.is_called(name.lower())), None)
        if resource is None:
            raise LookupError(f"the server has no {name.lower()} that can be listed and created")
        chosen[resource.full_name] = resource
    return list(chosen.values())


class Discovery:
    """The discovery documents of one API; each is read once. get: returns the document of a path, {} for none."""

    def __init__(self, get: Callable[[str], Awaitable[Object]]) -> None:
        self._get = get
        self._documents: dict[str, Object] = {}

    async def list_version(self, api_version: str) -> list[APIResource]:
        """Return the resources of a group-version."""
        return parse_resources(api_version, await self._read_document(version_path(api_version)))

    async def list_preferred(self) -> list[APIResource]:
        """Return the resources of all groups in their preferred version."""
        versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in await self._list_groups())]
        return [resource for listed in await asyncio.gather(*map(self.list_version, versions)) for resource in listed]

    async def find_kind(self, group: str, kind: str) -> APIResource | None:
        """Return the resource of a kind, in the preferred version if that has it; None if it is not served."""
        versions = ["v1"]
        if group:
            groups = [entry for entry in await self._list_groups() if entry["name"] == group]
            versions = _list_versions(groups[0]) if groups else []
        for version in versions:
            for resource in await self.list_version(version):
                if resource.kind == kind:
                    return resource
        return None

    async def find_resource(self, name: str, group: str) -> APIResource | None:
        """Return a resource; None if it is not served. name: plural, singular or short name. group: its start."""
        if not group and (resource := await self._find_named("v1", name)) is not None:
            return resource
        groups = [entry for entry in await self._list_groups() if entry["name"].startswith(group)]
        for entry in sorted(groups, key=lambda entry: entry["name"] != group):
            for version in _list_versions(entry):
                if (resource := await self._find_named(version, name)) is not None:
                    return resource
        return None

    async def _find_named(self, api_version: str, name: str) -> APIResource | None:
        return next((resource for resource in await self.list_version(api_version) if name in resource.names), None)

    async def _list_groups(self) -> list[Object]:
        return (await self._read_document("/apis")).get("groups") or []

    async def _read_document(self, path: str) -> Object:
        if path not in self._documents:
            self._documents[path] = await self._get(path)
        return self._documents[path]


def _list_versions(group: Object) -> list[str]:
    """Return the versions of a group, the preferred one first."""
    return list(dict.fromkeys(entry["groupVersion"] for entry in (group["preferredVersion"], *group["versions"])))
