"""A fair queue of long requests: their total size is limited, and users take turns."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from podless.meta.errors import TooManyRequests

_MAX = 3 << 20  # bytes of admitted requests; a longer request is admitted alone
_WAITING = 64  # queued requests
_MAX_PER_USER = 16  # queued requests of one user
_SECONDS = 15.0  # maximum seconds in the queue
_REFUSAL = "too many requests, please try again later"


class FairQueue:
    """The long requests of a server. refused: number of rejected requests (queue full, or waited too long)."""

    def __init__(self) -> None:
        self._admitted = 0
        self._queues: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}  # in order: the first user is next
        self.waiting = 0
        self.refused = 0

    @asynccontextmanager
    async def wait_turn(self, user: str, size: int) -> AsyncIterator[None]:
        """Wait until a user's request of this size (bytes) is admitted, and hold its place in the block.

        Raises TooManyRequests if too many requests are queued, and after 15 s.
        """
        size = min(size, _MAX)
        if self.waiting or self._admitted + size > _MAX:
            await self._queue_request(user, size)
        else:
            self._admitted += size
        try:
            yield
        finally:
            self._admitted -= size
            self._admit_next()

    async def _queue_request(self, user: str, size: int) -> None:
        if self.waiting >= _WAITING or len(self._queues.get(user, ())) >= _MAX_PER_USER:
            raise self._make_refusal()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(user, deque()).append((size, turn))
        self.waiting += 1
        try:
            async with asyncio.timeout(_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # admitted at the moment of the timeout or cancellation
                self._admitted -= size
                self._admit_next()
            else:
                self._leave_queue(user, size, turn)
            if isinstance(error, TimeoutError):
                raise self._make_refusal() from None
            raise

    def _make_refusal(self) -> TooManyRequests:
        self.refused += 1
        return TooManyRequests(_REFUSAL, {"retryAfterSeconds": 1})

    def _leave_queue(self, user: str, size: int, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(user, deque())
        if (size, turn) in queue:  # else `_admit_next` has already passed over it
            queue.remove((size, turn))
            self.waiting -= 1
            if not queue:
                del self._queues[user]
        self._admit_next()

    def _admit_next(self) -> None:
        """Admit the next requests while there is room."""
        while self._queues:
            user = next(iter(self._queues))
            queue = self._queues[user]
            size, turn = queue[0]
            if self._admitted + size > _MAX and not turn.done():
                return
            queue.popleft()
            self.waiting -= 1
            del self._queues[user]
            if queue:
                self._queues[user] = queue  # the user goes to the end
            if not turn.done():
                self._admitted += size
                turn.set_result(None)
