"""Import: creates the objects of documents on a server, in an order that satisfies their dependencies."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import islice

from podless.cli.progress import Progress
from podless.cli.transfer import renew
from podless.cli.transfer.documents import Documents
from podless.cli.transfer.export import object_label
from podless.cli.transfer.order import Order, owner_references
from podless.cli.transfer.renew import is_adopted
from podless.remote.cluster import Conflicting, MissingServiceAccount, Refused, RemoteCluster, retry_call
from podless.remote.resources import APIResource, list_transferable
from podless.runtime.jsonobject import Object

EXISTING = ("fail", "skip", "replace")
_TOGETHER = 16  # objects that are created concurrently
_TRIES = 5  # attempts for a write that meets conflicts
_POLL_DELAY = 0.2  # seconds between two checks for a default service account
_PATIENCE = 60.0  # seconds to wait until a definition is served, or a default service account exists
_MERGE = "application/merge-patch+json"


class Import:
    """One import.

    existing: what to do with existing objects that differ. created, unchanged, updated, failed: numbers of objects that
    were created, existed already, were overwritten, or failed.
    """

    def __init__(
        self,
        cluster: RemoteCluster,
        documents: Documents,
        order: Order,
        progress: Progress,
        *,
        existing: str = EXISTING[0],
    ) -> None:
        self.created = self.unchanged = self.updated = self.failed = 0
        self._cluster = cluster
        self._documents = documents
        self._order = order
        self._progress = progress
        self._existing = existing
        self._uids: dict[str, str] = {}  # new uids of owners, by those in the documents
        self._resources: dict[str, dict[str, APIResource]] = {}  # resources by apiVersion and kind
        self._later: list[tuple[APIResource, Object]] = []  # objects whose owners are created later

    async def run(self) -> None:
        """Import. Raises RemoteError if the server does not answer; you can then run the import again."""
        for stage in self._order.list_stages():
            definitions = []
            objects = self._order.read_stage(self._documents, stage)
            while batch := list(islice(objects, _TOGETHER)):
                await asyncio.gather(*map(self._import_object, batch))
                definitions += [obj for obj in batch if stage == 0]
            for definition in definitions:
                await self._wait_established(definition)
        for resource, obj in self._later:
            await self._add_references(resource, obj)

    def _report_failure(self, obj: Object, reason: object) -> None:
        self.failed += 1
        self._progress.print_line(f"{object_label(obj)}: {reason}")

    async def _import_object(self, obj: Object) -> None:
        """Create one object, with its status."""
        try:
            resource = (await self._list_kinds(obj["apiVersion"])).get(obj["kind"])
            if resource is None:
                self._report_failure(obj, f"the server has no {obj['kind']} in {obj['apiVersion']}")
                return
            await self._create_or_update(resource, obj)
        except Refused as refused:
            self._report_failure(obj, refused)
        finished = self.created + self.unchanged + self.updated + self.failed
        self._progress.show(f"{finished} of {self._order.total} objects")

    async def _create_or_update(self, resource: APIResource, obj: Object) -> None:
        body = renew.renew_object(obj, self._uids)
        if resource.namespaced:
            obj["metadata"].setdefault("namespace", "default")
            body["metadata"]["namespace"] = obj["metadata"]["namespace"]
        else:
            body["metadata"].pop("namespace", None)
        named, waiting = await self._map_references(obj)
        if named:
            body["metadata"]["ownerReferences"] = named
        stored, is_new = await self._create_object(resource, obj, body)
        if stored is None:
            return
        if (uid := obj["metadata"].get("uid")) in self._order.owners:
            self._uids[uid] = stored["metadata"]["uid"]
        if waiting:
            self._later.append((resource, obj))
        status = body.get("status")
        if resource.has_status and isinstance(status, dict) and status and (is_new or not _has_status(stored)):
            await self._write_status(resource, obj, stored)

    async def _create_object(self, resource: APIResource, obj: Object, body: Object) -> tuple[Object | None, bool]:
        """Create an object, or handle the existing one. Return it (None on failure), and whether it is new."""
        path = resource.path(body["metadata"].get("namespace", ""))
        create = partial(self._cluster.send, "POST", path, body)
        try:
            created = await retry_call(create, MissingServiceAccount, seconds=_PATIENCE, pause=_POLL_DELAY)
        except Conflicting as refused:
            if refused.status.get("reason") != "AlreadyExists":
                raise
            return await self._update_existing(resource, obj, body), False
        self.created += 1
        return created, True

    async def _update_existing(self, resource: APIResource, obj: Object, body: Object) -> Object | None:
        """Return the existing object of this name, updated if `existing` says so."""
        path = resource.path(body["metadata"].get("namespace", ""), body["metadata"]["name"])

        async def update_object() -> Object | None:
            stored = await self._cluster.send("GET", path)
            if renew.has_all(_comparable_part(resource, stored), _comparable_part(resource, body)) or (
                self._existing == "skip" and not is_adopted(obj)
            ):
                self.unchanged += 1
                return stored
            if is_adopted(obj):
                written = await self._cluster.send("PATCH", path, _comparable_part(resource, body), _MERGE)
            elif self._existing == "replace":
                metadata = {**body["metadata"], "resourceVersion": stored["metadata"]["resourceVersion"]}
                written = await self._cluster.send("PUT", path, {**body, "metadata": metadata})
            else:
                self._report_failure(obj, "exists with other content; choose what to do with --existing")
                return None
            self.updated += 1
            return written

        return await retry_call(update_object, Conflicting, tries=_TRIES)

    async def _write_status(self, resource: APIResource, obj: Object, stored: Object) -> None:
        path = f"{resource.path(obj['metadata'].get('namespace', ''), obj['metadata']['name'])}/status"
        first = [stored]

        async def write_object() -> None:
            now = first.pop() if first else await self._cluster.send("GET", path)
            new = renew.renew_status(obj, now["metadata"].get("generation") or 0)
            await self._cluster.send("PUT", path, {**now, "status": new})

        try:
            await retry_call(write_object, Conflicting, tries=_TRIES)
        except Refused as refused:
            self._report_failure(obj, f"its status: {refused}")

    # owners

    async def _map_references(self, obj: Object, *, last: bool = False) -> tuple[list[Object], bool]:
        """Return owner references with new uids, and whether some owners are missing. last: do not wait for them."""
        named, waiting = [], False
        for reference in owner_references(obj):
            uid = self._uids.get(reference["uid"])
            if uid is None and not last and reference["uid"] in self._order.owners:
                waiting = True
                continue
            if uid is None and (uid := await self._find_owner(obj, reference)) is None:
                name = f"{reference.get('kind')} {reference.get('name')}"
                self._progress.print_line(
                    f"{object_label(obj)}: left out the reference to its owner {name}, which does not exist"
                )
                continue
            named.append({**reference, "uid": uid})
        return named, waiting

    async def _find_owner(self, obj: Object, reference: Object) -> str | None:
        """Return the uid of an owner that is on the server, but not in the documents."""
        resource = (await self._list_kinds(str(reference.get("apiVersion")))).get(str(reference.get("kind")))
        if resource is None:
            return None
        namespace = obj["metadata"].get("namespace", "") if resource.namespaced else ""
        try:
            owner = await self._cluster.send("GET", resource.path(namespace, str(reference.get("name"))))
        except Refused:
            return None
        uid: str = owner["metadata"]["uid"]
        return uid

    async def _add_references(self, resource: APIResource, obj: Object) -> None:
        """Add references to owners that were created after the object."""
        named, _ = await self._map_references(obj, last=True)
        path = resource.path(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        try:
            await self._cluster.send("PATCH", path, {"metadata": {"ownerReferences": named}}, _MERGE)
        except Refused as refused:
            self._report_failure(obj, refused)

    # kinds

    async def _list_kinds(self, api_version: str) -> dict[str, APIResource]:
        if api_version not in self._resources:
            try:
                resources = await list_transferable(self._cluster, api_version)
            except Refused as refused:
                if refused.code not in (400, 403, 404, 406):
                    raise
                resources = []
            self._resources[api_version] = {resource.kind: resource for resource in resources}
        return self._resources[api_version]

    async def _wait_established(self, definition: Object) -> None:
        """Wait until a definition is established and served."""
        spec = definition["spec"]
        versions = [f"{spec['group']}/{entry['name']}" for entry in spec["versions"] if entry.get("served")]
        end = asyncio.get_running_loop().time() + _PATIENCE
        for version in versions:
            while spec["names"]["kind"] not in await self._list_kinds(version):
                del self._resources[version]
                if asyncio.get_running_loop().time() > end:
                    self._report_failure(definition, f"{version} is not served after {_PATIENCE:.0f} s")
                    return
                await asyncio.sleep(0.1)


def _has_status(obj: Object) -> bool:
    """Return whether a client or controller has written its status."""
    return any(entry.get("subresource") == "status" for entry in obj["metadata"].get("managedFields") or ())


def _comparable_part(resource: APIResource, obj: Object) -> Object:
    """Return an object for comparisons, without fields that the server or other requests set."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
    comparable = {key: value for key, value in obj.items() if key != "status" or not resource.has_status}
    return {**comparable, "metadata": metadata}
