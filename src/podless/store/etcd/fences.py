"""Fences: keys written only to be seen. A watch that has received one has received everything before it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence

from podless.store.contract import Operation, RevisionConflict, StoreError
from podless.store.etcd import messages as m
from podless.store.etcd.client import EtcdClient
from podless.store.etcd.follow import FENCES, EtcdFollower
from podless.store.etcd.layout import KeyLayout
from podless.store.keys import StoredValue

_USUAL_LAG = 0.02  # seconds after which a change that one watch has delivered has usually reached this one, too


class FenceKeys:
    """The fences of one server.

    followers: the watches that must reach a revision. on_revision: called with the revision of each write. write:
    commits one operation, for servers whose transactions take one key only; older kine has no Put.
    """

    def __init__(
        self,
        client: EtcdClient,
        layout: KeyLayout,
        followers: Sequence[EtcdFollower],
        on_revision: Callable[[int], None],
    ) -> None:
        self.write: Callable[[Operation], Awaitable[int]] | None = None
        self._client = client
        self._layout = layout
        self._followers = followers
        self._on_revision = on_revision
        self._key = f"{FENCES}{uuid.uuid4()}"
        self._revisions: dict[str, int] = {}  # revision of the last fence, by key, where needed
        self._pushing: asyncio.Task[None] | None = None

    def stop(self) -> list[asyncio.Task[None]]:
        """Cancel pending work, and return its tasks."""
        if self._pushing is None:
            return []
        self._pushing.cancel()
        return [self._pushing]

    def push_revision(self, revision: int) -> None:
        """Make followers reach a revision, even one that was written outside of their prefix.

        This costs a write, but is rarely needed. Progress notifications on request would be cheaper, but up to etcd
        3.4.24 and 3.5.7 they may overtake changes.
        """
        if self._pushing is None and any(follower.revision < revision for follower in self._followers):
            self._pushing = asyncio.get_running_loop().create_task(self._push_until(revision))

    async def _push_until(self, revision: int) -> None:
        try:
            await asyncio.sleep(_USUAL_LAG)
            while any(follower.revision < revision for follower in self._followers):
                try:
                    await self.put_fence()
                except StoreError:
                    await asyncio.sleep(_USUAL_LAG)  # no retry limit: callers have deadlines
                else:
                    return
        finally:
            self._pushing = None

    async def put_fence(self, key: str = "") -> int:
        """Write a fence; "": this server's own. Returns the revision. Raises StoreError."""
        key = key or self._key
        if self.write is not None:
            return await self._put_anyway(self.write, key)
        revision: int = (
            await self._client.call_etcd("put", m.PutRequest(key=self._layout.encode_key(key)))
        ).header.revision
        self._on_revision(revision)
        return revision

    async def _put_anyway(self, write: Callable[[Operation], Awaitable[int]], key: str) -> int:
        """Write a key whatever its revision, using only transactions of kube-apiserver's form."""
        while True:
            try:
                revision = await write(Operation(key, StoredValue(b""), self._revisions.get(key, 0)))
            except RevisionConflict as conflict:
                self._revisions[key] = conflict.current.revision if conflict.current is not None else 0
            else:
                self._revisions[key] = revision
                return revision
