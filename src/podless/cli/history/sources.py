"""The sources of the history commands: a server, or the database of a folder that no server uses."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from podless.apis import catalog
from podless.cli.access import choose_kubeconfig
from podless.history.change import GROUP, VERSION, decode_state, find_replaced, make_change, place_of
from podless.history.moments import find_revision, parse_moment
from podless.history.story import Paint, leave_plain
from podless.kinds.kind import Kind
from podless.meta.selectors import escape_value
from podless.remote import kubeconfig as configs
from podless.remote.cluster import Refused, RemoteCluster
from podless.remote.resources import APIResource, choose_resources, discover_resources
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.option import ReportedError
from podless.store import HistoryCompacted, ResourceKeys, StoreInUse, keys
from podless.store.contract import LoggedWrite
from podless.store.engines import DATABASE, StoreSettings, import_engine

_LOG = f"/apis/{GROUP}/{VERSION}"
_PAGE = 200  # changes per response
_READ = 100  # changes per read of a database


class InvalidArguments(ReportedError):
    """The arguments are invalid. The text is one line."""


class HistoryServer:
    """One server, as the history commands use it. Methods raise RemoteError."""

    def __init__(self, cluster: RemoteCluster) -> None:
        self.cluster = cluster
        self._resources: list[APIResource] | None = None

    async def find_resource(self, name: str) -> APIResource:
        """Return the resource with a name; one that is no longer served, by PLURAL.GROUP. Raises InvalidArguments."""
        try:
            return choose_resources(await self.list_resources(), [name])[0]
        except LookupError:
            plural, dot, group = name.lower().partition(".")
            if not dot:
                text = f"the server does not serve {name!r}; name a resource of a deleted definition as PLURAL.GROUP"
                raise InvalidArguments(text) from None
            return APIResource(f"{group}/", plural, "", True)

    async def list_resources(self) -> list[APIResource]:
        """Return all served resources."""
        if self._resources is None:
            self._resources = await discover_resources(self.cluster, lambda text: print(text, file=sys.stderr))
        return self._resources

    async def list_changes(
        self, resource: APIResource | None, namespace: str, name: str, *, by: str = "", states: bool = False
    ) -> AsyncIterator[Object]:
        """Yield changes, newest first. states: include the object after each change."""
        token = ""
        while True:
            query = {"limit": str(_PAGE), "continue": token, **self.make_query(resource, name, by=by, states=states)}
            path = log_path(namespace if resource is None or resource.namespaced else "", query)
            page = await self.cluster.send("GET", path)
            for change in page["items"]:
                yield change
            token = page["metadata"].get("continue") or ""
            if not token:
                return

    def make_query(
        self, resource: APIResource | None, name: str, *, by: str = "", states: bool = False
    ) -> dict[str, str]:
        """Return the query that selects changes."""
        fields = {"author.user": by, "object.name": name}
        requirements = [f"{field}={escape_value(value)}" for field, value in fields.items() if value]
        if resource is not None:
            requirements += [f"object.group={resource.group}", f"object.resource={resource.plural}"]
        query = {"fieldSelector": ",".join(requirements)} if requirements else {}
        return query | ({"state": "true"} if states else {})

    async def read_state(
        self, resource: APIResource, namespace: str, name: str, at: Mapping[str, str]
    ) -> Object | None:
        """Return an object in an earlier state, None if it did not exist. at: from `query_of_moment`."""
        path = resource.path(namespace, name)
        try:
            return await self.cluster.send("GET", f"{path}?{urlencode(at)}" if at else path)
        except Refused as refused:
            if refused.code == 404 and (refused.status.get("details") or {}).get("name") == name:
                return None
            raise


class OfflineHistory:
    """The history in the database of a folder. Methods raise StoreError and InvalidArguments."""

    def __init__(self, path: Path) -> None:
        self._store = import_engine("sqlite").make_store(StoreSettings(database=path, compacting=False))
        assert self._store.changelog is not None
        self._log = self._store.changelog
        self._namespaced = {(kind.group, kind.plural): kind.namespaced for kind in catalog.ALL}

    async def open(self) -> None:
        """Open the database. Raises StoreInUse if a server uses it, StoreError."""
        await self._store.open()

    async def close(self) -> None:
        """Close the database."""
        await self._store.close()

    async def find_resource(self, name: str) -> APIResource:
        """Return the built-in resource with a name, or one in the log with this plural or kind."""
        resources = [_resource_of(kind) for kind in catalog.ALL if kind.home is None]
        resources += [await self._derive_resource(prefix) for prefix in await self._log.list_resources()]
        try:
            return choose_resources(resources, [name])[0]
        except LookupError:
            raise InvalidArguments(f"the history has no {name}; name a custom resource as PLURAL.GROUP") from None

    async def _derive_resource(self, prefix: str) -> APIResource:
        """Return a custom resource, as derived from its objects in the log."""
        group, plural = keys.resource_of(prefix)
        kind, api_version, namespaced = "", f"{group}/", True
        for written in await self._log.read_under([prefix], limit=10):
            namespaced = bool(place_of(written.key, namespaced=None).namespace)
            if written.stored is not None:
                state = decode_state(written.stored, written.revision)
                kind, api_version = str(state.get("kind", "")), str(state.get("apiVersion", ""))
                break
        return APIResource(api_version, plural, kind, namespaced, names=frozenset({plural}))

    async def list_changes(
        self, resource: APIResource | None, namespace: str, name: str, *, by: str = "", states: bool = False
    ) -> AsyncIterator[Object]:
        """Yield changes, newest first. states: include the object after each change."""
        before = 0
        while page := await self._read_page(resource, namespace, name, before):
            for written in page:
                before = written.sequence
                object_place = place_of(written.key, namespaced=self._namespaced.get(keys.resource_of(written.key)))
                if written.key.startswith(keys.OWN) or (namespace and object_place.namespace != namespace):
                    continue
                if (name and object_place.name != name) or (by and written.author.user != by):
                    continue
                yield make_change(written, await find_replaced(self._log, written), object_place, state=states)

    async def _read_page(
        self, resource: APIResource | None, namespace: str, name: str, before: int
    ) -> list[LoggedWrite]:
        if resource is None:
            return await self._log.read_under([keys.ALL], before, limit=_READ)
        resource_keys = ResourceKeys.of(resource.group, resource.plural, namespaced=resource.namespaced)
        if name and (namespace or not resource.namespaced):
            return await self._log.read_key(resource_keys.key(namespace, name), before, limit=_READ)
        return await self._log.read_under([resource_keys.scope(namespace)], before, limit=_READ)

    async def read_state(
        self, resource: APIResource, namespace: str, name: str, at: Mapping[str, str]
    ) -> Object | None:
        """Return an object in an earlier state, None if it did not exist. at: from `query_of_moment`."""
        key = ResourceKeys.of(resource.group, resource.plural, namespaced=resource.namespaced).key(namespace, name)
        moment = at.get("at") or at.get("resourceVersion") or ""
        try:
            revision = await find_revision(self._store, moment) if moment else await self._store.read_revision()
            records = await self._store.read_range_at(key, revision)
        except HistoryCompacted as error:
            raise InvalidArguments(
                f"the history has no state at {moment}: the oldest one is revision {error.revision}"
            ) from None
        matching = [record for record in records if record.key == key]
        return decode_state(matching[0].stored, matching[0].revision) if matching else None


HistorySource = HistoryServer | OfflineHistory
WorkWithServer = Callable[[argparse.Namespace, HistoryServer], Awaitable[int]]


def run_command(args: argparse.Namespace, work: Callable[[argparse.Namespace, HistorySource], Awaitable[int]]) -> int:
    """Run a command that reads: from a folder that no server uses, else from the server.

    Returns 1, with one line on standard error, if that fails.
    """

    async def choose_source() -> int:
        if args.kubeconfig is None and (args.data / DATABASE).exists():
            folder = OfflineHistory(args.data / DATABASE)
            try:
                await folder.open()
                return await work(args, folder)
            except StoreInUse:
                pass  # a server uses the folder, and answers instead
            finally:
                await folder.close()
        return await _run_connected(args, work)

    return asyncio.run(choose_source())


def run_with_server(args: argparse.Namespace, work: WorkWithServer) -> int:
    """Run a command against the server. Returns 1, with one line on standard error, if that fails."""
    return asyncio.run(_run_connected(args, work))


async def _run_connected(args: argparse.Namespace, work: WorkWithServer) -> int:
    kubeconfig = choose_kubeconfig(args.data, args.kubeconfig)
    async with RemoteCluster(configs.read_kubeconfig(kubeconfig), "podless-history") as cluster:
        return await work(args, HistoryServer(cluster))


def query_of_moment(text: str) -> dict[str, str]:
    """Return the query for a revision or a time. Raises InvalidArguments."""
    if text.isascii() and text.isdigit():
        if not int(text):
            raise InvalidArguments(f"{text!r} is not a revision: the first one is 1")
        return {"resourceVersion": text, "resourceVersionMatch": "Exact"}
    try:
        parse_moment(text, clock.time())
    except ValueError as error:
        raise InvalidArguments(f"{error}, or a revision") from None
    return {"at": text}


def read_time(change: Object) -> float:
    """Return when a change was made, as a Unix time."""
    return datetime.fromisoformat(change["time"]).timestamp()


def log_path(namespace: str, query: Mapping[str, str]) -> str:
    """Return the URL path of a namespace's log, "" for all namespaces."""
    namespace_path = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{_LOG}{namespace_path}/history?{urlencode(query)}"


def choose_paint() -> Paint:
    """Return a function that colours text, if standard output is a terminal."""
    return _paint_text if sys.stdout.isatty() else leave_plain


def _paint_text(text: str, colour: str) -> str:
    return f"\033[{colour}m{text}\033[0m"


def _resource_of(kind: Kind) -> APIResource:
    names = frozenset({kind.plural, kind.singular, *kind.short_names})
    return APIResource(kind.api_version(kind.versions[0].name), kind.plural, kind.kind, kind.namespaced, names=names)
