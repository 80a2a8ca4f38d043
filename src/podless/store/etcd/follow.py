"""Watches of everything under etcd's prefix, which resume after a failure, and fences.

Fences are keys written only to be seen: a watch that has received one has received everything before it.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from podless.runtime.traces import trace_error
from podless.store import keys
from podless.store.contract import Deliver, Lost, Operation, RevisionConflict, StoreChange, StoreError
from podless.store.etcd import messages as m
from podless.store.etcd.client import EtcdClient
from podless.store.etcd.layout import KeyLayout
from podless.store.keys import StoredValue

log = logging.getLogger("podless")

FENCES = f"{keys.OWN}fences/"
MOVED = f"{FENCES}moved"  # written by a server that finds that the cluster was restored to an earlier state
_RETRY_DELAY = 0.1  # seconds until a broken watch is started again
_USUAL_LAG = 0.02  # seconds after which a change that one watch has delivered has usually reached others, too


class HistoryGone(Exception):
    """A watch cannot start: history up to `revision` is gone."""

    def __init__(self, revision: int) -> None:
        super().__init__(revision)
        self.revision = revision


def read_change(layout: KeyLayout, event: Any, *, before: bool = False) -> StoreChange:
    """Return an event as a change of a key.

    before: include the state that it replaced; kine always sends that.
    """
    kv = event.kv
    old = layout.decode_record(event.prev_kv) if before and event.HasField("prev_kv") else None
    after = layout.decode_record(kv) if event.type != m.DELETE else None
    return StoreChange(after.key if after is not None else layout.decode_key(kv.key), kv.mod_revision, after, old)


async def read_events(
    client: EtcdClient,
    layout: KeyLayout,
    after: int,
    take: Callable[[Sequence[Any], int], bool],
    *,
    before: bool = False,
) -> None:
    """Pass all events later than a revision to `take`, until it returns True.

    before: include the replaced states. Raises HistoryGone, and StoreError if the stream breaks.
    """
    start, end = layout.encode_key(keys.ALL), layout.encode_end(keys.ALL)
    create = m.WatchCreate(key=start, range_end=end, start_revision=after + 1, progress_notify=True, prev_kv=before)

    def handle_answer(answer: Any) -> bool:
        if answer.compact_revision:
            raise HistoryGone(answer.compact_revision)
        if answer.canceled:
            raise StoreError(answer.cancel_reason or "etcdserver: the watch has ended")
        events = answer.events
        return bool(events) and take(events, events[-1].kv.mod_revision)

    await client.watch_keys(create, handle_answer)


async def read_changes(client: EtcdClient, layout: KeyLayout, prefix: str, after: int, end: int) -> list[StoreChange]:
    """Return the changes under a prefix between two revisions, each with the state that it replaced.

    end: a revision of the cluster that has a change. Raises HistoryGone, StoreError.
    """
    changes: list[StoreChange] = []

    def add_changes(events: Sequence[Any], revision: int) -> bool:
        for event in events:
            if layout.decode_key(event.kv.key).startswith(prefix) and event.kv.mod_revision < end:
                changes.append(read_change(layout, event, before=True))
        return revision >= end

    await read_events(client, layout, after, add_changes, before=True)
    return changes


class EtcdFollower:
    """Delivers all changes under a prefix. revision: the last delivered one."""

    def __init__(
        self,
        client: EtcdClient,
        layout: KeyLayout,
        prefix: str,
        after: int,
        callbacks: tuple[Deliver, Lost | None],
        current: Callable[[], Awaitable[int]],
    ) -> None:
        self.revision = after
        self.broken = ""
        self._client = client
        self._layout = layout
        self._prefix = prefix
        self._deliver, self._lost = callbacks
        self._current = current
        self._task = asyncio.get_running_loop().create_task(self._follow_events())

    def stop(self) -> None:
        """Stop deliveries."""
        self._task.cancel()

    def start_again(self) -> None:
        """Start again, because earlier deliveries may be wrong."""
        self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._restart_watch())

    async def wait_until_idle(self) -> None:
        """Wait until no work is in progress."""
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow_events(self) -> None:
        while True:
            try:
                await read_events(self._client, self._layout, self.revision, self._take_events)
            except HistoryGone:
                if not await self._skip_compacted():
                    await asyncio.sleep(_RETRY_DELAY)
            except StoreError as error:
                self.broken = str(error)
                await asyncio.sleep(_RETRY_DELAY)

    async def _restart_watch(self) -> None:
        while not await self._skip_compacted():  # noqa: ASYNC110
            await asyncio.sleep(_RETRY_DELAY)
        await self._follow_events()

    async def _skip_compacted(self) -> bool:
        """Skip history that was compacted before it was delivered. Returns False if that failed."""
        try:
            self.revision = await self._current()
        except StoreError:
            return False
        text = "etcd: changes were compacted before they were read: reading all objects again at %d"
        log.warning(text, self.revision)
        if self._lost is not None:
            self._lost(self.revision)
        return True

    def _take_events(self, events: Sequence[Any], revision: int) -> bool:
        self.broken = ""
        changes = [read_change(self._layout, event) for event in events]
        if any(change.key == MOVED for change in changes):
            raise HistoryGone(revision)
        self.revision, prefix = revision, self._prefix
        changes = [each for each in changes if each.key.startswith(prefix) and not each.key.startswith(FENCES)]
        try:
            self._deliver(changes, revision)
        except Exception as error:
            log.error("etcd: a watch handler failed at revision %d: %s", revision, trace_error(error))
        return False


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
