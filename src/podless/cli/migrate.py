"""podless migrate: rewrite objects in their storage version, then remove older versions from storedVersions.

It works with any Kubernetes API server, like kube-storage-version-migrator: it reads and writes every object unchanged,
so that the server stores it again. A conflict means that another client has rewritten the object.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from urllib.parse import quote

from podless.cli.progress import Progress
from podless.remote import RemoteError
from podless.remote import kubeconfig as configs
from podless.remote.cluster import Conflicting, Refused, RemoteCluster, RemoteGone, retry_call
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object
from podless.runtime.messages import format_count

Say = Callable[[str], None]

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PAGE = 500  # objects per page of a list
_TOGETHER = 16  # concurrent writes
_TRIES = 20
_MAX_ERRORS = 10  # maximum errors to print one by one


def run(args: argparse.Namespace) -> int:
    """Migrate. Returns 1, with one line on standard error for each error, if something failed."""
    if bool(args.names) == args.all:
        print("podless: name the definitions, or use --all", file=sys.stderr)
        return 2
    access = configs.read_kubeconfig(args.kubeconfig or configs.find_kubeconfig(), args.context)
    return asyncio.run(_migrate_definitions(access, args.names))


async def _migrate_definitions(access: configs.ClusterAccess, names: list[str]) -> int:
    progress = Progress(sys.stdout)
    code = 0
    async with RemoteCluster(access, "podless-migrate") as cluster:
        if not names:
            listed = (await cluster.send("GET", _DEFINITIONS))["items"]
            names = [item["metadata"]["name"] for item in listed]
        for name in names:
            try:
                progress.end(f"{name}: {await Migration(cluster, name, progress.show).run()}")
            except (MigrationFailed, RemoteError) as error:
                progress.clear()
                print(f"podless: {name}: {error}", file=sys.stderr)
                code = 1
    return code


class MigrationFailed(Exception):
    """A migration cannot be completed. The text says why. Objects that are rewritten stay so."""


class _DefinitionChanged(Exception):
    """The definition changed during the migration."""


class Migration:
    """The migration of one definition. say: called now and then with the progress."""

    def __init__(self, cluster: RemoteCluster, name: str, say: Say) -> None:
        self._cluster = cluster
        self._name = name
        self._say = say
        self._path = f"{_DEFINITIONS}/{quote(name)}"
        self._refused: list[str] = []
        self._rewritten = 0

    async def run(self) -> str:
        """Migrate, and return a summary. Raises MigrationFailed, or RemoteError if the server does not answer."""
        try:
            return await retry_call(self._migrate_once, _DefinitionChanged, tries=_TRIES)
        except _DefinitionChanged:
            raise MigrationFailed("the definition keeps changing: run the command again") from None

    async def _migrate_once(self) -> str:
        """Migrate the current definition. Raises _DefinitionChanged."""
        definition = await self._cluster.send("GET", self._path)
        storage, older = _split_versions(definition)
        if not older:
            return f"all objects are stored in {storage}"
        await self._rewrite_objects(definition, storage)
        await self._trim_versions(definition, storage)
        return f"{format_count(self._rewritten, 'object')} rewritten in {storage}; none is stored in {', '.join(older)}"

    async def _rewrite_objects(self, definition: Object, storage: str) -> None:
        """Write every object unchanged. Raises MigrationFailed if the server rejects some."""
        self._rewritten, self._refused = 0, []
        spec = definition["spec"]
        served = [version["name"] for version in spec["versions"] if version["served"]]
        if not served:
            raise MigrationFailed("no version is served, so no object can be read")
        version = storage if storage in served else served[0]
        api_version, names = f"{spec['group']}/{version}", spec["names"]
        resource = APIResource(api_version, names["plural"], names["kind"], spec["scope"] == "Namespaced")
        token, is_last = "", False
        while not is_last:
            page, token = await self._fetch_page(resource.path(), token)
            is_last, items = not token, page.get("items") or []
            for start in range(0, len(items), _TOGETHER):
                batch = items[start : start + _TOGETHER]
                await asyncio.gather(*(self._rewrite_object(resource, item) for item in batch))
                remaining = (page["metadata"].get("remainingItemCount") or 0) + len(items) - start - _TOGETHER
                rewritten = format_count(self._rewritten, "object")
                self._say(f"{self._name}: {rewritten} rewritten in {storage}, {max(remaining, 0)} left")
        if self._refused:
            texts = "; ".join(self._refused[:_MAX_ERRORS])
            rejected = format_count(len(self._refused), "object")
            raise MigrationFailed(f"{rejected} rejected, {self._rewritten} rewritten in {storage}: {texts}")

    async def _fetch_page(self, path: str, token: str) -> tuple[Object, str]:
        query = f"?limit={_PAGE}" + (f"&continue={quote(token)}" if token else "")
        try:
            page = await self._cluster.send("GET", path + query)
        except RemoteGone as refused:
            if not token:
                raise
            return await self._fetch_page(path, refused.next_token)
        return page, page["metadata"].get("continue") or ""

    async def _rewrite_object(self, resource: APIResource, item: Object) -> None:
        namespace, name = item["metadata"].get("namespace") or "", item["metadata"]["name"]
        path = resource.path(namespace, name)
        first = [item]

        async def write_object() -> None:
            await self._cluster.send("PUT", path, first.pop() if first else await self._cluster.send("GET", path))

        try:
            await retry_call(write_object, Conflicting, tries=_TRIES)
        except Conflicting:
            self._refused.append(f"{name}: changed during every attempt")
        except Refused as refused:
            if refused.code != 404:
                self._refused.append(f"{'/'.join(filter(None, (namespace, name)))}: {refused}")
        else:
            self._rewritten += 1

    async def _trim_versions(self, before: Object, storage: str) -> None:
        """Remove the older versions from the status.

        Raises _DefinitionChanged if the definition has changed; then the migration starts again.
        """

        async def write_versions() -> None:
            now = await self._cluster.send("GET", self._path)
            if any(now["metadata"].get(key) != before["metadata"].get(key) for key in ("uid", "generation")):
                raise _DefinitionChanged
            revision = {"resourceVersion": now["metadata"]["resourceVersion"]}
            change = {"metadata": revision, "status": {"storedVersions": [storage]}}
            await self._cluster.send("PATCH", f"{self._path}/status", change, "application/merge-patch+json")

        try:
            await retry_call(write_versions, Conflicting, tries=_TRIES)
        except Conflicting:
            raise _DefinitionChanged from None


def _split_versions(definition: Object) -> tuple[str, list[str]]:
    """Return the storage version, and the other versions in which objects can be stored."""
    storage = next(version["name"] for version in definition["spec"]["versions"] if version["storage"])
    stored = definition.get("status", {}).get("storedVersions") or []
    return storage, [name for name in stored if name != storage]
