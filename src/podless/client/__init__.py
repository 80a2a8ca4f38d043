"""A small typed client for any Kubernetes API server, which takes and returns instances of classes.

    async with Client.connect() as client:
        widget = await client.get(Widget, "a")

Use classes that `podless model` makes as dataclasses or pydantic models, or your own with the decorator
`podless.models.kind`. `Server.typed` is the same client without a network.
"""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote, urlencode

from podless.models.definition import read_kind
from podless.models.resource import Resource
from podless.remote.client import RemoteError
from podless.remote.cluster import Conflicting, Refused, RemoteCluster, RemoteGone
from podless.remote.kubeconfig import find_kubeconfig, read_kubeconfig
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

__all__ = ["Client", "Conflicting", "Event", "Refused", "RemoteError", "Transport"]

R = TypeVar("R", bound=Resource)

_APPLY = "application/apply-patch+yaml"
_RETRY_DELAY, _MAX_RETRY_DELAY = 0.1, 10.0  # seconds between two attempts to watch: the first, and the maximum
_EXPIRED = 410  # status code of an expired resourceVersion
_PAGE = 500  # objects of one page of a list


class Transport(Protocol):
    """Sends requests to a server."""

    async def send(self, method: str, path: str, body: Any = None, media: str = "application/json") -> Object:
        """Send a request and return the document of the answer. Raises Refused, RemoteError."""

    def watch(self, path: str) -> AsyncIterator[Object]:
        """Yield the events of a watch until it ends. Raises Refused, RemoteError."""


@dataclass(frozen=True, slots=True)
class Event(Generic[R]):
    """A change of an object. type: ADDED, MODIFIED or DELETED. obj: its new state, or its last one."""

    type: str
    obj: R


class Client:
    """Reads and writes instances of classes. namespace: for objects that name none (default: "default").

    A rejected request raises Refused, with its code and Status; a lost connection raises RemoteError.
    """

    def __init__(self, transport: Transport, namespace: str = "default") -> None:
        self._transport = transport
        self.namespace = namespace

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, kubeconfig: str | os.PathLike[str] | None = None, *, context: str = "", namespace: str = "default"
    ) -> AsyncIterator[Client]:
        """Connect to the server of a kubeconfig (default: $KUBECONFIG, else ~/.kube/config). Raises BadKubeconfig."""
        path = Path(kubeconfig) if kubeconfig is not None else find_kubeconfig()
        async with RemoteCluster(read_kubeconfig(path, context), "podless-client") as cluster:
            yield cls(cluster, namespace)

    async def get(self, cls: type[R], name: str, *, namespace: str | None = None) -> R:
        """Return an object. Raises Refused with code 404 if it does not exist."""
        return cls.from_dict(await self._transport.send("GET", self._build_path(cls, name, namespace)))

    async def list(
        self,
        cls: type[R],
        *,
        namespace: str | None = None,
        everywhere: bool = False,
        labels: str = "",
        fields: str = "",
    ) -> builtins.list[R]:
        """Return all objects of a class, page by page. labels, fields: selectors. everywhere: all namespaces."""
        return (await self._list_instances(cls, namespace, everywhere, _query_selectors(labels, fields)))[0]

    async def _list_instances(
        self, cls: type[R], namespace: str | None, everywhere: bool, query: Mapping[str, str]
    ) -> tuple[builtins.list[R], str]:
        path = self._build_path(cls, "", namespace, all_namespaces=everywhere)
        items: builtins.list[R] = []
        token = ""
        while True:
            more = {"continue": token} if token else {}
            page = await self._transport.send("GET", f"{path}?{urlencode({**query, 'limit': str(_PAGE), **more})}")
            items += [cls.from_dict(item) for item in page.get("items") or ()]
            token = page["metadata"].get("continue") or ""
            if not token:
                return items, page["metadata"]["resourceVersion"]

    async def create(self, obj: R) -> R:
        """Create an object, and return it as the server stored it."""
        body = obj.to_dict()
        return type(obj).from_dict(await self._transport.send("POST", self._path_of(obj, body, named=False), body))

    async def update(self, obj: R, *, subresource: str = "") -> R:
        """Replace an object. Raises Conflicting if it was changed since it was read. subresource: such as "status"."""
        body = obj.to_dict()
        path = self._path_of(obj, body, subresource=subresource)
        return type(obj).from_dict(await self._transport.send("PUT", path, body))

    async def update_status(self, obj: R) -> R:
        """Replace the status of an object only. Raises as `update`."""
        return await self.update(obj, subresource="status")

    async def apply(self, obj: R, *, manager: str = "podless", force: bool = False, subresource: str = "") -> R:
        """Apply an object with server-side apply.

        Raises Conflicting for fields of other managers, unless `force` is set.
        """
        body = obj.to_dict()
        for name in ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"):
            body.get("metadata", {}).pop(name, None)
        query = urlencode({"fieldManager": manager, "force": str(force).lower()})
        path = f"{self._path_of(obj, body, subresource=subresource)}?{query}"
        return type(obj).from_dict(await self._transport.send("PATCH", path, body, _APPLY))

    async def delete(self, cls: type[R], name: str, *, namespace: str | None = None) -> None:
        """Delete an object; finalizers can delay that. Raises Refused with code 404 if it does not exist."""
        await self._transport.send("DELETE", self._build_path(cls, name, namespace))

    async def watch(
        self,
        cls: type[R],
        *,
        namespace: str | None = None,
        everywhere: bool = False,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Event[R]]:
        """Yield an ADDED event for each object, then all changes, without end.

        A watch that ends resumes at its last revision. If the server has forgotten that revision, the client lists all
        objects again and yields the differences: no change is lost, but several can appear as one.
        """
        path = self._build_path(cls, "", namespace, all_namespaces=everywhere)
        query = _query_selectors(labels, fields)
        objects: dict[tuple[str, str], R] = {}
        revision, delay = "", _RETRY_DELAY
        while True:
            if not revision:
                listed, revision = await self._list_instances(cls, namespace, everywhere, query)
                for event in _find_differences(objects, listed):
                    yield event
            parameters = {**query, "watch": "true", "resourceVersion": revision, "allowWatchBookmarks": "true"}
            try:
                async for event_type, document in self._follow_watch(f"{path}?{urlencode(parameters)}"):
                    delay = _RETRY_DELAY
                    revision = document["metadata"]["resourceVersion"]
                    if event_type == "BOOKMARK":
                        continue
                    obj = cls.from_dict(document)
                    if event_type == "DELETED":
                        objects.pop(_object_key(document), None)
                    else:
                        objects[_object_key(document)] = obj
                    yield Event(event_type, obj)
            except RemoteGone:
                revision = ""
            except Refused as refused:
                if refused.code < 500 and refused.code != 429:
                    raise
            except RemoteError:
                pass  # the connection was lost
            await asyncio.sleep(delay)
            delay = min(delay * 2, _MAX_RETRY_DELAY)

    async def _follow_watch(self, path: str) -> AsyncIterator[tuple[str, Object]]:
        """Yield type and object of a watch's events, until the watch ends. Raises RemoteGone if it must list again."""
        async for event in self._transport.watch(path):
            if event["type"] == "ERROR":
                if event["object"].get("code") == _EXPIRED:
                    raise RemoteGone(_EXPIRED, event["object"])
                return
            yield event["type"], event["object"]

    async def wait(
        self,
        cls: type[R],
        name: str,
        until: Callable[[R], object],
        *,
        timeout: float = 30.0,  # noqa: ASYNC109 (it is the caller's word for it)
        namespace: str | None = None,
    ) -> R:
        """Return an object once `until` is true for it. Raises TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            async for event in self.watch(cls, namespace=namespace, fields=f"metadata.name={name}"):
                if event.type != "DELETED" and until(event.obj):
                    return event.obj
        raise TimeoutError  # only for type checkers: a watch does not end

    def _path_of(self, obj: Resource, body: Object, *, named: bool = True, subresource: str = "") -> str:
        metadata = body.get("metadata") or {}
        name = metadata.get("name") or ""
        if named and not name:
            raise ValueError(f"{type(obj).__name__}: metadata.name is missing")
        path = self._build_path(type(obj), name if named else "", metadata.get("namespace"))
        return f"{path}/{subresource}" if subresource else path

    def _build_path(
        self, cls: type[Resource], name: str, namespace: str | None, *, all_namespaces: bool = False
    ) -> str:
        kind = read_kind(cls)
        segments = ["apis" if kind.group else "api", kind.api_version]
        if kind.given["scope"] == "Namespaced" and not all_namespaces:
            segments += ["namespaces", quote(namespace or self.namespace)]
        return "/" + "/".join([*segments, kind.given["names"]["plural"], *([quote(name)] if name else [])])


def _query_selectors(labels: str, fields: str) -> dict[str, str]:
    return {key: text for key, text in (("labelSelector", labels), ("fieldSelector", fields)) if text}


def _object_key(obj: Object) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


def _find_differences(objects: dict[tuple[str, str], R], current: list[R]) -> list[Event[R]]:
    """Yield the changes since `objects`, and update it."""
    events: list[Event[R]] = []
    now = {_object_key(obj.to_dict()): obj for obj in current}
    events += [Event("DELETED", objects.pop(key)) for key in [*objects] if key not in now]
    for key, obj in now.items():
        before = objects.get(key)
        if before is None or before.to_dict()["metadata"] != obj.to_dict()["metadata"]:
            events.append(Event("MODIFIED" if before is not None else "ADDED", obj))
        objects[key] = obj
    return events
