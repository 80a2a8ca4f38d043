"""A client for a server in the same process, without a network, from any thread and event loop."""

from __future__ import annotations

import asyncio
import builtins
import re
import time
from contextvars import Context
from datetime import datetime

from podless.app import App
from podless.history.change import API_VERSION
from podless.http.record import RecentRequests
from podless.kinds.kind import Kind
from podless.meta import gvk
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object
from podless.runtime.messages import suggest_name
from podless.testing import snapshot
from podless.testing.ask import AGENT, ServerLoop, ask_app, path_of
from podless.testing.history import RecordedChange, read_change
from podless.testing.manifests import Manifests, read_manifests
from podless.testing.snapshot import Snapshot
from podless.testing.wait import Condition, Test, wait_for

Objects = list[Object]

_WORD = re.compile(r"[a-z0-9][a-z0-9.:-]*")  # matches possible names of objects
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_POLL_DELAY = 0.005  # seconds between two checks whether a server is at rest


class Missing(LookupError):
    """The server does not serve this kind."""


class AdminClient(ServerLoop):
    """A client that acts as the server's administrator.

    Kinds have the names that kubectl accepts: kind, plural, singular or short name, with a group after a dot if several
    match. Objects are dicts. namespace: for objects without one; None in `list` means all namespaces. A rejected
    request raises Refused, with its code and Status.
    """

    def __init__(self, app: App, loop: asyncio.AbstractEventLoop, context: Context, requests: RecentRequests) -> None:
        super().__init__(app, loop, context)
        self._requests = requests

    async def apply(
        self, manifests: Manifests, *, namespace: str = "default", manager: str = AGENT, subresource: str = ""
    ) -> Objects:
        """Apply objects with server-side apply and force; create objects with generateName.

        manifests: a dict, YAML text, the path of a file or folder, or an iterable of these. Namespaces and definitions
        come first. Returns the objects as the server answered them. Raises Missing, Refused, ValueError.
        """
        return await self._run_there(self._apply_manifests(manifests, namespace, manager, subresource))

    async def _apply_manifests(self, manifests: Manifests, namespace: str, manager: str, subresource: str) -> Objects:
        written = []
        for obj in read_manifests(manifests):
            kind = self._find_kind(obj["kind"], obj["apiVersion"])
            metadata = obj.get("metadata") or {}
            name = metadata.get("name") or ""
            within = (metadata.get("namespace") or namespace) if kind.namespaced else ""
            path = path_of(obj["apiVersion"], kind.plural, within, name, subresource)
            if name:
                query = {"fieldManager": manager, "force": "true"}
                written.append(await ask_app(self._app, "PATCH", path, obj, media=_APPLY, **query))
            else:
                written.append(await ask_app(self._app, "POST", path, obj, fieldManager=manager))
        return written

    async def create(self, obj: Object, *, namespace: str = "default") -> Object:
        """Create an object. Raises Missing, Refused."""
        if not isinstance(obj, dict):
            raise TypeError(f"create takes an object as a dict, not {type(obj).__name__}; apply takes texts and paths")
        path = self._make_path(obj["kind"], namespace, api_version=obj["apiVersion"], obj=obj)
        return await self._run_there(ask_app(self._app, "POST", path, obj))

    async def get(self, kind: str, name: str, *, namespace: str = "default") -> Object | None:
        """Return an object, None if it does not exist. Raises Missing, Refused."""
        if not name:
            raise ValueError("get needs the name of an object; list returns all objects of a kind")
        try:
            return await self._run_there(ask_app(self._app, "GET", self._make_path(kind, namespace, name)))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    async def history(self, kind: str, name: str, *, namespace: str = "default") -> builtins.list[RecordedChange]:
        """Return the recorded changes of an object, oldest first. Raises Missing, Refused."""
        resource = self._find_kind(kind, "")
        fields = f"object.group={resource.group},object.resource={resource.plural},object.name={name}"
        within = namespace if resource.namespaced else ""
        return [read_change(change) for change in await self._fetch_changes(within, 0, fieldSelector=fields)]

    async def stories(self, text: str, since: float) -> builtins.list[builtins.list[RecordedChange]]:
        """Return the changes, since a Unix time, of each object whose name is a word in the text, oldest first."""
        changes = await self._fetch_changes("", since)
        words = {*_WORD.findall(text)}
        by_object: dict[tuple[str, ...], builtins.list[RecordedChange]] = {}
        for change in changes:
            obj = change["object"]
            if obj["name"] in words:
                key = (obj["group"], obj["resource"], obj["namespace"], obj["name"])
                by_object.setdefault(key, []).append(read_change(change))
        return [*by_object.values()]

    async def _fetch_changes(self, namespace: str, since: float, **query: str) -> builtins.list[Object]:
        """Return changes as the API shows them, oldest first."""
        changes: builtins.list[Object] = []
        path, token = path_of(API_VERSION, "history", namespace), ""
        while True:
            parameters = {"limit": "200", "state": "true", "continue": token, **query}
            page = await self._run_there(ask_app(self._app, "GET", path, **parameters))
            items = [item for item in page["items"] if datetime.fromisoformat(item["time"]).timestamp() >= since]
            changes += items
            token = page["metadata"]["continue"]
            if not token or len(items) < len(page["items"]):
                return changes[::-1]

    async def list(
        self, kind: str, *, namespace: str | None = "default", labels: str = "", fields: str = ""
    ) -> Objects:
        """Return the objects of a kind. labels, fields: selectors. Raises Missing, Refused."""
        query = {name: text for name, text in (("labelSelector", labels), ("fieldSelector", fields)) if text}
        answer = await self._run_there(ask_app(self._app, "GET", self._make_path(kind, namespace or ""), **query))
        items: Objects = answer["items"]
        type_meta = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
        return [type_meta | item for item in items]

    async def patch(self, kind: str, name: str, change: Object, *, namespace: str = "default") -> Object:
        """Change an object with a JSON merge patch. Raises Missing, Refused."""
        path = self._make_path(kind, namespace, name)
        return await self._run_there(ask_app(self._app, "PATCH", path, change, media=_MERGE))

    async def delete(self, kind: str, name: str, *, namespace: str = "default", propagation: str = "") -> Object:
        """Delete an object; finalizers can delay that. Raises Missing, Refused."""
        query = {"propagationPolicy": propagation} if propagation else {}
        return await self._run_there(ask_app(self._app, "DELETE", self._make_path(kind, namespace, name), **query))

    async def wait(
        self,
        kind: str,
        name: str,
        for_: Condition = None,
        timeout: float = 10.0,  # noqa: ASYNC109 (it is the caller's word for it)
        *,
        namespace: str = "default",
    ) -> Object:
        """Wait on a watch until an object meets a condition, and return that state of it.

        for_: a condition ("Ready", "Ready=False", "condition=ready"), "delete", a CEL expression about `object`
        ("object.status.replicas == 3"), or a function of the object, called on the server's loop. None: until the
        object exists. timeout: seconds. Raises Waited (a TimeoutError) with the last state of the object, Missing,
        Refused.
        """
        return await self._run_there(wait_for(self._app, self._make_path(kind, namespace), name, Test(for_), timeout))

    async def at_rest(self, ms: float = 100, timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Wait until no client has sent a request for `ms` milliseconds.

        timeout: seconds. Raises TimeoutError.
        """
        requests = self._requests
        async with asyncio.timeout(timeout):
            since = time.monotonic()
            while True:
                seconds = max(requests.last, since) + ms / 1000 - time.monotonic()
                if seconds <= 0 and not requests.open:
                    return
                await asyncio.sleep(max(seconds, _POLL_DELAY))

    async def snapshot(self) -> Snapshot:
        """Save all objects, to restore them later."""
        return await self._run_there(snapshot.take_snapshot(self._app))

    async def restore(self, state: Snapshot) -> None:
        """Go back to a snapshot. Watches of clients see the changes."""
        await self._run_there(snapshot.restore_state(self._app, state))

    def _make_path(
        self, kind: str, namespace: str, name: str = "", *, api_version: str = "", obj: Object | None = None
    ) -> str:
        resource = self._find_kind(kind, api_version)
        version = api_version or resource.api_version(resource.versions[0].name)
        within = ((obj or {}).get("metadata") or {}).get("namespace") or namespace
        return path_of(version, resource.plural, within if resource.namespaced else "", name)

    def _find_kind(self, name: str, api_version: str = "") -> Kind:
        """Return the kind with a name. Raises Missing."""
        assert self._app.cluster is not None
        plain, _, group = name.lower().partition(".")
        gv = gvk.parse_api_version(api_version) if api_version else None
        for kind in self._app.cluster.api.registry:
            if kind.home is not None and gv is None and not group:
                continue  # it shows the objects of another kind
            if plain not in (kind.kind.lower(), kind.plural, kind.singular, *kind.short_names):
                continue
            if gv is not None and (gv.group, gv.version) not in [(kind.group, v.name) for v in kind.versions]:
                continue
            if not group or kind.group == group:
                return kind
        suggestion = suggest_name(plain, [kind.plural for kind in self._app.cluster.api.registry])
        raise Missing(f"no kind {name!r}{f' of {api_version}' if api_version else ''} is served{suggestion}")
