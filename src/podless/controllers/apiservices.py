"""One APIService for each served group-version, made and taken away as definitions come and go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import lru_cache

from podless.cache.entry import Entry
from podless.controllers.write import amend, make
from podless.kinds import groups
from podless.kinds.kind import Kind
from podless.kinds.strategy import Object
from podless.meta import clock
from podless.meta.errors import APIError
from podless.store import StoreError
from podless.verbs.call import API

log = logging.getLogger(__name__)

_MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_LOCAL = "Local APIServices are always available"
_DELAY = 0.05  # seconds in which changes are gathered


class APIServices:
    """Keeps the objects in step with the registry."""

    def __init__(self, api: API, kind: Kind) -> None:
        self._api = api
        self._kind = kind
        self._collection = api.collection(kind)
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._leave: Callable[[], None] | None = None

    async def start(self) -> None:
        """Bring them up to date, and go on."""
        await self._collection.load()
        self._leave = self._api.registry.listen(self._wake.set)
        await self._settle()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End; what has changed is written at the next start."""
        if self._leave is not None:
            self._leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(_DELAY)
            self._wake.clear()
            try:
                await self._settle()
            except (APIError, StoreError) as error:
                log.warning("the APIServices are not up to date: %s", error)

    async def _settle(self) -> None:
        served = {
            self._kind.key("", f"{version.name}.{kind.group}"): (kind.group, version.name, kind.custom)
            for kind in self._api.registry
            for version in kind.versions
        }
        entries = self._collection.under(self._kind.prefix)[0]
        there = {entry.key: _held(entry) for entry in entries}
        gone = [entry for entry in entries if entry.key not in served]
        work = [amend(self._api, self._kind, entry.key, lambda _: None) for entry in gone]
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
        await make(self._api, self._kind, {"metadata": metadata, "spec": spec, "status": {"conditions": [condition]}})

    async def _mend(self, key: str, spec: Object) -> None:
        await amend(self._api, self._kind, key, lambda obj: {**obj, "spec": spec})


def _held(entry: Entry) -> Object:
    """The spec that is stored; found once."""
    known: Object | None = entry.forms.get("spec")
    if known is None:
        known = entry.forms["spec"] = entry.decode()["spec"]
    return known


@lru_cache(4096)
def _spec(group: str, version: str) -> Object:
    named = {"group": group, "version": version} if group else {"version": version}
    priority = groups.version_priority(group, version)
    return {**named, "groupPriorityMinimum": groups.priority(group), "versionPriority": priority}
