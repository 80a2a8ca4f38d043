"""Creates the system namespaces and the objects of every namespace, and empties deleted namespaces.

The objects are the default service account, and the CA certificates of the server.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from podless.apis.core.group import CONFIG_MAPS, NAMESPACES, PODS, SERVICE_ACCOUNTS
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent, EventHandler
from podless.controllers.controller import KindController, Leave
from podless.controllers.write import amend_object, delete_all, make_object, report_status, set_or_drop, with_conditions
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.store import keys
from podless.verbs.call import API

SYSTEM = ("default", "kube-system", "kube-public", "kube-node-lease")
_FINALIZER = "kubernetes"
_MANAGER = "kube-controller-manager"  # the manager of these conditions and objects in a real cluster
_DESCRIPTION = "kubernetes.io/description"
_CERTIFICATES = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
_REMAINING, _FINALIZERS = "NamespaceContentRemaining", "NamespaceFinalizersRemaining"
# the conditions of a namespace from which everything could be deleted: type, reason, message
_FINE = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    (_REMAINING, "ContentRemoved", "All content successfully removed"),
    (_FINALIZERS, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
)


class NamespaceController(KindController):
    """Creates the system namespaces, and empties those that are being deleted. Keys are those of namespaces."""

    name = "poststarthook/start-system-namespaces-controller"
    kind = NAMESPACES

    async def begin(self) -> None:
        await self._collection.load()
        missing = [name for name in SYSTEM if self._collection.get(self.kind.key("", name)) is None]
        await asyncio.gather(*map(self._create_namespace, missing))
        await self.follow_kind(self.kind, self._note_events)

    async def _create_namespace(self, name: str) -> None:
        await make_object(self.api, self.kind, {"metadata": {"name": name}}, constant=clock.now())

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for entry in (event.after for event in events):
            if entry is not None and entry.terminating and _FINALIZER in _finalizers_of(entry.decode()):
                self.run_once(entry.key, partial(self._empty_namespace, entry.key, entry.name))

    async def _empty_namespace(self, key: str, name: str) -> None:
        """Delete everything in the namespace, wait until it is gone, then remove the namespace's finalizer."""
        changed = asyncio.Event()
        following: dict[str, Leave] = {}
        try:
            while True:
                changed.clear()
                objects = await self._delete_content(name, lambda _: changed.set(), following)
                await report_status(self.api, self.kind, key, partial(_report_remaining, remaining=objects), _MANAGER)
                if not objects:
                    break
                await changed.wait()
        finally:
            for leave in following.values():
                leave()
        await amend_object(self.api, self.kind, key, _remove_finalizer)

    async def _delete_content(
        self, name: str, handler: EventHandler, following: dict[str, Leave]
    ) -> dict[str, RemainingObjects]:
        """Delete the namespace's content. Returns, by resource, what remains. handler: gets changes of the content.

        Other objects stay while there are pods, which may need them until they end: OrderedNamespaceDeletion of
        Kubernetes (pkg/controller/namespace/deletion/namespaced_resources_deleter.go).
        """
        remaining: dict[str, RemainingObjects] = {}
        kinds = [kind for kind in self.api.registry if kind.namespaced and kind.home is None]
        kinds.sort(key=lambda kind: kind.prefix != PODS.prefix)
        for kind in kinds:
            if has("OrderedNamespaceDeletion") and _resource_name(PODS) in remaining:
                break
            collection = await self.api.load_collection(kind)
            undeleted = [e for e in collection.list_entries(name) if not e.terminating]
            if undeleted:
                await delete_all(self.api, kind, undeleted)
            entries = collection.list_entries(name)
            if entries:
                if kind.prefix not in following:
                    following[kind.prefix] = collection.add_event_handler(handler)
                by_finalizer = Counter(f for e in entries for f in e.decode()["metadata"].get("finalizers") or ())
                remaining[_resource_name(kind)] = RemainingObjects(len(entries), by_finalizer)
        return remaining


def _resource_name(kind: Kind) -> str:
    """Return a resource's name in a namespace's conditions. In the core group it ends with a dot."""
    return f"{kind.plural}.{kind.group}"


class RemainingObjects(NamedTuple):
    """The remaining objects of a resource in a namespace: their number, and the number for each finalizer."""

    objects: int
    by_finalizer: Counter[str]


def _report_remaining(obj: Object, remaining: dict[str, RemainingObjects]) -> Object:
    """Return the namespace with conditions that say what remains.

    As in kube-controller-manager, they do not count while the other objects wait for pods. Source:
    pkg/controller/namespace/deletion.
    """
    if has("OrderedNamespaceDeletion") and _resource_name(PODS) in remaining:
        remaining = {}
    objects = ", ".join(f"{name} has {remaining[name].objects} resource instances" for name in sorted(remaining))
    by_finalizer: Counter[str] = sum((group.by_finalizer for group in remaining.values()), Counter())
    finalizers = ", ".join(f"{name} in {by_finalizer[name]} resource instances" for name in sorted(by_finalizer))
    problems = {}
    if remaining:
        problems[_REMAINING] = "SomeResourcesRemain", f"Some resources are remaining: {objects}"
    if by_finalizer:
        message = f"Some content in the namespace has finalizers remaining: {finalizers}"
        problems[_FINALIZERS] = "SomeFinalizersRemain", message
    changes = [(name, name in problems, *problems.get(name, fine)) for name, *fine in _FINE]
    obj["status"]["conditions"] = with_conditions(obj, *changes)
    return obj


def _finalizers_of(namespace: Object) -> list[str]:
    return (namespace.get("spec") or {}).get("finalizers") or []


def _remove_finalizer(obj: Object) -> Object | None:
    """Return the namespace without our finalizer; None if no other finalizer holds it."""
    remaining, spec = [name for name in _finalizers_of(obj) if name != _FINALIZER], obj.setdefault("spec", {})
    if not remaining and not obj["metadata"].get("finalizers"):
        return None
    set_or_drop(spec, "finalizers", remaining)
    return obj


class NamespaceContent(NamedTuple):
    """An object in each namespace. fields: besides its metadata; changes of them are undone."""

    kind: Kind
    name: str
    fields: Object
    annotations: dict[str, str]


ACCOUNT = NamespaceContent(SERVICE_ACCOUNTS, "default", {}, {})


def make_certificates(authority: str) -> NamespaceContent:
    """Return the config map with the server's CA certificate."""
    fields, annotations = {"data": {"ca.crt": authority}}, {_DESCRIPTION: _CERTIFICATES}
    return NamespaceContent(CONFIG_MAPS, "kube-root-ca.crt", fields, annotations)


class NamespaceContents(KindController):
    """Creates these objects with a namespace, and again after they are deleted. Keys are those of namespaces."""

    name = "serviceaccount-controller"
    kind = NAMESPACES
    awaited = (NAMESPACES,)

    def __init__(self, api: API, contents: Sequence[NamespaceContent]) -> None:
        super().__init__(api)
        self._contents = contents

    async def begin(self) -> None:
        for content in self._contents:
            await self.watch_kind(content.kind, partial(self._handle_contents, content))
        await super().begin()
        await self.reconcile_all()

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
