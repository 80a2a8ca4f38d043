"""Creates the system namespaces, and empties deleted namespaces."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from podless.apis.core.group import NAMESPACES, PODS
from podless.cache.events import CacheEvent, EventHandler
from podless.controllers.controller import KindController, Leave
from podless.controllers.write import amend_object, delete_all, make_object, report_status, with_conditions
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has

SYSTEM = ("default", "kube-system", "kube-public", "kube-node-lease")
_FINALIZER = "kubernetes"
_MANAGER = "kube-controller-manager"  # the manager of these conditions in a real cluster
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
            prefix = kind.keys.scope(name)
            collection = await self.api.load_collection(kind)
            undeleted = [e for e in collection.entries_under(prefix)[0] if not e.terminating]
            if undeleted:
                await delete_all(self.api, kind, undeleted)
            entries = collection.entries_under(prefix)[0]
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
    if remaining:
        spec["finalizers"] = remaining
    else:
        spec.pop("finalizers", None)
    return obj
