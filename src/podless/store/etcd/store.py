"""The engine on etcd. Any number of servers can share a cluster; etcd decides the order of writes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from podless.store import Operation, Record, keys
from podless.store.contract import (
    KEPT,
    Deliver,
    HistoryCompacted,
    Lost,
    RevisionConflict,
    Store,
    StoreChange,
    StoreError,
)
from podless.store.engines import StoreSettings
from podless.store.etcd import messages as m
from podless.store.etcd.changelog import EtcdChangeLog
from podless.store.etcd.channel import ChannelError
from podless.store.etcd.client import CompactedByEtcd, EtcdClient, SharedTask, UnsupportedRequest
from podless.store.etcd.compactor import Compactor
from podless.store.etcd.exclusive import ExclusiveKey
from podless.store.etcd.follow import FENCES, MOVED, EtcdFollower, FenceKeys, HistoryGone, read_changes
from podless.store.etcd.layout import KeyLayout
from podless.store.etcd.leases import LeaseTable
from podless.store.etcd.ordered import OrderedCommits
from podless.store.etcd.settings import Etcd
from podless.store.history import HistoryBounds
from podless.store.keys import StoredValue

log = logging.getLogger("podless")

_PAGE = 10_000  # records of one range request
_CONCURRENT_WRITES = 64  # concurrent writes when many are needed
_ABSENT_KEY = keys.OWN + "nowhere/nothing"


class EtcdStore(Store):
    """A store in an etcd cluster.

    layout: of keys and values. times: seconds from the last write of a key to its expiry, by prefix; other keys stay.
    interval: approximate seconds of history to keep. One server compacts the cluster for all; 0: none does. bounds: of
    the change log; None if this server writes none. authors: record authors in it. logs: this process writes and trims
    the log, rather than only reading it. needs_log: `open` fails if there can be no log.
    """

    name = "etcd"
    prompt = False

    def __init__(
        self,
        settings: Etcd,
        layout: KeyLayout | None = None,
        *,
        times: Mapping[str, float] | None = None,
        interval: float = 300.0,
        bounds: HistoryBounds | None = None,
        authors: bool = True,
        logs: bool = True,
        needs_log: bool = False,
    ) -> None:
        self._client = EtcdClient(settings)
        self.durations = self._client.times
        self.atomic = True  # whether transactions take several keys; those of kine do not
        self._layout = layout or KeyLayout(settings.prefix, {})
        self._leases = LeaseTable(self._client, times or {})
        self._exclusive = settings.exclusive
        self._ordered: OrderedCommits | None = None  # set if transactions take only one key
        self._newest = 0
        self._exclusive_key = ExclusiveKey(
            self._client,
            self._layout,
            is_wanted=settings.exclusive,
            newest_known=lambda: self._newest,
            on_restored=self._wait_restored,
        )
        self._compactor = Compactor(self._client, interval, self._note_compaction)
        self._followers: list[EtcdFollower] = []
        self._compacted = 0
        self._fences = FenceKeys(self._client, self._layout, self._followers, self._note_revision)
        self._moving = SharedTask[None]()
        self._absent_key = self._layout.encode_key(_ABSENT_KEY)
        self._question: bytes = m.RangeRequest(key=self._absent_key, limit=1, count_only=True).SerializeToString()
        self._asking: set[asyncio.Task[None]] = set()
        self._logs, self._needs_log = logs, needs_log
        self.changelog: EtcdChangeLog | None = None
        if bounds is not None and bounds.keeps_any:
            self.changelog = EtcdChangeLog(
                self._client,
                self._layout,
                bounds,
                authors=authors,
                compacted=lambda: self._compacted,
                read=self._read_record,
                leased=self._leases.has_expiry,
            )

    @property
    def compacted_revision(self) -> int:
        return self._compacted

    async def open(self) -> None:
        """Reach the cluster. Raises StoreError."""
        self._client.open()
        await self.read_revision()
        await self._try_transactions()
        await self._find_compacted()
        if self.changelog is not None:
            await self.changelog.open(writing=self._logs)
        await self._exclusive_key.start()
        self._compactor.start()

    async def _try_transactions(self) -> None:
        """Find out whether transactions take several keys. Raises StoreError."""
        absent = b"".join(m.compare_revision(self._absent_key + end, 0) for end in (b"0", b"1"))
        try:
            await self._client.call_etcd("txn", absent)
        except UnsupportedRequest:
            if self._exclusive or self._needs_log:
                options = "--etcd-exclusive requires" if self._exclusive else "--history-log and --history-for require"
                raise StoreError(
                    f"{options} transactions of several keys, which this server lacks (kine?): remove the option"
                ) from None
            self._ordered = OrderedCommits(self._commit_one, self._read_record)
            self._fences.write = self._commit_one
            self.atomic, self.changelog = False, None  # an entry must be in the transaction of its change

    async def close(self) -> None:
        """Finish work in progress, and disconnect."""
        if self._ordered is not None:
            await self._ordered.finish_commits()
        await self._compactor.stop()
        if self.changelog is not None:
            await self.changelog.trimmer.stop()
        await self._exclusive_key.stop()
        for follower in self._followers:
            follower.stop()
        for follower in self._followers:
            await follower.wait_until_idle()
        self._followers.clear()
        tasks = [*self._asking, *self._fences.stop()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._moving.cancel()
        await self._client.close()

    async def _read_range(self, began: float | None = None, **parameters: Any) -> Any:
        before = self._newest
        answer = await self._client.call_etcd("range", m.RangeRequest(**parameters), began)
        if answer.header.revision < before:
            await self._wait_restored(before)
            answer = await self._client.call_etcd("range", m.RangeRequest(**parameters))
        self._newest = max(self._newest, answer.header.revision)
        return answer

    async def _wait_restored(self, before: int) -> None:
        """Raise the revision above all that clients have seen, after the cluster was restored to an earlier state."""
        await self._moving.join(partial(self._move_on, before))

    async def _move_on(self, before: int) -> None:
        log.error("etcd: the cluster was restored to a state before revision %d: reading all objects again", before)
        with suppress(StoreError):
            await self._exclusive_key.release_key()  # this server's state is from before the restore
        current = 0
        while current <= before:
            count = min(max(before - current, 1), _CONCURRENT_WRITES)
            # other servers whose watches see this key start again, too
            current = max(await asyncio.gather(*(self._fences.put_fence(MOVED) for _ in range(count))))
        with suppress(CompactedByEtcd):  # another server has compacted
            await self._client.call_etcd("compact", m.CompactionRequest(revision=current))
        self._note_compaction(current)
        self._leases.forget_leases()
        for follower in self._followers:
            follower.start_again()

    def read_revision(self) -> Awaitable[int]:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        use_answer = partial(self._use_answer, future, self._newest, future.get_loop().time())
        return future if self._client.send_request("range", self._question, use_answer) else self._ask_revision()

    def _use_answer(self, result: asyncio.Future[int], before: int, began: float, answer: bytes | ChannelError) -> None:
        if result.done():
            return
        revision = _parse_revision(answer) if isinstance(answer, bytes) else -1
        if revision >= before:
            self._newest = max(self._newest, revision)
            self._fences.push_revision(revision)
            result.set_result(revision)
            return
        # the answer may be of another member, of a retry, or of a restored cluster
        asking = asyncio.get_running_loop().create_task(self._ask_again(result, began))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)

    async def _ask_again(self, result: asyncio.Future[int], began: float) -> None:
        try:
            revision = await self._ask_revision(began)
        except asyncio.CancelledError:
            result.cancel()
            raise
        except Exception as error:
            if not result.done():
                result.set_exception(error)
        else:
            if not result.done():
                result.set_result(revision)

    async def _ask_revision(self, began: float | None = None) -> int:
        revision: int = (await self._read_range(began, key=self._absent_key)).header.revision
        self._fences.push_revision(revision)
        return revision

    async def check_health(self) -> None:
        await self._read_range(key=self._absent_key)
        for follower in self._followers:
            if follower.broken:
                raise StoreError(follower.broken)

    def watch(self, prefix: str, after: int, deliver: Deliver, lost: Lost | None = None) -> Callable[[], None]:
        if after < self._compacted:
            raise HistoryCompacted(self._compacted)

        def take(changes: Sequence[StoreChange], revision: int) -> None:
            self._newest = max(self._newest, revision)  # if the cluster later shows less than this, it was restored
            deliver(changes, revision)

        follower = EtcdFollower(self._client, self._layout, prefix, after, (take, lost), self._current_and_compacted)
        self._followers.append(follower)

        def stop_watching() -> None:
            follower.stop()
            if follower in self._followers:
                self._followers.remove(follower)

        return stop_watching

    async def _current_and_compacted(self) -> int:
        await self._find_compacted()
        return await self.read_revision()

    def _note_revision(self, revision: int) -> None:
        self._newest = max(self._newest, revision)

    def has_newest(self, revision: int) -> bool:
        """Return whether only this server writes, and `revision` includes all its writes."""
        return self._exclusive_key.proves_newest(revision)

    async def commit(self, operations: Sequence[Operation]) -> int:
        if self._ordered is not None:
            if len(operations) == 1 and operations[0].stored is not KEPT:
                return await self._commit_one(operations[0])
            return await self._ordered.commit_in_order(operations)
        encoded, leases = b"", []
        for key, stored, expect, _ in operations:
            leased = stored is not None and stored is not KEPT and self._leases.has_expiry(key)
            leases.append(await self._leases.find_lease(key) if leased else 0)
            encoded += self._encode_operation(key, stored, expect, leases[-1])
        if self.changelog is not None and self._logs:
            encoded += await self.changelog.writer.encode_entries(operations, leases)
        while True:
            answer, created_at = await self._send_transaction(encoded)
            if answer.succeeded:
                return int(answer.header.revision)
            *ranges, holder = (response.response_range.kvs for response in answer.responses)
            for (key, stored, expect, _), kvs in zip(operations, ranges, strict=True):
                actual = kvs[0].mod_revision if kvs else 0
                if actual != expect or (stored is None and not expect):
                    raise RevisionConflict(key, self._layout.decode_record(kvs[0]) if kvs else None)
            if (holder[0].create_revision if holder else 0) == created_at:
                raise StoreError("etcd rejected a transaction although its conditions hold")
            await self._exclusive_key.restore_condition(created_at)

    async def _commit_one(self, operation: Operation) -> int:
        """Write one key by a transaction of kube-apiserver's form. Raises RevisionConflict and StoreError.

        Source: optimisticPut and optimisticDelete of k8s.io/apiserver's storage/etcd3.
        """
        key, stored, expect, _ = operation
        if stored is None and not expect:
            raise RevisionConflict(key, await self._read_record(key))
        lease = await self._leases.find_lease(key) if stored is not None and self._leases.has_expiry(key) else 0
        before = self._newest
        answer = await self._client.call_etcd("txn", self._encode_operation(key, stored, expect, lease))
        revision: int = answer.header.revision
        if not answer.succeeded:  # kine's answer then has an older revision, so it is not compared with `before`
            kvs = answer.responses[0].response_range.kvs if answer.responses else ()
            raise RevisionConflict(key, self._layout.decode_record(kvs[0]) if kvs else None)
        if revision < before:
            await self._wait_restored(before)
        self._newest = max(self._newest, revision)
        return revision

    async def _read_record(self, key: str) -> Record | None:
        kvs = (await self._read_range(key=self._layout.encode_key(key))).kvs
        return self._layout.decode_record(kvs[0]) if kvs else None

    def _encode_operation(self, key: str, stored: StoredValue | None, expect: int, lease: int) -> bytes:
        """Return an operation as part of a transaction: condition, write, and a read if the condition fails."""
        etcd_key = self._layout.encode_key(key)
        # no revision is below 0, so deleting an absent key fails as a conflict
        compare = m.compare_revision(etcd_key, expect, lower=stored is None and not expect)
        if stored is None:
            compare += m.delete_key(etcd_key)
        elif stored is not KEPT:
            compare += m.put_key(etcd_key, self._layout.encode_value(stored), lease)
        return compare + m.read_otherwise(etcd_key)

    async def _send_transaction(self, operations: bytes) -> tuple[Any, int]:
        """Return the answer to a transaction, and the token of its `ExclusiveKey` condition. Raises StoreError."""
        before = self._newest
        created_at, condition = self._exclusive_key.begin_transaction()
        try:
            answer = await self._client.call_etcd("txn", operations + condition)
        except BaseException as error:
            self._exclusive_key.note_failure(created_at, error)
            raise
        revision: int = answer.header.revision
        self._exclusive_key.note_outcome(created_at, revision if answer.succeeded else 0)
        if revision < before:
            await self._wait_restored(before)
        elif answer.succeeded:
            self._newest = max(self._newest, revision)
        return answer, created_at

    async def read_range(self, prefix: str) -> tuple[list[Record], int]:
        records, revision = await self._read_all(prefix, 0)
        self._fences.push_revision(revision)
        return records, revision

    async def read_range_at(self, prefix: str, revision: int) -> list[Record]:
        try:
            return (await self._read_all(prefix, revision))[0]
        except HistoryCompacted:
            if self.changelog is None:
                raise
        return await self.changelog.restore_state((await self._read_all(prefix, 0))[0], prefix, revision)

    async def _read_all(self, prefix: str, revision: int) -> tuple[list[Record], int]:
        start, end = self._layout.encode_key(prefix), self._layout.encode_end(prefix)
        records: list[Record] = []
        while True:
            answer = await self._read_state(key=start, range_end=end, revision=revision, limit=_PAGE)
            revision = revision or answer.header.revision
            records += [self._layout.decode_record(kv) for kv in answer.kvs]
            if not answer.more:
                return [record for record in records if not record.key.startswith(FENCES)], revision
            start = answer.kvs[-1].key + b"\0"

    async def _read_state(self, **arguments: Any) -> Any:
        """Return an answer about a state. Raises HistoryCompacted if that state is gone."""
        try:
            return await self._read_range(**arguments)
        except CompactedByEtcd:
            await self._find_compacted()
            raise HistoryCompacted(self._compacted) from None

    async def read_page(
        self, revision: int, after: str, limit: int, prefix: str = keys.ALL
    ) -> tuple[list[Record], str]:
        start = self._layout.encode_key(after) + b"\0" if after else self._layout.encode_key(prefix)
        request: dict[str, Any] = {"key": start, "range_end": self._layout.encode_end(prefix), "limit": limit}
        try:
            answer, log = await self._read_state(**request, revision=revision), None
        except HistoryCompacted:
            if self.changelog is None:
                raise
            answer, log = await self._read_range(**request), self.changelog
        records = [self._layout.decode_record(kv) for kv in answer.kvs]
        following = records[-1].key if answer.more else ""
        if log is not None:
            records = await log.restore_state(records, prefix, revision, after, following)
        return [record for record in records if not record.key.startswith(FENCES)], following

    def hold_history(self) -> ExitStack:
        return self._compactor.holds.add()

    async def advance_revision(self, revision: int, say: Callable[[int], None] = lambda _: None) -> None:
        """Raise the revision above this one, with as many writes as needed, and forget all history."""
        current = await self.read_revision()
        while current < revision:
            count = min(revision - current, _CONCURRENT_WRITES)
            current = max(await asyncio.gather(*(self._fences.put_fence() for _ in range(count))))
            say(current)
        if self.changelog is not None:
            await self.changelog.delete_log(anew=self._logs)
        await self.compact(await self.read_revision())

    async def read_changes(self, prefix: str, after: int) -> list[StoreChange]:
        if after < self._compacted:
            raise HistoryCompacted(self._compacted)
        end = await self._fences.put_fence()
        try:
            changes = await read_changes(self._client, self._layout, prefix, after, end)
        except HistoryGone as gone:
            self._note_compaction(gone.revision)
            raise HistoryCompacted(self._compacted) from None
        for change in changes:
            if change.before is None and (change.record is None or change.record.created < change.revision):
                raise HistoryCompacted(change.revision)  # kine has compacted the state that this change replaced
        return changes

    async def compact(self, revision: int) -> None:
        revision = min(revision, await self.read_revision())
        if revision > self._compacted:
            try:
                await self._client.call_etcd("compact", m.CompactionRequest(revision=revision))
            except CompactedByEtcd:
                await self._find_compacted()
            else:
                self._note_compaction(revision)

    def _note_compaction(self, revision: int) -> None:
        self._compacted = max(self._compacted, revision)

    async def _find_compacted(self) -> None:
        """Find the newest compacted revision by bisection, because etcd does not report it."""
        low, high = self._compacted, (await self._read_range(key=self._absent_key)).header.revision
        while low < high:
            middle = (low + high) // 2
            try:
                await self._read_range(key=self._absent_key, revision=max(middle, 1))
            except CompactedByEtcd:
                low = middle + 1
            else:
                high = middle
        self._note_compaction(low if low > 1 else self._compacted)

    def read_figures(self) -> dict[str, int]:
        """Return the engine's figures. size: database of the member that answered last, in bytes."""
        figures = {"revision": self._newest, "compacted": self._compacted, "size": self._compactor.size}
        return {**figures, "oldest": self._compactor.oldest}


def _parse_revision(answer: bytes) -> int:
    """Return the revision of an answer to a range, -1 for an invalid one."""
    try:
        revision: int = m.RangeResponse.FromString(answer).header.revision
    except m.DecodeError:
        return -1
    return revision


def make_store(settings: StoreSettings) -> EtcdStore:
    """Return a store, not opened yet."""
    etcd: Etcd = settings.options
    return EtcdStore(
        etcd,
        settings.layout(etcd.prefix) if settings.layout is not None else KeyLayout(etcd.prefix, {}),
        times=settings.times,
        interval=etcd.compaction if settings.compacting else 0.0,
        bounds=settings.bounds,
        authors=settings.authors,
        logs=settings.compacting,
        needs_log=settings.needs_log,
    )
