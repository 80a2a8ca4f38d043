"""An engine as if it were far away, with other writers: it answers late, tells changes late, and skips revisions.

What is stored is in an embedded engine; the lateness is turns of the event loop, drawn from a seed. Somebody else
writes to keys that nobody looks at, and, before a commit, now and then the same bytes again to a key that it is about,
so that it is lost and has to be tried again.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from podless.store import KEPT, Operation, Record, StoreChange, StoredValue, keys
from podless.store.contract import Deliver, Lost, Store
from podless.store.history import HistoryBounds, Keep
from podless.store.sqlite import SQLiteStore

FOREIGN = "/elsewhere/things/"
_TURNS = 4  # of the loop that an answer or a delivery takes at the most
# whose revisions no client of these tests sets as a condition
_OURS = ("/podless/", "/core/namespaces/", "/core/resourcequotas/", "/rbac.", "/apiregistration.k8s.io/")
_LEADERS = f"{keys.OWN}leaders/"  # what nobody writes but who takes the lease


class LateStore(Store):
    """disturbed: what the keys start with that somebody else writes as well."""

    name = "late"
    prompt = False
    atomic = True

    def __init__(
        self,
        path: Path | None = None,
        *,
        keep: Keep | None = None,
        bounds: HistoryBounds | None = None,
        authors: bool = True,
        seed: int = 1,
        disturbed: tuple[str, ...] = _OURS,
    ) -> None:
        self._inner = SQLiteStore(path, keep=keep, bounds=bounds, authors=authors)
        self.durations, self.changelog = self._inner.durations, self._inner.changelog
        self._random = random.Random(seed)
        self._disturbed = disturbed
        self._number = 0
        self._feeds: set[asyncio.Task[None]] = set()

    @property
    def compacted_revision(self) -> int:
        return self._inner.compacted_revision

    async def open(self) -> None:
        await self._inner.open()

    async def close(self) -> None:
        for feed in self._feeds:
            feed.cancel()
        await asyncio.gather(*self._feeds, return_exceptions=True)
        await self._inner.close()

    async def _later(self) -> None:
        for _ in range(self._random.randint(0, _TURNS)):
            await asyncio.sleep(0)

    def has_newest(self, shown: int) -> bool:
        return False

    async def read_revision(self) -> int:
        await self._later()
        revision = await self._inner.read_revision()
        await self._later()
        return revision

    async def commit(self, operations: Sequence[Operation]) -> int:
        await self._later()
        chance = self._random.random()
        if chance < 0.2:
            self._number += 1
            await self._inner.commit([Operation(f"{FOREIGN}x{self._number}", StoredValue(b"{}"), 0)])
        if chance < 0.3:
            await self._disturb(self._random.choice(operations))
        try:
            return await self._inner.commit(operations)
        finally:
            await self._later()

    async def _disturb(self, operation: Operation) -> None:
        """Write what is there again."""
        ours = operation.key.startswith(self._disturbed) and not operation.key.startswith(_LEADERS)
        if operation.expect and operation.stored is not KEPT and ours:
            for record in (await self._inner.read_range(operation.key))[0]:
                if record.key == operation.key and record.revision == operation.expect:
                    await self._inner.commit([Operation(record.key, record.stored, record.revision)])

    def watch(self, prefix: str, after: int, deliver: Deliver, lost: Lost | None = None) -> Callable[[], None]:
        told: deque[tuple[Sequence[StoreChange], int]] = deque()
        more = asyncio.Event()

        def take(changes: Sequence[StoreChange], revision: int) -> None:
            told.append((changes, revision))
            more.set()

        leave = self._inner.watch(prefix, after, take)
        feed = asyncio.get_running_loop().create_task(self._feed(told, more, deliver))
        self._feeds.add(feed)
        feed.add_done_callback(self._feeds.discard)
        return partial(self._leave, feed, leave)

    def _leave(self, feed: asyncio.Task[None], leave: Callable[[], None]) -> None:
        leave()
        feed.cancel()

    async def _feed(
        self, told: deque[tuple[Sequence[StoreChange], int]], more: asyncio.Event, deliver: Deliver
    ) -> None:
        while True:
            await more.wait()
            await self._later()
            more.clear()
            batch: list[StoreChange] = []
            revision = 0
            for _ in range(self._random.randint(1, len(told))):
                changes, revision = told.popleft()
                batch += changes
            if told:
                more.set()
            with suppress(Exception):  # whoever listens has a defect, which is not this engine's affair
                deliver(batch, revision)

    async def read_range(self, prefix: str) -> tuple[list[Record], int]:
        await self._later()
        found = await self._inner.read_range(prefix)
        await self._later()
        return found

    async def read_range_at(self, prefix: str, revision: int) -> list[Record]:
        await self._later()
        return await self._inner.read_range_at(prefix, revision)

    async def read_changes(self, prefix: str, after: int) -> list[StoreChange]:
        await self._later()
        return await self._inner.read_changes(prefix, after)

    async def read_page(self, revision: int, after: str, most: int, prefix: str = keys.ALL) -> tuple[list[Record], str]:
        await self._later()
        return await self._inner.read_page(revision, after, most, prefix)

    def hold_history(self) -> ExitStack:
        return self._inner.hold_history()

    async def advance_revision(self, revision: int, say: Callable[[int], None] = lambda _: None) -> None:
        await self._inner.advance_revision(revision, say)

    def read_figures(self) -> Mapping[str, int]:
        return self._inner.read_figures()

    async def check_health(self) -> None:
        await self._later()
        await self._inner.check_health()

    async def compact(self, revision: int) -> None:
        await self._inner.compact(revision)
