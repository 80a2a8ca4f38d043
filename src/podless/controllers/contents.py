"""What every namespace has: its default service account, and the certificates that the server is known by."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from podless.cache.entry import Entry
from podless.cache.watchcache import Event
from podless.controllers.write import amend, make
from podless.kinds.kind import Kind
from podless.meta.errors import APIError
from podless.store import StoreError
from podless.verbs.call import API

log = logging.getLogger(__name__)

Object = dict[str, Any]

_MANAGER = "podless"
_ABOUT = "kubernetes.io/description"
_CERTIFICATES = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class Content(NamedTuple):
    """One object in each namespace. fields: what it has beside its metadata, and keeps."""

    kind: Kind
    name: str
    fields: Object
    annotations: dict[str, str]


def account(kind: Kind) -> Content:
    """The service account that clients in a namespace take where they name none."""
    return Content(kind, "default", {}, {})


def certificates(kind: Kind, authority: str) -> Content:
    """The config map that clients in a namespace check the server by."""
    return Content(kind, "kube-root-ca.crt", {"data": {"ca.crt": authority}}, {_ABOUT: _CERTIFICATES})


class Contents:
    """Makes what a namespace should have with the namespace, and again when it is deleted."""

    def __init__(self, api: API, namespaces: Kind, contents: Sequence[Content]) -> None:
        self._api = api
        self._namespaces = namespaces
        self._contents = contents
        self._due: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._leave: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Make what is missing."""
        namespaces = await self._api.loaded(self._namespaces)
        self._leave.append(namespaces.add_event_handler(self._born))
        for content in self._contents:
            collection = await self._api.loaded(content.kind)
            self._leave.append(collection.add_event_handler(partial(self._changed, content)))
        self._api.reactions[self._namespaces.prefix] = self.reconcile
        self._due.update(dict.fromkeys(entry.name for entry in namespaces.under(self._namespaces.prefix)[0]))
        await self.reconcile()

    async def stop(self) -> None:
        """End; what is missing then is made at the next start."""
        for leave in self._leave:
            leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _born(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.before is None and event.after is not None:
                self._due[event.after.name] = None

    def _changed(self, content: Content, events: Sequence[Event]) -> None:
        found = [event for event in events if event.key.endswith(f"/{content.name}") and event.before is not None]
        for event in found:
            if event.before is not None and (event.after is None or not _fits(content, event.after)):
                self._due[event.before.namespace] = None
        if self._due and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self.reconcile())

    async def reconcile(self, made: Object | None = None) -> None:
        """Make what is due."""
        while self._due:
            due, self._due = list(self._due), {}
            await asyncio.gather(*(self._fill(name, content) for name in due for content in self._contents))

    async def _fill(self, namespace: str, content: Content) -> None:
        home = self._api.collection(self._namespaces).get(self._namespaces.key("", namespace))
        if home is None or home.terminating:
            return
        kind = content.kind
        key = kind.key(namespace, content.name)
        entry = self._api.collection(kind).get(key)
        try:
            if entry is None:
                metadata: Object = {"name": content.name, "namespace": namespace}
                if content.annotations:
                    metadata["annotations"] = dict(content.annotations)
                await make(self._api, kind, {"metadata": metadata, **content.fields}, _MANAGER)
            elif not _fits(content, entry):
                await amend(self._api, kind, key, lambda obj: {**obj, **content.fields})
        except (APIError, StoreError) as error:
            log.warning("%s has no %s %s: %s", namespace, kind.singular, content.name, error)


def _fits(content: Content, entry: Entry) -> bool:
    """Whether the object has what it should have."""
    if not content.fields:
        return True
    obj = entry.decode()
    return all(obj.get(name) == item for name, item in content.fields.items())
