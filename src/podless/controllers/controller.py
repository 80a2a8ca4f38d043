"""The base class of controllers: a queue of keys, a worker with retries, and an orderly stop.

Controllers that update a server's own registry run on every server. Controllers that write run on one server only
(`leads`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

from podless.auth.user import SERVER
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent, EventHandler
from podless.cache.watchcache import WatchCache
from podless.controllers.workqueue import WorkQueue
from podless.kinds.kind import Kind
from podless.meta.errors import APIError
from podless.runtime.jsonobject import Object
from podless.runtime.traces import trace_error
from podless.runtime.watchdog import MeasuredCoroutine, Work
from podless.store import DiskFull, Operation, StoreError
from podless.store.contract import AUTHOR, Author
from podless.verbs.call import API
from podless.verbs.followup import FollowUpCommits
from podless.verbs.storage import GUARD
from podless.version import __version__

log = logging.getLogger("podless")

Leave = Callable[[], None]

# the controllers that the current task reconciles for: their writes must not wait for themselves
_RECONCILING: ContextVar[frozenset[str]] = ContextVar("reconciling", default=frozenset())
_CONCURRENT_KEYS = 256  # keys that are reconciled concurrently; their writes share commits


class Controller:
    """Reconciles keys beside requests.

    A subclass loads and follows objects in `begin`, and handles one key in `reconcile`. name: for the log and the
    health check; the name in Kubernetes if there is one. leads: it writes, so it runs on one server only. awaited: the
    kinds whose writes are answered only after this controller has reconciled them.
    """

    name: ClassVar[str]
    leads: ClassVar[bool] = True
    awaited: ClassVar[Sequence[Kind]] = ()

    def __init__(self, api: API) -> None:
        self.api = api
        self.queue = WorkQueue()
        self._author = Author(SERVER.name, manager=self.name, agent=f"podless/{__version__}")
        self.leave: list[Leave] = []  # called by `stop`
        self._guard: Operation | None = None  # a condition for all writes, if only one server may run this controller
        self._faults: dict[str, str] = {}
        self._worker: asyncio.Task[None] | None = None
        self._running: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Start. Raises the errors of `begin`, after which the server cannot answer requests."""
        self._guard = GUARD.get()
        before = AUTHOR.set(self._author)
        try:
            await self.begin()
        finally:
            AUTHOR.reset(before)
        self.leave += [self.api.follow_ups.add_follow_up(kind, self) for kind in self.awaited]
        self._worker = asyncio.get_running_loop().create_task(self._work_queue())

    async def stop(self) -> None:
        """Stop immediately; the next start finds the remaining work."""
        for leave in self.leave:
            leave()
        self.leave.clear()
        tasks = [task for task in (self._worker, *self._running.values()) if task is not None]
        self._worker = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def begin(self) -> None:
        """Load and follow objects, and do the work that must be complete before the first request."""

    async def watch_kind(self, kind: Kind, handler: EventHandler) -> WatchCache:
        """Pass all later changes of the objects of a kind to a handler."""
        collection = await self.api.load_collection(kind)
        self.leave.append(collection.add_event_handler(handler))
        return collection

    async def follow_kind(self, kind: Kind, handler: EventHandler | None = None) -> None:
        """Pass the objects of a kind to a handler as if they were new, then all changes.

        The default handler reconciles each object.
        """
        handler = handler or self._enqueue_events
        collection = await self.watch_kind(kind, handler)
        if stored := collection.list_entries():
            handler([CacheEvent(entry.key, entry.revision, None, entry) for entry in stored])

    def _enqueue_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            self.queue.add(event.key)

    async def reconcile(self, key: str) -> None:
        """Reconcile one key. Exceptions are logged, and the key is retried."""
        raise NotImplementedError

    @property
    def error(self) -> str:
        """One of the current errors in one line, "" for none."""
        return next(iter(self._faults.values()), "")

    @property
    def busy(self) -> bool:
        """Whether keys are due or being reconciled."""
        return self.queue.busy

    @property
    def working(self) -> bool:
        """Whether long work is in progress, such as a teardown that waits for finalizers."""
        return bool(self._running)

    def follow_up_commits(self, key: str, obj: Object) -> FollowUpCommits | None:
        """Return the commits that can follow the creation of an awaited object, None for none."""
        return None

    def find_due_keys(self, key: str) -> Iterable[str]:
        """Return the keys to reconcile after a write of an object."""
        return (key,)

    async def after_commit(self, key: str, obj: Object | None = None) -> None:
        """Reconcile the keys of a write; its answer waits for this.

        key: of the written object. obj: the object, if it is new.
        """
        await self.reconcile_due(self.find_due_keys(key))

    async def reconcile_due(self, keys: Iterable[str]) -> None:
        """Reconcile these keys if they are due, and wait for those in progress."""
        if self.name in _RECONCILING.get():
            return  # called by the reconciliation itself
        todo = [*keys]
        if len(todo) > 1:
            await asyncio.gather(*map(self._wait_until_done, todo))
        else:
            for key in todo:
                await self._wait_until_done(key)

    async def _wait_until_done(self, key: str) -> None:
        while True:
            if self.queue.is_taken(key):
                await self.queue.wait_for_key(key)
            elif self.queue.take_key(key):
                await asyncio.gather(self._reconcile_key(key))  # a task of its own, because it sets context variables
            else:
                return

    async def reconcile_all(self) -> None:
        """Reconcile all keys that are due."""
        if self.name in _RECONCILING.get():
            return  # called by the reconciliation itself
        while self.queue.busy:
            if not await self._reconcile_due():
                await self.queue.wait_due()

    def run_once(self, key: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run long work, once at a time for each key, and again if it fails.

        It can wait for clients, for example to remove finalizers, and does not delay other keys.
        """
        if key not in self._running:
            task = asyncio.get_running_loop().create_task(self._repeat_work(key, work))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))

    async def _work_queue(self) -> None:
        while True:
            if not await self._reconcile_due():
                await self.queue.wait_due()

    async def _reconcile_due(self) -> bool:
        """Reconcile the keys that are due. Returns whether there were any."""
        keys = self.queue.take_due(_CONCURRENT_KEYS)
        if keys:
            await asyncio.gather(*map(self._reconcile_key, keys))
        return bool(keys)

    async def _reconcile_key(self, key: str) -> None:
        _RECONCILING.set(_RECONCILING.get() | {self.name})  # set for this task only
        failed = True
        try:
            failed = not await self._try_work(key, self.reconcile(key))
        finally:
            self.queue.finish_key(key, failed=failed)

    async def _repeat_work(self, key: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run work again, with growing pauses, until it succeeds."""
        delay = 0.05
        while not await self._try_work(key, work()):
            await asyncio.sleep(delay)
            delay = min(delay * 2, 60.0)

    async def _try_work(self, key: str, work: Coroutine[Any, Any, None]) -> bool:
        """Return whether the work succeeded. Log its error, and keep it for `error`."""
        AUTHOR.set(self._author)  # set for this task only, like the next one
        if self.leads:
            GUARD.set(self._guard)
        try:
            await MeasuredCoroutine(work, self.api.watchdog, lambda: Work("controller", self.name, "", key))
        except (APIError, StoreError) as error:
            log.warning("controllers: %s failed on %s, trying again: %s", self.name, key, error)
            if not isinstance(error, DiskFull):  # readyz reports it; livez must not: a restart does not free space
                self._faults[key] = f"{key}: {error}"
            return False
        except Exception as error:
            log.error("controllers: %s failed on %s, trying again: %s", self.name, key, trace_error(error))
            self._faults[key] = f"{key}: {type(error).__name__}"
            return False
        self._faults.pop(key, None)
        return True


class KindController(Controller):
    """Reconciles the objects of a kind, unless a subclass queues other keys."""

    kind: ClassVar[Kind]

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._collection: WatchCache = api.collection(self.kind)

    async def begin(self) -> None:
        await self.follow_kind(self.kind, self._note_events)

    def _list_stored(self) -> Sequence[Entry]:
        return self._collection.list_entries()

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        """Note changes of objects, and queue their keys."""
        self._enqueue_events(events)
