"""Commits several keys on a server whose transactions take one key, such as kine: key by key, under a lock.

The first operation is the write itself. The others accompany it, so that if two writers made the same choice at the
same time, one of them must choose again. The lock is a key that lists them. Its holder checks every condition, and
writes the first key if its condition still holds. Then it gives the other keys a new revision in any case: a writer
that has not seen the first key does not find the revisions that it expects. A server that dies while it holds the lock
leaves the list of keys; the next holder gives them new revisions first.

Limits: other clients see the keys one after the other. A first write that reaches the database `_STALE_SECONDS` after
it was sent is not prevented. Conditions alone (KEPT) are read before the write, not with it.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from podless.codec import serializer
from podless.store.contract import (
    KEPT,
    Operation,
    Record,
    RevisionConflict,
    StoreError,
    StoreFull,
    StoreTimeout,
    ValueTooLarge,
)
from podless.store.etcd.follow import FENCES
from podless.store.keys import StoredValue

log = logging.getLogger("podless")

_LOCK_KEY = f"{FENCES}commits"
_FREE_LOCK = StoredValue(b"{}")
_POLL_DELAY, _MAX_POLL_DELAY = 0.02, 0.2  # seconds between two checks of a held lock: at first, and maximum
_SEND_TIMEOUT = 2.0  # seconds after taking the lock in which the first write may be sent
_STALE_SECONDS = 10.0  # seconds without a change after which others take the lock
_LOCK_TIMEOUT = 20.0  # maximum seconds that a commit waits for the lock

Write = Callable[[Operation], Awaitable[int]]
Read = Callable[[str], Awaitable[Record | None]]


class OrderedCommits:
    """Commits in order for one server.

    write: commits one operation, raises RevisionConflict. read: returns one record.
    """

    def __init__(self, write: Write, read: Read) -> None:
        self._write, self._read = write, read
        self._name = str(uuid.uuid4())
        self._turn = asyncio.Lock()  # writers of this process take turns here, not by the key
        self._revision = 0  # revision of the lock when it was free
        self._working: set[asyncio.Task[int]] = set()

    async def commit_in_order(self, operations: Sequence[Operation]) -> int:
        """Return the revision of the first operation. Raises RevisionConflict and StoreError, as `Store.commit` does.

        A started commit runs to its end even if its caller is cancelled; otherwise it would keep the lock.
        """
        first, *along = operations
        if first.stored is not KEPT and all(operation.stored is KEPT for operation in along):
            await self._check_expected(along)
            return await self._write(first)
        work = asyncio.get_running_loop().create_task(self._commit_in_turn(operations))
        self._working.add(work)
        work.add_done_callback(self._working.discard)
        return await asyncio.shield(work)

    async def finish_commits(self) -> None:
        """Wait for commits that have started."""
        await asyncio.gather(*self._working, return_exceptions=True)

    async def _check_expected(self, operations: Sequence[Operation]) -> None:
        """Raise RevisionConflict for the first key that is not at its expected revision."""
        records = await asyncio.gather(*(self._read(operation.key) for operation in operations))
        for expected, current in zip(operations, records, strict=True):
            actual = current.revision if current is not None else 0
            if actual != expected.expect or (expected.stored is None and not expected.expect):
                raise RevisionConflict(expected.key, current)

    async def _commit_in_turn(self, operations: Sequence[Operation]) -> int:
        loop = asyncio.get_running_loop()
        writes = [operation for operation in operations if operation.stored is not KEPT]
        async with self._turn:
            lock_revision = await self._take_lock([write.key for write in writes[1:]])
            until = loop.time() + _SEND_TIMEOUT
            is_known = True  # whether the outcome of the first write is known
            try:
                await self._check_expected(operations)
                if loop.time() > until:
                    raise StoreTimeout
                try:
                    revision = await self._write(writes[0]) if writes else lock_revision
                except (RevisionConflict, StoreFull, ValueTooLarge):
                    raise
                except StoreError:
                    is_known = False  # the write may still arrive, so the lock stays until others take it
                    raise
                for write in writes[1:]:
                    await self._write_along(write)
                return revision
            finally:
                if is_known:
                    await self._release_lock(lock_revision)

    async def _write_along(self, operation: Operation) -> None:
        """Write a key that accompanies the commit.

        If another client wrote it meanwhile, write that client's value again, under a new revision.
        """
        while True:
            try:
                await self._write(operation)
            except RevisionConflict as conflict:
                current = conflict.current
                if current is not None:
                    operation = Operation(current.key, current.stored, current.revision)
                elif operation.stored is None:
                    return
                else:
                    operation = operation._replace(expect=0)
            else:
                return

    # the lock

    async def _take_lock(self, along: list[str]) -> int:
        """Return the revision of the lock once it is held. Raises StoreTimeout."""
        until = asyncio.get_running_loop().time() + _LOCK_TIMEOUT
        expect, unfinished = self._revision, list[str]()
        while True:
            lock_value = StoredValue(serializer.encode_json({"holder": self._name, "keys": [*unfinished, *along]}))
            try:
                lock_revision = await self._write(Operation(_LOCK_KEY, lock_value, expect))
            except RevisionConflict as conflict:
                expect, unfinished = await self._wait_for_lock(conflict.current, until)
                continue
            for record in [await self._read(key) for key in unfinished]:
                if record is not None:
                    await self._write_along(Operation(record.key, record.stored, record.revision))
            return lock_revision

    async def _wait_for_lock(self, record: Record | None, until: float) -> tuple[int, list[str]]:
        """Wait until the lock is free or stale. Returns its revision, and the keys that a dead holder has left.

        Raises StoreTimeout.
        """
        loop = asyncio.get_running_loop()
        since, pause, revision = loop.time(), _POLL_DELAY, record.revision if record is not None else 0
        while record is not None and (keys := _parse_keys(record.stored.data)) is not None:
            if record.revision != revision:
                since, revision = loop.time(), record.revision
            if loop.time() - since > _STALE_SECONDS:
                log.warning("etcd: broke the commit lock: a server has held it for %d s", _STALE_SECONDS)
                return record.revision, keys
            if loop.time() > until:
                raise StoreTimeout
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 1.5, _MAX_POLL_DELAY)
            record = await self._read(_LOCK_KEY)
        return (record.revision if record is not None else 0), []

    async def _release_lock(self, revision: int) -> None:
        try:
            self._revision = await self._write(Operation(_LOCK_KEY, _FREE_LOCK, revision))
        except StoreError as error:
            log.warning("etcd: the commit lock was not released: %s", error)


def _parse_keys(value: bytes) -> list[str] | None:
    """Return the keys that the lock's holder writes, None if the lock is free."""
    with suppress(ValueError):
        lock = serializer.decode_json(value)
        if isinstance(lock, dict) and "holder" in lock:
            return [str(key) for key in lock.get("keys") or ()]
    return None
