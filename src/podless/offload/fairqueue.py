"""A fair queue of long requests: their total size is limited, and users take turns."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from podless.meta.errors import TooManyRequests

_MOST = 3 << 20  # bytes that are worked on at once; one request at least
_WAITING = 64  # requests that may wait
_OWN = 16  # those of one user
_SECONDS = 15.0  # that one waits
_REFUSAL = "too many requests, please try again later"


class FairQueue:
    """The long requests of a server. refused: number of requests that waited too long."""

    def __init__(self) -> None:
        self._taken = 0
        self._queues: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}  # the user whose turn is next comes first
        self.waiting = 0
        self.refused = 0

    @asynccontextmanager
    async def turn(self, user: str, size: int) -> AsyncIterator[None]:
        """Wait until so many bytes may be worked on for a user, and hold that place. Raises TooManyRequests."""
        size = min(size, _MOST)
        if self.waiting or self._taken + size > _MOST:
            await self._wait(user, size)
        else:
            self._taken += size
        try:
            yield
        finally:
            self._taken -= size
            self._next()

    async def _wait(self, user: str, size: int) -> None:
        if self.waiting >= _WAITING or len(self._queues.get(user, ())) >= _OWN:
            raise self._refusal()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(user, deque()).append((size, turn))
        self.waiting += 1
        try:
            async with asyncio.timeout(_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # its turn came in the same moment
                self._taken -= size
                self._next()
            else:
                self._forget(user, size, turn)
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def _refusal(self) -> TooManyRequests:
        self.refused += 1
        return TooManyRequests(_REFUSAL, {"retryAfterSeconds": 1})

    def _forget(self, user: str, size: int, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(user, deque())
        if (size, turn) in queue:  # else it was passed over already
            queue.remove((size, turn))
            self.waiting -= 1
            if not queue:
                del self._queues[user]
        self._next()

    def _next(self) -> None:
        """Admit the next requests, as far as there is room."""
        while self._queues:
            user = next(iter(self._queues))
            queue = self._queues[user]
            size, turn = queue[0]
            if self._taken + size > _MOST and not turn.done():
                return
            queue.popleft()
            self.waiting -= 1
            del self._queues[user]
            if queue:
                self._queues[user] = queue  # behind all others
            if not turn.done():
                self._taken += size
                turn.set_result(None)
