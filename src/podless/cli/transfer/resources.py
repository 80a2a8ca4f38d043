"""The resources of a server that can be listed and created."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote

from podless.remote.cluster import Refused, RemoteCluster
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_NEEDED = {"create", "get", "list"}
_SERVED_TWICE = {("events.k8s.io", "events")}  # also served in the core group


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One resource, in the version to read and write. status: whether it has this subresource.

    names: that select it.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    status: bool = False
    names: frozenset[str] = frozenset()

    @property
    def api_version(self) -> str:
        """The apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """The plural with its group, like the name of a definition."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def make_path(self, namespace: str = "", name: str = "") -> str:
        """Return the URL path of its objects, or of one of them."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        namespace_path = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"{base}{namespace_path}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")


async def discover_resources(cluster: RemoteCluster, warn: Callable[[str], None]) -> list[ServedResource]:
    """Return all resources, each in its group's preferred version, or in the first version that has it.

    warn: called for a group that does not answer. Raises RemoteError.
    """
    versions = ["v1"]
    for group in (await cluster.send("GET", "/apis"))["groups"]:
        preferred = group.get("preferredVersion", {}).get("groupVersion")
        names = [group_version["groupVersion"] for group_version in group["versions"]]
        versions += sorted(names, key=lambda name: name != preferred)

    async def list_version(version: str) -> list[ServedResource]:
        try:
            return await list_served(cluster, version)
        except Refused as refused:
            warn(f"{version}: {refused}")
            return []

    resources: dict[tuple[str, str], ServedResource] = {}
    for listed in await asyncio.gather(*map(list_version, versions)):
        for resource in listed:
            if (resource.group, resource.plural) not in _SERVED_TWICE:
                resources.setdefault((resource.group, resource.plural), resource)
    return list(resources.values())


async def list_served(cluster: RemoteCluster, api_version: str) -> list[ServedResource]:
    """Return the resources of one group-version. Raises Refused, RemoteError."""
    path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    listed: Sequence[Object] = (await cluster.send("GET", path)).get("resources") or ()
    statuses = {entry["name"].removesuffix("/status") for entry in listed if entry["name"].endswith("/status")}
    group, _, version = api_version.rpartition("/")
    return [
        ServedResource(
            group,
            version,
            entry["name"],
            entry["kind"],
            entry["namespaced"],
            entry["name"] in statuses,
            _all_names(entry),
        )
        for entry in listed
        if "/" not in entry["name"] and set(entry["verbs"]) >= _NEEDED
    ]


def _all_names(entry: Object) -> frozenset[str]:
    names = [entry["name"], entry["kind"], entry.get("singularName") or "", *(entry.get("shortNames") or ())]
    return frozenset(name.lower() for name in names if name)


def choose_kinds(resources: Iterable[ServedResource], definitions: Iterable[Object], names: Sequence[str]) -> list[str]:
    """Return all kinds with these names, as KIND.GROUP in lower case. Several groups can have a kind of the same name.

    names: as for choose_resources. Raises LookupError.
    """
    names_by_kind = [(resource.names, resource.kind, resource.group) for resource in resources]
    for spec in (definition.get("spec") or {} for definition in definitions):
        spec_names = spec.get("names") or {}
        kind, group = str(spec_names.get("kind") or ""), str(spec.get("group") or "")
        named = {"name": spec_names.get("plural") or "", "singularName": spec_names.get("singular"), "kind": kind}
        names_by_kind.append((_all_names({**spec_names, **named}), kind, group))
    kinds: list[str] = []
    for name in map(str.lower, names):
        fitting = [(kind, group) for called, kind, group in names_by_kind if _is_called(name, called, group)]
        if not fitting:
            raise LookupError(f"--kind {name}: neither the server nor the files have such a resource")
        kinds += [f"{kind.lower()}.{group}" if group else kind.lower() for kind, group in fitting]
    return kinds


def _is_called(name: str, names: frozenset[str], group: str) -> bool:
    plain, dot, suffix = name.partition(".")
    return name in names or (bool(dot) and plain in names and suffix == group)


def choose_resources(resources: Iterable[ServedResource], names: Sequence[str]) -> list[ServedResource]:
    """Return the first match for each name: plural, PLURAL.GROUP, kind or short name.

    Raises LookupError.
    """
    chosen = {}
    for name in map(str.lower, names):
        for resource in resources:
            if _is_called(name, resource.names, resource.group):
                chosen[resource.full_name] = resource
                break
        else:
            raise LookupError(f"the server has no {name} that can be listed and created")
    return list(chosen.values())
