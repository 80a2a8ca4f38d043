"""Access of the history commands to a server, and their requests."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from typing import TypeAlias, TypeVar
from urllib.parse import quote, urlencode

from podless.cli.access import choose_kubeconfig
from podless.cli.history.offline import OfflineHistory
from podless.cli.history.source import HistorySource, InvalidArguments
from podless.history.change import GROUP, VERSION
from podless.history.moments import parse_moment
from podless.history.story import Paint, leave_plain
from podless.meta.selectors import escape_value
from podless.remote import kubeconfig as configs
from podless.remote.cluster import Refused, RemoteCluster
from podless.remote.resources import APIResource, choose_resources, discover_resources
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.store import StoreInUse
from podless.store.engines import DATABASE
from podless.version import __version__

S = TypeVar("S", bound=HistorySource)
Work: TypeAlias = Callable[[argparse.Namespace, S], Awaitable[int]]
_PAGE = 200  # changes per response
_LOG = f"/apis/{GROUP}/{VERSION}"


def run_command(args: argparse.Namespace, work: Work[HistorySource]) -> int:
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


def run_with_server(args: argparse.Namespace, work: Work[HistoryServer]) -> int:
    """Run a command against the server. Returns 1, with one line on standard error, if that fails."""
    return asyncio.run(_run_connected(args, work))


async def _run_connected(args: argparse.Namespace, work: Work[HistoryServer]) -> int:
    kubeconfig = choose_kubeconfig(args.data, args.kubeconfig)
    async with RemoteCluster(configs.read_kubeconfig(kubeconfig), f"podless-history/{__version__}") as cluster:
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


def log_path(namespace: str, query: Mapping[str, str]) -> str:
    """Return the URL path of a namespace's log, "" for all namespaces."""
    namespace_path = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{_LOG}{namespace_path}/history?{urlencode(query)}"


def choose_paint() -> Paint:
    """Return a function that colours text, if standard output is a terminal."""
    return _paint_text if sys.stdout.isatty() else leave_plain


def _paint_text(text: str, colour: str) -> str:
    return f"\033[{colour}m{text}\033[0m"
