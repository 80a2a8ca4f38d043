"""One APIService for each served group-version, made and taken away as definitions come and go.

Source: kube-aggregator's autoregister controller. What clients make, and have no label of this controller, is theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from podless.apis import catalog
from podless.cache.entry import Entry
from podless.cache.events import Event
from podless.controllers.controller import Controller
from podless.controllers.write import amend_object, make_object
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Object
from podless.verbs.call import API

MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_ALWAYS, _ONCE = "true", "onstart"  # kept as it is to be, or made at the start and then left to clients
_ALL = "all"  # the one key: it costs little to look at all of them
_DELAY = 0.05  # seconds in which changes are gathered


class APIServices(Controller):
    """Keeps the objects in step with the registry."""

    name = "autoregister-completion"

    def __init__(self, api: API, kind: Kind) -> None:
        super().__init__(api)
        self._kind = kind
        self._collection = api.collection(kind)
        self._begun = False

    async def begin(self) -> None:
        await self._collection.load()
        self.leave.append(self.api.registry.listen(lambda: self.queue.add(_ALL, _DELAY)))
        self.leave.append(self._collection.add_event_handler(self._note))
        self.queue.add(_ALL)
        await self.flush()
        self._begun = True

    def _note(self, events: Sequence[Event]) -> None:
        """A client may have changed what is to stay."""
        if any(event.after is None or _held(event.after).managed for event in events):
            self.queue.add(_ALL, _DELAY)

    async def reconcile(self, key: str) -> None:
        registered = dict.fromkeys(
            (kind.group, version.name, kind.custom)
            for kind in self.api.registry
            if kind.group != self._kind.group  # whose server is the one that shows these
            for version in kind.versions
        )
        served = {self._kind.key("", f"{version}.{group}"): (group, version, own) for group, version, own in registered}
        entries = self._collection.under(self._kind.prefix)[0]
        there = {entry.key: _held(entry) for entry in entries}
        gone = [key for key, held in there.items() if held.managed and key not in served]
        work = [amend_object(self.api, self._kind, key, lambda _: None) for key in gone]
        for key, (group, version, custom) in served.items():
            if self._begun and not custom:
                continue
            spec = _spec(group, version)
            if key not in there:
                work.append(self._make(group, version, spec, custom))
            elif there[key].managed and there[key].spec != spec:
                work.append(self._mend(key, spec))
        await asyncio.gather(*work)

    async def _make(self, group: str, version: str, spec: Object, custom: bool) -> None:
        metadata = {"name": f"{version}.{group}", "labels": {MANAGED: _ALWAYS if custom else _ONCE}}
        await make_object(
            self.api, self._kind, {"metadata": metadata, "spec": spec}, constant="" if custom else clock.now()
        )

    async def _mend(self, key: str, spec: Object) -> None:
        await amend_object(self.api, self._kind, key, lambda obj: {**obj, "spec": spec})


class _Held(NamedTuple):
    """What is stored. managed: whether it is this controller's."""

    spec: Object
    managed: bool


def _held(entry: Entry) -> _Held:
    """What is stored; found once."""
    known: _Held | None = entry.forms.get("held")
    if known is None:
        labels = entry.labels
        known = entry.forms["held"] = _Held(entry.decode()["spec"], labels.get(MANAGED) in (_ALWAYS, _ONCE))
    return known


@bounded_cache(4096)
def _spec(group: str, version: str) -> Object:
    named = {"group": group, "version": version} if group else {"version": version}
    priority = catalog.version_priority(group, version)
    return {**named, "groupPriorityMinimum": catalog.group_priority(group), "versionPriority": priority}
