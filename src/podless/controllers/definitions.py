"""Brings CustomResourceDefinitions into force, and takes them down.

The effects of a write to a definition come before its answer: for the next request, its names are accepted, the kind is
served, and the status says so. Taking a definition down continues in the background.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from podless.apis.apiextensions.customresourcedefinitions import CLEANUP
from podless.apis.apiextensions.definition import status as rules
from podless.apis.apiextensions.group import DEFINITIONS
from podless.apis.extensions.thirdparty import ThirdPartyStrategy
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.controllers.controller import KindController
from podless.controllers.naming import NameAcceptance
from podless.controllers.write import SELF, amend_object, drop_finalizer, empty_kind, report_status
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind, is_same_kind
from podless.meta.validation import is_condition_true
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.store import keys
from podless.verbs.call import API
from podless.verbs.followup import FollowUpCommits

_IN_PROGRESS = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
_COMPLETED = ("False", "InstanceDeletionCompleted", "removed all instances")
_REFUSED = ("False", "NeverEstablished", "resource was never established")


class DefinitionController(KindController):
    """Accepts the names of each definition, serves it, and takes it down. Keys are those of definitions.

    Every server serves definitions. The server that receives the write of a definition also accepts its names, because
    the answer waits for that. Two servers can do so at the same time, because names are compared and swapped. inherit:
    see `DefinitionServing`.
    """

    name = "poststarthook/start-apiextensions-controllers"
    kind = DEFINITIONS
    awaited = (DEFINITIONS,)
    leads = False

    def __init__(self, api: API, inherit: Callable[[Kind], Awaitable[int]]) -> None:
        super().__init__(api)
        self._naming = NameAcceptance(api)
        self._serving = DefinitionServing(api, inherit)
        self._settled: dict[str, int] = {}  # by key, the revision at which the definition was completely handled
        # new definitions as they were written, so that they need not be decoded again
        self._created: dict[str, Object] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # key: group

    async def begin(self) -> None:
        await self._naming.load()
        if (hooks := self.api.converter.hooks) is not None:
            hooks.on_change.append(self._convert_anew)
        await super().begin()
        await self.reconcile_all()

    def _convert_anew(self) -> None:
        """Refresh definitions with conversion hooks after the hooks were reloaded."""
        for entry in self._list_stored():
            if self._serving.convert_anew(entry.key):
                self._settled.pop(entry.key, None)
                self.queue.add(entry.key)

    def follow_up_commits(self, key: str, obj: Object) -> FollowUpCommits | None:
        """Return the commits that accept names and establish a new definition; None if its names are taken."""
        return self._naming.follow_up_commits(key, obj)

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            self._naming.note_event(event)
            if event.after is None:
                self._serving.stop_serving(event.key)  # before watchers get the event
        super()._note_events(events)

    async def after_commit(self, key: str, obj: Object | None = None) -> None:
        """Run the usual hooks, and give the names that a definition no longer has to definitions that wait for them.

        The worker can have begun with one that waited, which has names then, but is not established.
        """
        if obj is not None:
            self._created[key] = obj
        await super().after_commit(key)
        if len(self.queue):
            await self.reconcile_due(filter(self.queue.has_key, self._naming.list_group(key)))

    async def reconcile(self, key: str) -> None:
        # names are accepted one definition of a group after the other
        async with self._locks.setdefault(keys.name_of(key).partition(".")[2], asyncio.Lock()):
            created = self._created.pop(key, None)
            entry = self._collection.get(key)
            if entry is None:
                self._settled.pop(key, None)
                self._requeue_unnamed(key)
                return
            if self._settled.get(key) == entry.revision:
                return  # our own last write
            renamed = False
            fits = created is not None and created["metadata"]["resourceVersion"] == str(entry.revision)
            definition = created if created is not None and fits else entry.decode()
            if "deletionTimestamp" not in definition["metadata"]:
                # a new definition that was stored with accepted names is established
                is_ready = fits and is_condition_true(definition, "Established")
                accepted = definition if is_ready else await self._naming.accept_names(key, definition)
                renamed = is_ready or accepted is None or _accepted_names(accepted) != _accepted_names(definition)
                entry = self._collection.get(key)
                if entry is None:
                    return
                fits = accepted is not None and accepted["metadata"]["resourceVersion"] == str(entry.revision)
                definition = accepted if accepted is not None and fits else entry.decode()
                if fits:
                    self._settled[key] = entry.revision
            self._naming.note_state(key, definition)
            if renamed:
                self._requeue_unnamed(key)
            await self._serving.serve_definition(definition, entry)
            metadata = definition["metadata"]
            if "deletionTimestamp" in metadata and CLEANUP in (metadata.get("finalizers") or ()):
                self.run_once(key, partial(self._remove_definition, key))

    def _requeue_unnamed(self, key: str) -> None:
        """Reconcile the definitions of the key's group that lack a name, which can be free now.

        The definition itself is one of them: its new kind can be its former listKind.
        """
        for unnamed in self._naming.list_unnamed(key):
            self._settled.pop(unnamed, None)
            self.queue.add(unnamed)

    async def _remove_definition(self, key: str) -> None:
        """Delete the objects, wait for those with finalizers, then remove our finalizer from the definition."""

        def mark_terminating(obj: Object) -> Object:
            rules.set_condition(obj, "Terminating", *_IN_PROGRESS, clock.now())
            return obj

        entry = self._collection.get(key)
        if entry is None:
            return
        await report_status(self.api, self.kind, key, mark_terminating, SELF)
        kind, uid = self._serving.find_served(key), entry.decode()["metadata"].get("uid", "")
        if kind is not None and kind.uid == uid:  # else the objects belong to another definition
            await empty_kind(self.api, kind)
        await amend_object(self.api, self.kind, key, _remove_finalizer)


def _accepted_names(definition: Object) -> Any:
    return definition["status"].get("acceptedNames")


def _remove_finalizer(obj: Object) -> Object | None:
    """Return the definition without our finalizer; None if no other finalizer holds it."""
    if drop_finalizer(obj, CLEANUP) is None:
        return None
    state = _COMPLETED if is_condition_true(obj, "Established") else _REFUSED
    rules.set_condition(obj, "Terminating", *state, clock.now())
    return obj


class DefinitionServing:
    """Brings definitions into force, and takes them down.

    inherit: moves the objects of an older generation of definitions to a kind that is about to be served. It returns
    the first revision from which the kind can be watched, 0 if there is nothing.
    """

    def __init__(self, api: API, inherit: Callable[[Kind], Awaitable[int]]) -> None:
        self._api = api
        self._inherit = inherit
        self._inherited: dict[str, int] = {}
        self._converts_since: dict[str, int] = {}  # by key, the revision at which its hooks were reloaded

    def _has_conversion_hooks(self, key: str) -> bool:
        hooks = self._api.converter.hooks
        return hooks is not None and bool(hooks.list_conversions(keys.name_of(key)))

    def convert_anew(self, key: str) -> bool:
        """Drop the results of conversion hooks after they were reloaded. Returns False if there are none.

        Call `serve_definition` afterwards.
        """
        kind = self.find_served(key)
        if kind is None:
            return False
        converts = self._has_conversion_hooks(key) or "hook" in (kind.webhook or ())
        if converts:
            self._converts_since[key] = self._api.cache.revision
        return converts or bool(kind.more_subresources or self._subresource_hooks(key))

    def _subresource_hooks(self, key: str) -> Sequence[Object]:
        hooks = self._api.converter.hooks
        return hooks.list_subresources(keys.name_of(key)) if hooks is not None else ()

    def stop_serving(self, key: str) -> None:
        """Remove the endpoint of a deleted definition."""
        self._inherited.pop(key, None)
        kind = self.find_served(key)
        if kind is None or not isinstance(kind.strategy, ThirdPartyStrategy):
            plural, _, group = keys.name_of(key).partition(".")
            self._api.registry.remove_kind(group, plural)
            if kind is not None:
                self._api.cache.drop_collection(kind.prefix)

    def find_served(self, key: str) -> Kind | None:
        """Return the kind that is currently served under the names of a definition."""
        plural, _, group = keys.name_of(key).partition(".")
        return self._api.registry.get(group, plural)

    async def serve_definition(self, definition: Object, entry: Entry) -> None:
        """Bring a stored definition into force. definition: the entry, decoded."""
        created = self._inherited.get(entry.key, entry.created)
        reloaded = self._converts_since.get(entry.key, 0)
        compiled = partial(
            compile_kind,
            definition,
            entry.body,
            changed=max(entry.revision, reloaded),
            hooked=self._has_conversion_hooks(entry.key),
            answering=self._subresource_hooks(entry.key),
        )
        kind = compiled(created=created)
        served = self._api.registry.get(kind.group, kind.plural)
        if is_condition_true(definition, "Established"):
            if served is None or served.uid != kind.uid:
                since = await self._inherit(kind)
                if since:
                    self._inherited[entry.key] = since
                    kind = compiled(created=since)
            if (
                served is None
                or not is_same_kind(served, kind)
                or _kind_hooks(served) != _kind_hooks(kind)
                or reloaded > served.changed
            ):
                # skipped for changes of labels and conditions, which do not affect its objects
                self._api.registry.put_kind(kind)
        elif served is None or served.uid == kind.uid:
            self._api.registry.add_waiting(kind)


def _kind_hooks(kind: Kind) -> tuple[object, ...]:
    """Return what converts the objects instead of a webhook, and the hooks for subresources.

    The converter is a hook ("" for any) or declared rules.
    """
    webhook = kind.webhook or {}
    return (
        webhook.get("hook"),
        webhook.get("rules"),
        [(subresource.name, subresource.hooks) for subresource in kind.more_subresources],
    )
