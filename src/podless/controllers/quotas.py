"""What namespaces use of their quotas is kept true in the status of each quota."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from podless.cache.entry import Entry
from podless.cache.watchcache import Event, WatchCache
from podless.controllers.write import report
from podless.kinds.builtin.quotas import counted
from podless.kinds.kind import Kind
from podless.kinds.strategy import Object
from podless.meta import quantity
from podless.meta.errors import APIError
from podless.store import StoreError
from podless.verbs.call import API

log = logging.getLogger(__name__)

_MANAGER = "kube-controller-manager"  # whom a real cluster names as the manager of a quota's status


class Quotas:
    """Follows the quotas, and what they count."""

    def __init__(self, api: API, kind: Kind) -> None:
        self._api = api
        self._kind = kind
        self._collection = api.collection(kind)
        self._due: dict[str, None] = {}  # namespaces to be looked at
        self._followed: dict[str, Callable[[], None]] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._leave: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Load the quotas, so that no creation passes them, and count."""
        await self._collection.load()
        self._leave = [self._collection.add_event_handler(self._changed), self._api.registry.listen(self._recount)]
        self._recount()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End; what has changed is counted at the next start."""
        for leave in [*self._leave, *self._followed.values()]:
            leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _recount(self) -> None:
        """Look at all namespaces that have quotas."""
        self._look(entry.namespace for entry in self._collection.under(self._kind.prefix)[0])

    def _changed(self, events: Sequence[Event]) -> None:
        self._look(event.after.namespace for event in events if event.after is not None)

    def _counted(self, events: Sequence[Event]) -> None:
        """Something that quotas count came or went."""
        moved = [entry for event in events if (entry := _moved(event)) is not None]
        if moved:
            self._look(entry.namespace for entry in moved)

    def _look(self, namespaces: Iterable[str]) -> None:
        fresh = dict.fromkeys(namespaces)
        if fresh:
            self._due.update(fresh)
            self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            due, self._due = list(self._due), {}
            for namespace in due:
                entries = self._collection.under(self._kind.keys.scope(namespace))[0]
                try:
                    await asyncio.gather(*map(self._count, entries))
                except (APIError, StoreError) as error:
                    log.warning("the quotas of %s are not counted: %s", namespace, error)

    async def _count(self, entry: Entry) -> None:
        """Bring the status of a quota to what is there."""
        obj = entry.decode()
        hard = obj["spec"].get("hard") or {}
        found = ((name, counted(self._api.registry, name)) for name in sorted(hard))
        there = {name: await self._follow(kind) for name, kind in found if kind is not None}

        def count(obj: Object) -> Object:
            numbers = {name: one.count(one.keys.scope(entry.namespace)) for name, one in there.items()}
            used = {name: quantity.canonical(str(number)) for name, number in numbers.items()}
            status = {name: amounts for name, amounts in (("hard", hard), ("used", used)) if amounts}
            return {**obj, "status": status}

        if obj != count(obj):
            await report(self._api, self._kind, entry.key, count, _MANAGER)

    async def _follow(self, kind: Kind) -> WatchCache:
        collection = await self._api.loaded(kind)
        if kind.prefix not in self._followed:
            self._followed[kind.prefix] = collection.add_event_handler(lambda events: self._hear(kind.prefix, events))
        return collection

    def _hear(self, prefix: str, events: Sequence[Event]) -> None:
        if events:
            self._counted(events)
        else:  # the resource is gone
            self._followed.pop(prefix, None)


def _moved(event: Event) -> Entry | None:
    """The object that came or went; None for one that only changed."""
    if event.before is None:
        return event.after
    return event.before if event.after is None else None
