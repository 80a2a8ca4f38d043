"""Creates the objects of every namespace: its default service account, and the CA certificates of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from podless.apis.core.group import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.controllers.controller import KindController
from podless.controllers.namespaces import SYSTEM
from podless.controllers.write import amend_object, make_object
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.store import keys
from podless.verbs.call import API

_MANAGER = "kube-controller-manager"  # the manager of these objects in a real cluster
_DESCRIPTION = "kubernetes.io/description"
_CERTIFICATES = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class NamespaceContent(NamedTuple):
    """An object in each namespace. fields: besides its metadata; changes of them are undone."""

    kind: Kind
    name: str
    fields: Object
    annotations: dict[str, str]


ACCOUNT = NamespaceContent(SERVICE_ACCOUNTS, "default", {}, {})


def make_certificates(authority: str) -> NamespaceContent:
    """Return the config map with the server's CA certificate."""
    return NamespaceContent(
        CONFIG_MAPS, "kube-root-ca.crt", {"data": {"ca.crt": authority}}, {_DESCRIPTION: _CERTIFICATES}
    )


class NamespaceContents(KindController):
    """Creates these objects with a namespace, and again after they are deleted. Keys are those of namespaces."""

    name = "serviceaccount-controller"
    kind = NAMESPACES

    def __init__(self, api: API, contents: Sequence[NamespaceContent]) -> None:
        super().__init__(api)
        self._contents = contents

    async def begin(self) -> None:
        for content in self._contents:
            await self.watch_kind(content.kind, partial(self._handle_contents, content))
        await super().begin()
        await self.reconcile_all()

    @property
    def awaited(self) -> Sequence[Kind]:
        return (self.kind,)

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if event.before is None and event.after is not None:
                self.queue.add(event.after.name)

    def _handle_contents(self, content: NamespaceContent, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if event.before is None or not event.key.endswith(f"/{content.name}"):
                continue
            if event.after is None or not _has_fields(content, event.after):
                self.queue.add(event.before.namespace)

    def find_due_keys(self, key: str) -> Iterable[str]:
        return (keys.name_of(key),)

    async def reconcile(self, key: str) -> None:
        """Create the missing objects of a namespace, unless it is being deleted."""
        home = self._collection.get(self.kind.key("", key))
        if home is not None and not home.terminating:
            await asyncio.gather(*(self._create_content(key, content) for content in self._contents))

    async def _create_content(self, namespace: str, content: NamespaceContent) -> None:
        kind = content.kind
        key = kind.key(namespace, content.name)
        entry = self.api.collection(kind).get(key)
        if entry is None:
            metadata: Object = {"name": content.name, "namespace": namespace}
            if content.annotations:
                metadata["annotations"] = dict(content.annotations)
            is_common = namespace in SYSTEM and not content.fields  # the same in every server, except for uid and time
            content_object = {"metadata": metadata, **content.fields}
            await make_object(self.api, kind, content_object, _MANAGER, constant=clock.now() if is_common else "")
        elif not _has_fields(content, entry):
            await amend_object(self.api, kind, key, lambda obj: {**obj, **content.fields})


def _has_fields(content: NamespaceContent, entry: Entry) -> bool:
    if not content.fields:
        return True
    obj = entry.decode()
    return all(obj.get(name) == item for name, item in content.fields.items())
