"""Lets a single server read without asking etcd: it holds a key, and only the holder's transactions succeed.

Every transaction of every server has a condition: the key is the one that this server wrote, or there is no key. So the
holder has the newest state as soon as it knows and shows the outcome of all its transactions. It writes the key again
each second, and trusts it for some seconds from before that write, by a clock that continues while the machine sleeps.

A server that wants to write puts its own key beside it. The holder finds that key, asks etcd from then on, and deletes
its own key. If the holder does not react, because it is gone or paused, the other server deletes the key when it has
not changed for longer than its holder trusts it. Clocks are not compared; they need only run about equally fast.

Other programs that write to etcd have no such condition: the holder may show their writes a moment late.

controllers/leader.py has another protocol: its Lease says which of several servers runs the controllers. This key says
that there is only one server.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from podless.runtime import system
from podless.store.contract import StoreError, StoreFull, StoreTimeout, ValueTooLarge
from podless.store.etcd import messages as m
from podless.store.etcd.client import EtcdClient, SharedTask
from podless.store.etcd.follow import FENCES
from podless.store.etcd.layout import KeyLayout

_HOLDER_KEY = f"{FENCES}alone"
_SHARING_PREFIX = f"{FENCES}sharing/"  # keys of servers that prevent exclusive use
_RENEW_INTERVAL = 1.0  # seconds between two writes of the key
_TRUST_SECONDS = 3.0  # seconds for which the holder trusts a write
_KEY_EXPIRES = 4.5  # seconds without a write after which others delete the key; longer than _TRUST_SECONDS
_SHARING_INTERVAL = 10.0  # seconds between two writes of a server that shares
_SHARING_EXPIRES = 30.0  # seconds without one after which that server counts as gone
_RELEASE_TIMEOUT = 10.0  # maximum seconds to wait until a holder has released its key
_POLL_DELAY = 0.05  # seconds between two checks for that
_now = system.read_boot_clock


class ExclusiveKey:
    """One server's part in the protocol.

    is_wanted: the server takes the key if it can. created_at: the revision at which it wrote the key, 0 if it does not
    hold it. newest_known: returns the newest revision that the server knows. on_restored: called with that revision
    if the cluster shows an older one.
    """

    def __init__(
        self,
        client: EtcdClient,
        layout: KeyLayout,
        *,
        is_wanted: bool,
        newest_known: Callable[[], int],
        on_restored: Callable[[int], Awaitable[None]],
    ) -> None:
        self.created_at = 0
        self._newest_known, self._on_restored = newest_known, on_restored
        self._client = client
        self._key, self._sharing_prefix = layout.encode_key(_HOLDER_KEY), layout.encode_key(_SHARING_PREFIX)
        self._end = self._sharing_prefix[:-1] + b"0"
        self._name = str(uuid.uuid4()).encode()
        self._sharing_key = self._sharing_prefix + self._name
        self._look = m.read_otherwise(self._key)
        self._condition = -1, b""
        self._is_wanted = is_wanted
        self._until = 0.0
        self._unknown = 0  # number of transactions with unknown outcome
        self._newest = 0  # newest revision of a transaction with known outcome
        self._last = 0  # the cluster's revision at the last write of the key
        # revision of each key, and the time since when it is unchanged
        self._sightings: dict[bytes, tuple[int, float]] = {}
        self._shares = False
        self._shared = 0.0
        self._lock = asyncio.Lock()  # held while the key is read or written
        self._sharing = SharedTask[None]()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take the key if it is wanted and free, and keep it from now on."""
        if self._is_wanted:
            with suppress(StoreError):
                await self._take_turn()
            self._task = asyncio.get_running_loop().create_task(self._keep_key())

    async def stop(self) -> None:
        """Release the key and the server's own sharing key."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._sharing.cancel()
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_RENEW_INTERVAL):
                await self.release_key()
                if self._shares:
                    await self._delete_key(self._sharing_key, 0)

    def proves_newest(self, revision: int) -> bool:
        """Return whether no client can have seen a revision later than `revision`."""
        return self.created_at > 0 and not self._unknown and revision >= self._newest and _now() < self._until

    # transactions

    def begin_transaction(self) -> tuple[int, bytes]:
        """Count a transaction. Returns a token for `note_outcome` or `note_failure`, and the bytes to add to it."""
        if self.created_at:
            self._unknown += 1
        if self._condition[0] != self.created_at:
            self._condition = self.created_at, m.compare_created(self._key, self.created_at) + self._look
        return self._condition

    def note_outcome(self, token: int, revision: int) -> None:
        """Record the outcome of a transaction. revision: the one that it made, 0 for none."""
        if token and token == self.created_at:
            self._unknown -= 1
            self._newest = max(self._newest, revision)

    def note_failure(self, token: int, error: BaseException) -> None:
        """Record a transaction without an answer. It may still be carried out, so the key is not trusted any more."""
        if token and token == self.created_at:
            self._unknown -= 1
            if not isinstance(error, (StoreFull, ValueTooLarge)):
                self.created_at = 0

    async def restore_condition(self, token: int) -> None:
        """Make the condition of transactions hold again after it has failed. Raises StoreError."""
        if token and token == self.created_at:
            self.created_at = 0  # another server deleted the key
        await self._sharing.join(self._share_key)

    async def _share_key(self) -> None:
        until = _now() + _RELEASE_TIMEOUT
        async with self._lock:
            if self.created_at:
                return  # another caller has done it
            await self._put_own_key()
            while not await self._is_key_absent():
                if _now() > until:
                    raise StoreTimeout
                await asyncio.sleep(_POLL_DELAY)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._keep_key())

    # periodic work

    async def _keep_key(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_INTERVAL)
            with suppress(StoreError):  # without a renewal, `holds` becomes False
                await self._take_turn()

    async def _take_turn(self) -> None:
        async with self._lock:
            if self.created_at:
                await self._renew_key()
                return
            if self._shares and _now() > self._shared + _SHARING_INTERVAL:
                await self._put_own_key()
            if self._is_wanted:
                await self._take_key()

    async def _renew_key(self) -> None:
        began, created_at = _now(), self.created_at
        answer = await self._put_key(created_at)
        if self.created_at != created_at:
            return
        if answer is not None and answer.succeeded:
            self._until = began + _TRUST_SECONDS
        else:  # a server wants to share, the key was deleted, or etcd was restored to an earlier state
            await self.release_key()
            await self._put_own_key()

    async def _take_key(self) -> None:
        began = _now()
        answer = await self._put_key(0)
        if answer is None:
            return
        if answer.succeeded:
            self.created_at = self._newest = answer.header.revision
            self._unknown = 0
            self._until = began + _TRUST_SECONDS
            self._shares = False
            return
        holders, sharing_keys = (response.response_range.kvs for response in answer.responses)
        is_absent = await self._is_key_absent(holders)
        if is_absent and [sharing_key.key for sharing_key in sharing_keys] == [self._sharing_key]:
            self._shares = False
            await self._delete_key(self._sharing_key, 0)
            return
        for sharing_key in sharing_keys:
            if sharing_key.key != self._sharing_key and self._unchanged_for(sharing_key) > _SHARING_EXPIRES:
                await self._delete_key(sharing_key.key, sharing_key.mod_revision)

    async def _put_key(self, token: int) -> Any:
        """Write the key again if it has not changed and no server wants to share it.

        Returns None if etcd was restored to an earlier state.
        """
        conditions = m.compare_created(self._key, token) + m.compare_created(self._sharing_prefix, 0, self._end)
        otherwise = self._look + m.read_otherwise(self._sharing_prefix, self._end)
        before = max(self._newest_known(), self._last)
        answer = await self._client.call_etcd("txn", conditions + m.put_key(self._key, self._name) + otherwise)
        self._last = revision = answer.header.revision
        if revision > before or (revision == before and not answer.succeeded):
            return answer
        await self._on_restored(before)
        return None

    async def release_key(self) -> None:
        """Stop trusting the key, and delete it."""
        if not self.created_at:
            return
        created_at, self.created_at = self.created_at, 0
        await self._client.call_etcd("txn", m.compare_created(self._key, created_at) + m.delete_key(self._key))

    async def _put_own_key(self) -> None:
        self._shares, self._shared = True, _now()
        await self._client.call_etcd("put", m.PutRequest(key=self._sharing_key))

    async def _is_key_absent(self, answer: Any = None) -> bool:
        """Return whether the key is absent. Deletes one whose holder is gone or that is this server's own."""
        if answer is None:
            answer = (await self._client.call_etcd("range", m.RangeRequest(key=self._key))).kvs
        if not answer:
            return True
        (key,) = answer
        if key.value == self._name or self._unchanged_for(key) > _KEY_EXPIRES:
            await self._delete_key(self._key, key.mod_revision)
        return False

    def _unchanged_for(self, kv: Any) -> float:
        """Return the seconds for which this server has seen a key unchanged."""
        revision, since = self._sightings.get(kv.key, (0, 0.0))
        if revision == kv.mod_revision:
            return _now() - since
        self._sightings[kv.key] = kv.mod_revision, _now()
        return 0.0

    async def _delete_key(self, key: bytes, revision: int) -> None:
        """Delete a key if its revision is still `revision` (0: any)."""
        self._sightings.pop(key, None)
        condition = m.compare_revision(key, revision) if revision else b""
        await self._client.call_etcd("txn", condition + m.delete_key(key))
