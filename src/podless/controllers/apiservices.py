"""Keeps one APIService for each served group-version, as definitions come and go.

Source: kube-aggregator's autoregister controller. APIServices without its label belong to clients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from podless.apis import catalog
from podless.apis.apiregistration.group import API_SERVICES
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.controllers.controller import KindController
from podless.controllers.write import amend_object, make_object
from podless.runtime import clock
from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Object
from podless.store.keys import name_of
from podless.verbs.call import API

MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_RESTORED, _AT_START = "true", "onstart"  # always restored, or created at the start and then left to clients
_DELAY = 0.05  # seconds to collect changes


class APIServiceController(KindController):
    """Creates and deletes APIServices as the registry changes. Keys are those of APIServices."""

    name = "autoregister-completion"
    kind = API_SERVICES

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._begun = False

    async def begin(self) -> None:
        await self._collection.load()
        registry = self.api.registry
        self.leave.append(registry.follow_versions(lambda *served: self.queue.add(self._make_key(*served), _DELAY)))
        self.leave.append(self._collection.add_event_handler(self._note_events))
        keys = [self._make_key(*served) for served in registry.group_versions()]
        for key in dict.fromkeys([*keys, *(entry.key for entry in self._list_stored())]):
            self.queue.add(key)
        await self.reconcile_all()
        self._begun = True

    def _make_key(self, group: str, version: str) -> str:
        return self.kind.key("", f"{version}.{group}")

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        """Reconcile managed and deleted APIServices, to undo changes by clients."""
        for event in events:
            if event.after is None or _parse_stored(event.after).managed:
                self.queue.add(event.key, _DELAY)

    async def reconcile(self, key: str) -> None:
        version, _, group = name_of(key).partition(".")
        # the group apiregistration.k8s.io itself has no APIService
        kinds = self.api.registry.list_kinds_of(group, version) if group != self.kind.group else []
        entry = self._collection.get(key)
        stored = _parse_stored(entry) if entry is not None else None
        if not kinds:
            if stored is not None and stored.managed:
                await amend_object(self.api, self.kind, key, lambda _: None)
            return
        custom = kinds[-1].custom
        if self._begun and not custom:
            return
        spec = _make_spec(group, version)
        if stored is None:
            await self._create_service(group, version, spec, custom)
        elif stored.managed and stored.spec != spec:
            await amend_object(self.api, self.kind, key, lambda obj: {**obj, "spec": spec})

    async def _create_service(self, group: str, version: str, spec: Object, custom: bool) -> None:
        metadata = {"name": f"{version}.{group}", "labels": {MANAGED: _RESTORED if custom else _AT_START}}
        service = {"metadata": metadata, "spec": spec}
        await make_object(self.api, self.kind, service, constant="" if custom else clock.now())


class _StoredService(NamedTuple):
    """A stored APIService. managed: it belongs to this controller."""

    spec: Object
    managed: bool


def _parse_stored(entry: Entry) -> _StoredService:
    """Parse a stored APIService, cached."""
    stored: _StoredService | None = entry.forms.get("held")
    if stored is None:
        labels = entry.labels
        stored = entry.forms["held"] = _StoredService(
            entry.decode()["spec"], labels.get(MANAGED) in (_RESTORED, _AT_START)
        )
    return stored


@bounded_cache(4096)
def _make_spec(group: str, version: str) -> Object:
    named = {"group": group, "version": version} if group else {"version": version}
    priority = catalog.version_priority(group, version)
    return {**named, "groupPriorityMinimum": catalog.group_priority(group), "versionPriority": priority}
