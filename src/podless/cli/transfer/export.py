"""Export: writes all or selected objects of a server to a sink, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from urllib.parse import urlencode

from podless.cli.progress import Progress
from podless.cli.transfer.documents import ExportSink
from podless.cli.transfer.renew import export_object, made_by_server
from podless.remote.cluster import Refused, RemoteCluster
from podless.remote.resources import APIResource, choose_resources, discover_resources
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_PAGE = 500  # maximum number of objects in a page
_BEGIN = 20  # the same for the first page, because the size of objects is unknown
_BYTES = 4 << 20  # approximate bytes of a page, which take ten times as much memory when decoded
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_NAMESPACES = "namespaces"
_FIRST = (_DEFINITIONS, _NAMESPACES)
_PASSING = {"events"}  # short-lived objects, exported only if they are selected by name


@dataclass(frozen=True, slots=True)
class Choice:
    """The objects to export. kinds: names of resources, empty for all. namespaces: empty for all.

    only: leave out the definitions and namespaces that the objects need.
    """

    kinds: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    selector: str = ""
    only: bool = False


class Export:
    """One export. progress: also shows a line for each object left out."""

    def __init__(self, cluster: RemoteCluster, choice: Choice, sink: ExportSink, progress: Progress) -> None:
        self.done = self.failed = 0
        self._cluster = cluster
        self._choice = choice
        self._sink = sink
        self._progress = progress
        self._used: set[str] = set()  # namespaces of exported objects
        self._exported: set[str] = set()  # paths of exported definitions and namespaces

    async def run(self) -> None:
        """Export. Raises LookupError for an unknown kind, RemoteError if the server does not answer."""
        served = await discover_resources(self._cluster, self._report_failure)
        by_name = {candidate.full_name: candidate for candidate in served}
        choice = self._choice
        resources = (
            choose_resources(served, choice.kinds)
            if choice.kinds
            else [item for item in served if item.full_name not in _PASSING]
        )
        if choice.namespaces:
            if choice.kinds and (cluster_scoped := [item.plural for item in resources if not item.namespaced]):
                raise LookupError(f"{', '.join(cluster_scoped)}: not in a namespace; leave --namespace out")
            resources = [item for item in resources if item.namespaced]
        resources.sort(key=lambda item: _FIRST.index(item.full_name) if item.full_name in _FIRST else len(_FIRST))
        selected = {item.full_name for item in resources}
        with_objects = []
        for resource in resources:
            if await self._export_resource(resource):
                with_objects.append(resource)
        if _NAMESPACES in by_name:
            await self._check_namespaces(by_name[_NAMESPACES])
        if not choice.only:
            if _DEFINITIONS in by_name and (choice.selector or _DEFINITIONS not in selected):
                await self._export_needed(
                    by_name[_DEFINITIONS], [item.full_name for item in with_objects if item.group], quiet=True
                )
            if _NAMESPACES in by_name and (choice.selector or _NAMESPACES not in selected):
                await self._export_needed(by_name[_NAMESPACES], sorted(self._used), quiet=False)

    def _report_failure(self, text: str) -> None:
        self.failed += 1
        self._progress.print_line(text)

    async def _check_namespaces(self, namespaces: APIResource) -> None:
        """Report the chosen namespaces that had nothing to export because they do not exist."""
        for name in dict.fromkeys(self._choice.namespaces):
            if name not in self._used:
                try:
                    await self._cluster.send("GET", namespaces.path(name=name))
                except Refused as refused:
                    if refused.code == 404:  # who may not read namespaces does not learn it
                        self._report_failure(str(refused))

    async def _export_resource(self, resource: APIResource) -> bool:
        """Write all objects of a resource. Return whether there were any."""
        before = self.done
        for namespace in self._choice.namespaces or ("",):
            try:
                async for obj in self._list_objects(resource, namespace):
                    self._export_object(resource, obj)
            except Refused as refused:
                self._report_failure(f"{resource.full_name}: {refused}")
        return self.done > before

    def _export_object(self, resource: APIResource, obj: Object) -> None:
        obj = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        metadata = obj["metadata"]
        if made_by_server(obj):
            return
        if metadata.get("deletionTimestamp"):
            self._progress.print_line(f"{object_label(obj)}: is being deleted, and left out")
            return
        if metadata.get("namespace"):
            self._used.add(metadata["namespace"])
        first = resource.full_name in _FIRST
        if first:
            self._exported.add(resource.path(name=metadata["name"]))
        self._sink.put(export_object(obj), resource.full_name, needed=first)
        self.done += 1
        self._progress.show(f"{resource.full_name}: exported {self.done} so far")

    async def _list_objects(self, resource: APIResource, namespace: str) -> AsyncIterator[Object]:
        query = {}
        if self._choice.selector:
            query["labelSelector"] = self._choice.selector
        token, limit = "", min(_BEGIN, _PAGE)
        while True:
            query_page = {"limit": str(limit), **({"continue": token} if token else {})}
            before = self._cluster.received
            try:
                page = await self._cluster.send("GET", f"{resource.path(namespace)}?{urlencode(query | query_page)}")
            except Refused as refused:
                token = refused.next_token
                if not token:
                    raise
                self._progress.print_line(
                    f"{resource.full_name}: the list expired; the rest of it is from a later state"
                )
                continue
            for item in page.get("items") or ():
                yield item
            token = page["metadata"].get("continue") or ""
            if not token:
                return
            size = (self._cluster.received - before) / max(len(page.get("items") or ()), 1)
            limit = max(1, min(int(_BYTES / max(size, 1)), 4 * limit, _PAGE))

    async def _export_needed(self, resource: APIResource, names: Iterable[str], *, quiet: bool) -> None:
        """Write objects that other objects need. quiet: do not report missing ones."""
        for name in names:
            if (path := resource.path(name=name)) in self._exported:
                continue
            try:
                obj = await self._cluster.send("GET", path)
            except Refused as refused:
                if refused.code != 404 or not quiet:
                    self._report_failure(f"{resource.kind} {name}: {refused}")
                continue
            self._sink.put(export_object(obj), resource.full_name, needed=True)
            self.done += 1


def object_label(obj: Object) -> str:
    """Return kind, namespace and name of an object, for messages."""
    metadata = obj["metadata"]
    prefix = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{obj['kind']} {prefix}{metadata['name']}"
