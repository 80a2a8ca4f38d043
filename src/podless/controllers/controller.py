"""What every controller has: keys to reconcile, a worker that does so and tries again, and an orderly end.

Two sorts of controllers share it. Those that keep a server's own registry in step with the store run on every server;
those that write status, and mend or delete objects, have to run on one only (`leads`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

from podless.cache.events import Event
from podless.controllers.workqueue import WorkQueue
from podless.kinds.kind import Kind
from podless.meta.errors import APIError
from podless.meta.watchdog import Work
from podless.store import NoRoom, StoreError
from podless.verbs.call import API
from podless.verbs.storage import GUARD

log = logging.getLogger("podless")

Leave = Callable[[], None]
Object = dict[str, Any]

# the controllers whose work is being done: what they write must not make them wait for themselves
_RECONCILING: ContextVar[frozenset[str]] = ContextVar("reconciling", default=frozenset())
_TOGETHER = 256  # keys that are reconciled at once; their writes share commits


class Controller:
    """Reconciles keys beside the requests.

    A subclass says in `begin` what is loaded and followed, and in `reconcile` what is done about one key.
    name: in the log, and of the health check; a real server's, where it has one. leads: whether it writes what one
    server alone should write.
    """

    name: ClassVar[str]
    leads: ClassVar[bool] = True

    def __init__(self, api: API) -> None:
        self.api = api
        self.queue = WorkQueue()
        self.leave: list[Leave] = []  # called at the end
        self._faults: dict[str, str] = {}
        self._worker: asyncio.Task[None] | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Begin. Raises what `begin` raises: without that no request can be answered."""
        await self.begin()
        self._worker = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """End at once; what is left to do is found again at the next start."""
        for leave in self.leave:
            leave()
        self.leave.clear()
        tasks = [task for task in (self._worker, *self._running.values()) if task is not None]
        self._worker = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def begin(self) -> None:
        """Load what is followed, follow it, and do what must be done before the first request."""

    async def follow(self, kind: Kind) -> None:
        """Have the key of every object of a kind reconciled, now and whenever one changes."""
        collection = await self.api.loaded(kind)
        for entry in collection.under(kind.prefix)[0]:
            self.queue.add(entry.key)
        self.leave.append(collection.add_event_handler(self._enqueue))

    def _enqueue(self, events: Sequence[Event]) -> None:
        for event in events:
            self.queue.add(event.key)

    async def reconcile(self, key: str) -> None:
        """Bring what the key stands for to what it should be. What it raises is told, and the key tried again."""
        raise NotImplementedError

    @property
    def error(self) -> str:
        """What goes wrong at present, as one line; "" while all is well."""
        return next(iter(self._faults.values()), "")

    async def flush(self, made: Object | None = None) -> None:
        """Reconcile all that is due: for those whose answer waits for it. made: what was written, if it is new."""
        if self.name in _RECONCILING.get():
            return  # it is this very work that asks
        while self.queue.busy:
            if not await self._round():
                await self.queue.wait()

    def run(self, key: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done that may take long, once at a time for each key; again where it fails.

        It may wait for others, as a teardown waits for finalizers, and keeps no other key from being reconciled.
        """
        if key not in self._running:
            task = asyncio.get_running_loop().create_task(self._long(key, work))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))

    async def _work(self) -> None:
        while True:
            if not await self._round():
                await self.queue.wait()

    async def _round(self) -> bool:
        """Reconcile what is due now. Returns whether there was anything."""
        keys = self.queue.take(_TOGETHER)
        if keys:
            await asyncio.gather(*map(self._one, keys))
        return bool(keys)

    async def _one(self, key: str) -> None:
        _RECONCILING.set(_RECONCILING.get() | {self.name})  # of this task alone
        failed = True
        try:
            failed = not await self._try(key, self.reconcile(key))
        finally:
            self.queue.done(key, failed=failed)

    async def _long(self, key: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Work that is begun again, with rests that grow, until it has ended well."""
        rest = 0.05
        while not await self._try(key, work()):
            await asyncio.sleep(rest)
            rest = min(rest * 2, 60.0)

    async def _try(self, key: str, work: Coroutine[Any, Any, None]) -> bool:
        """Whether the work ended well; what went wrong is told in the log, and by `error` until it has."""
        if self.leads:
            GUARD.set(self.api.guard)  # of this task alone
        try:
            await self.api.watchdog.steps(work, lambda: Work("controller", self.name, "", key))
        except NoRoom as error:  # readyz tells; livez must not, for a restart makes no room
            log.warning("controller %s: %s: %s", self.name, key, error)
            return False
        except (APIError, StoreError) as error:
            log.warning("controller %s: %s: %s", self.name, key, error)
            self._faults[key] = f"{key}: {error}"
            return False
        except Exception as error:
            log.exception("controller %s: %s", self.name, key)
            self._faults[key] = f"{key}: {type(error).__name__}"
            return False
        self._faults.pop(key, None)
        return True
