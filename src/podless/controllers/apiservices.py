"""One APIService for each served group-version, made and taken away as definitions come and go."""

from __future__ import annotations

import asyncio

from podless.cache.entry import Entry
from podless.controllers.controller import Controller
from podless.controllers.write import amend, make
from podless.kinds import groups
from podless.kinds.kind import Kind
from podless.kinds.strategy import Object
from podless.meta import clock
from podless.meta.bounded import bounded_cache
from podless.verbs.call import API

_MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_LOCAL = "Local APIServices are always available"
_ALL = "all"  # the one key: it costs little to look at all of them
_DELAY = 0.05  # seconds in which changes are gathered


class APIServices(Controller):
    """Keeps the objects in step with the registry."""

    name = "autoregister-completion"

    def __init__(self, api: API, kind: Kind) -> None:
        super().__init__(api)
        self._kind = kind
        self._collection = api.collection(kind)

    async def begin(self) -> None:
        """Bring them up to date."""
        await self._collection.load()
        self.leave.append(self.api.registry.listen(lambda: self.queue.add(_ALL, _DELAY)))
        self.queue.add(_ALL)
        await self.flush()

    async def reconcile(self, key: str) -> None:
        """Make, mend and delete what the registry asks for."""
        served = {
            self._kind.key("", f"{version.name}.{kind.group}"): (kind.group, version.name, kind.custom)
            for kind in self.api.registry
            for version in kind.versions
        }
        entries = self._collection.under(self._kind.prefix)[0]
        there = {entry.key: _held(entry) for entry in entries}
        gone = [entry for entry in entries if entry.key not in served]
        work = [amend(self.api, self._kind, entry.key, lambda _: None) for entry in gone]
        for key, (group, version, custom) in served.items():
            spec = _spec(group, version)
            if key not in there:
                work.append(self._make(group, version, spec, custom))
            elif there[key] != spec:
                work.append(self._mend(key, spec))
        await asyncio.gather(*work)

    async def _make(self, group: str, version: str, spec: Object, custom: bool) -> None:
        condition = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": clock.now(),
            "reason": "Local",
            "message": _LOCAL,
        }
        metadata = {"name": f"{version}.{group}", "labels": {_MANAGED: "true" if custom else "onstart"}}
        await make(self.api, self._kind, {"metadata": metadata, "spec": spec, "status": {"conditions": [condition]}})

    async def _mend(self, key: str, spec: Object) -> None:
        await amend(self.api, self._kind, key, lambda obj: {**obj, "spec": spec})


def _held(entry: Entry) -> Object:
    """The spec that is stored; found once."""
    known: Object | None = entry.forms.get("spec")
    if known is None:
        known = entry.forms["spec"] = entry.decode()["spec"]
    return known


@bounded_cache(4096)
def _spec(group: str, version: str) -> Object:
    named = {"group": group, "version": version} if group else {"version": version}
    priority = groups.version_priority(group, version)
    return {**named, "groupPriorityMinimum": groups.priority(group), "versionPriority": priority}
