"""Elects the server that runs the controllers: the holder of a Lease, as in Kubernetes' components.

The holder renews the lease. If it has not changed for `LEASE_SECONDS` by another server's clock, that server takes it.
The lease alone would not stop a suspended server from writing when it wakes up. So a server that takes the lease also
writes its own key in the same commit, and all writes of controllers are committed only if that key is unchanged.
The key of a server that is alone, with which it reads without asking etcd, is another one (store/etcd/exclusive.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from podless.apis.coordination.group import LEASES
from podless.auth.user import SERVER
from podless.cache.events import CacheEvent
from podless.codec import serializer
from podless.controllers.controller import Controller
from podless.kinds import view
from podless.meta.errors import APIError
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.traces import trace_error
from podless.store import KEPT, Operation, RevisionConflict, Store, StoredValue, StoreError
from podless.store.contract import AUTHOR, Author, read_record
from podless.store.keys import OWN
from podless.verbs import steps, storage
from podless.verbs.call import API
from podless.verbs.storage import GUARD, Deposed
from podless.version import __version__

log = logging.getLogger("podless")

LEASE_SECONDS = 5.0  # seconds until a lease expires
_RENEW_INTERVAL = 1.5  # seconds between two renewals, and between two reads by other servers
_POLL_INTERVAL = 0.2  # seconds between two reads in `find_holder`
_RENEW_DEADLINE = 3.5  # seconds without a renewal after which the holder stops its controllers
_FENCE_KEY = f"{OWN}leaders/controllers"
_NAMESPACE, _NAME = "kube-system", "podless-controllers"
_AUTHOR = Author(SERVER.name, manager="leader-election", agent=f"podless/{__version__}")


class _LeaseTaken(StoreError):
    """Another server wrote the lease first."""


async def find_holder(store: Store) -> str:
    """Return the holder that still renews the lease, "" for none. This takes up to `LEASE_SECONDS`."""
    key = LEASES.key(_NAMESPACE, _NAME)

    async def read_holder() -> tuple[int, str]:
        record = await read_record(store, key)
        if record is None:
            return 0, ""
        spec = serializer.decode_own(record.stored.with_revision(record.revision)).get("spec") or {}
        return record.revision, str(spec.get("holderIdentity") or "")

    before, name = await read_holder()
    end = time.monotonic() + LEASE_SECONDS
    while name and time.monotonic() < end:
        await asyncio.sleep(_POLL_INTERVAL)
        now, name = await read_holder()
        if name and now != before:
            return name
    return ""


class LeaderElection:
    """The part of one server in the election. leading: it has the lease. controllers: they run only while it has.

    guard: a condition for all their writes: no other server has taken the lease since. None before the first election.
    """

    def __init__(self, api: API, controllers: Sequence[Controller]) -> None:
        self.leading = False
        self.name = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"
        self.guard: Operation | None = None
        self._api = api
        self._controllers = controllers
        self._running: list[Controller] = []
        self._kind = LEASES
        self._key = self._kind.key(_NAMESPACE, _NAME)
        self._lease_seen = 0  # the lease's revision, and the time since when it is unchanged
        self._since = self._renewed = 0.0
        self._look = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._work: asyncio.Task[None] | None = None  # starts the controllers

    async def start(self) -> None:
        """Start. If no server holds the lease, the controllers are running on return. Raises StoreError."""
        collection = await self._api.load_collection(self._kind)
        self._leave = collection.add_event_handler(self._note_events)
        with contextlib.suppress(_LeaseTaken):  # another server started at the same time
            await self._renew_lease()
        if self._work is not None:
            with contextlib.suppress(Deposed):  # the start took too long, and another server has the lease
                await self._work
        self._task = asyncio.get_running_loop().create_task(self._run_election())

    async def stop(self) -> None:
        """Stop the controllers, and release the lease."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._leave()
        leading = self.leading
        await self._stop_controllers()
        if leading:
            try:
                async with asyncio.timeout(_RENEW_INTERVAL):
                    await self._write_lease("", take=False)
            except (StoreError, TimeoutError):
                log.info("controllers: the lease was not released and will expire")

    def find_holder(self) -> str:
        """Return the lease's holder, as far as this server knows."""
        collection = self._api.cache.find_collection(self._kind.prefix)
        entry = collection.get(self._key) if collection is not None else None
        return str((entry.decode().get("spec") or {}).get("holderIdentity") or "") if entry is not None else ""

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        if any(event.key == self._key for event in events):
            self._look.set()

    async def _run_election(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            timer = loop.call_later(_RENEW_INTERVAL, self._look.set)
            self._look.clear()
            await self._look.wait()
            timer.cancel()
            try:
                async with asyncio.timeout(
                    _RENEW_DEADLINE
                ):  # not wait_for, which in Python 3.11 can swallow a cancellation
                    await self._renew_lease()
            except (StoreError, APIError, TimeoutError) as error:
                log.warning("controllers: the lease was not renewed, trying again: %s", error or "no answer in time")
            except Exception as error:
                log.error("controllers: the lease was not renewed, trying again: %s", trace_error(error))
            failed = self._work.exception() if self._work is not None and self._work.done() else None
            if self.leading and (failed or loop.time() > self._renewed + _RENEW_DEADLINE):
                reason = f"their start failed: {trace_error(failed)}" if failed else "the lease was not renewed"
                log.warning("controllers: stopped: %s", reason)
                await self._stop_controllers()

    async def _renew_lease(self) -> None:
        """Renew the lease, or take it if it has expired."""
        now = asyncio.get_running_loop().time()
        entry = (await self._api.load_collection(self._kind)).get(self._key)
        revision = entry.revision if entry is not None else 0
        if revision != self._lease_seen:
            self._lease_seen, self._since = revision, now
        holder = (entry.decode().get("spec") or {}).get("holderIdentity") if entry is not None else ""
        if holder == self.name and self.leading:
            if now < self._renewed + _RENEW_INTERVAL / 2:
                return  # our own last write
            await self._write_lease(self.name, take=False)
            self._renewed = now
            return
        if self.leading:
            await self._stop_controllers()
        if not holder or holder == self.name or now > self._since + LEASE_SECONDS:
            await self._write_lease(self.name, take=True)
            self._renewed = now
            log.info("controllers: this server leads")
            self.leading = True
            self._work = asyncio.get_running_loop().create_task(self._start_controllers())

    async def _write_lease(self, holder: str, *, take: bool) -> None:
        """Write the lease. take: make all later writes of its previous holder fail."""
        entry = (await self._api.load_collection(self._kind)).get(self._key)
        now = datetime.fromtimestamp(clock.time(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        obj: Object = entry.decode() if entry is not None else self._make_lease()
        spec = obj.setdefault("spec", {})
        spec |= {"holderIdentity": holder, "leaseDurationSeconds": round(LEASE_SECONDS), "renewTime": now}
        if take:
            spec |= {"acquireTime": now, "leaseTransitions": spec.get("leaseTransitions", -1) + 1}
        stored = view.encode_object(self._kind, obj)
        operations = [Operation(self._key, stored, entry.revision if entry is not None else 0)]
        if take:
            fence = await read_record(self._api.store, _FENCE_KEY)
            expect = fence.revision if fence is not None else 0
            operations.append(Operation(_FENCE_KEY, StoredValue(holder.encode()), expect))
        elif self.guard is not None:
            operations.append(self.guard)
        before = AUTHOR.set(_AUTHOR)
        try:
            await storage.commit_operations(self._api, operations)
        except RevisionConflict:
            raise _LeaseTaken("another server has it") from None
        finally:
            AUTHOR.reset(before)
        if take:
            # read it back: without atomic commits, its revision can differ from that of the commit
            fence = await read_record(self._api.store, _FENCE_KEY)
            if fence is None or fence.stored.data != holder.encode():
                raise _LeaseTaken("another server has taken it since")
            self.guard = Operation(_FENCE_KEY, KEPT, fence.revision)

    def _make_lease(self) -> Object:
        version = self._kind.storage_version
        metadata: Object = {"name": _NAME, "namespace": _NAMESPACE}
        steps.set_server_fields(self._kind, metadata)
        return {"kind": self._kind.kind, "apiVersion": self._kind.api_version(version), "metadata": metadata}

    async def _start_controllers(self) -> None:
        """Start the controllers in their own context."""
        GUARD.set(self.guard)
        for controller in self._controllers:
            self._running.append(controller)
            await controller.start()

    async def _stop_controllers(self) -> None:
        """Stop leading: cancel the start of the controllers, and stop those that run."""
        self.leading = False
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            self._work = None
        for controller in self._running:
            await controller.stop()
        self._running.clear()
