"""Turns: requests, answers and events pass one at a time.

Each waits until the controller has done what follows from the one before. So their order comes from a rule, and not
from the speed of threads and connections: events first, in the order of their revisions, then answers, then requests.
Requests that came before the last turn precede others, so that one that is repeated again and again holds up nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

EVENT, ANSWER, REQUEST = range(3)

Rank = tuple[int, int, str]  # EVENT, ANSWER or REQUEST; a revision, or for requests `given` when it came; a name
Take = Callable[[bool], None]


@dataclass(order=True, slots=True)
class _Turn:
    """A place in the queue. number: of its arrival. take: called with True when the turn comes, with False if never."""

    rank: Rank
    number: int
    client: str = field(compare=False)
    take: Take = field(compare=False)


class Turns:
    """The queue in front of the clients of one server.

    rest: returns when no client has anything more to do. busy: requests that are being carried out. count: turns that
    were asked for so far. given: turns that came so far.
    """

    def __init__(self, rest: Callable[[Turns], Awaitable[None]]) -> None:
        self.busy = 0
        self.count = 0
        self.given = 0
        self._rest = rest
        self._waiting: list[_Turn] = []
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def pending(self) -> bool:
        """Whether anything waits for its turn."""
        return bool(self._waiting)

    def queue(self, rank: Rank, client: str, take: Take) -> None:
        """Call `take` when the turn has come."""
        self.count += 1
        self._waiting.append(_Turn(rank, self.count, client, take))
        self._arrived.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._give_turns())

    async def enter(self, rank: Rank, client: str) -> bool:
        """Wait for a turn, and be busy from then on until `leave`. Return False if the client was killed meanwhile."""
        coming: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def take(came: bool) -> None:
            if not coming.done():  # its client may have closed the connection
                self.busy += came  # now, so that nothing else passes before the waiting task goes on
                coming.set_result(came)

        self.queue(rank, client, take)
        try:
            return await coming
        except asyncio.CancelledError:  # the client closed the connection
            self.busy -= coming.done() and not coming.cancelled() and coming.result()
            raise

    def leave(self) -> None:
        """End what `enter` began."""
        self.busy -= 1

    async def step_aside(self, waiting: Awaitable[bool]) -> bool:
        """Let others pass while something is waited for that ends with a turn, and be busy again after that."""
        self.busy -= 1
        came = False
        try:
            came = await waiting
        finally:
            self.busy += not came
        return came

    def drop(self, client: str) -> None:
        """Drop what a client that was killed waits for."""
        dropped = [turn for turn in self._waiting if turn.client == client]
        self._waiting = [turn for turn in self._waiting if turn.client != client]
        for turn in dropped:
            turn.take(False)

    def end(self) -> None:
        """Give no more turns, and drop what waits for one."""
        if self._task is not None:
            self._task.cancel()
        for client in {turn.client for turn in self._waiting}:
            self.drop(client)

    async def _give_turns(self) -> None:
        while True:
            self._arrived.clear()
            if not self._waiting:
                await self._arrived.wait()
            await self._rest(self)
            if self._waiting:
                turn = min(self._waiting)
                self._waiting.remove(turn)
                self.given += 1
                turn.take(True)
