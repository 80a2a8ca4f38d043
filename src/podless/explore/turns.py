"""Lets requests, answers and events pass one at a time, so that runs with the same schedule are the same.

The gate and its views queue here all that passes between the controller and the server. Each turn waits until the
controller has handled the one before. So the order follows from a rule, not from the speed of threads and connections:
events first, by revision, then answers, then requests. Requests that came before the last turn precede others, so that
a request that is repeated endlessly blocks nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

EVENT, ANSWER, REQUEST = range(3)

# (EVENT, ANSWER or REQUEST; a revision, for requests the value of `given_count` at arrival; a name)
Rank = tuple[int, int, str]
Take = Callable[[bool], None]


@dataclass(order=True, slots=True)
class _Turn:
    """A place in the queue.

    number: of its arrival. callback: called with True at its turn, with False if there is none.
    """

    rank: Rank
    number: int
    client: str = field(compare=False)
    callback: Take = field(compare=False)


class Turns:
    """The queue in front of the clients of one server.

    wait_for_rest: returns when no client has anything more to do. busy: requests in progress. count: turns requested so
    far. given_count: turns given so far.
    """

    def __init__(self, wait_for_rest: Callable[[Turns], Awaitable[None]]) -> None:
        self.busy = 0
        self.count = 0
        self.given_count = 0
        self._wait_for_rest = wait_for_rest
        self._waiting: list[_Turn] = []
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def has_waiting(self) -> bool:
        """Whether anything waits for a turn."""
        return bool(self._waiting)

    def queue_turn(self, rank: Rank, client: str, take: Take) -> None:
        """Call `take` at the turn."""
        self.count += 1
        self._waiting.append(_Turn(rank, self.count, client, take))
        self._arrived.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._give_turns())

    async def enter_turn(self, rank: Rank, client: str) -> bool:
        """Wait for a turn, and be busy until `leave_turn`. Return False if the client was killed meanwhile."""
        coming: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def take_turn(came: bool) -> None:
            if not coming.done():  # the client may have closed the connection
                self.busy += came  # at once, so that nothing else passes before the waiting task resumes
                coming.set_result(came)

        self.queue_turn(rank, client, take_turn)
        try:
            return await coming
        except asyncio.CancelledError:  # the client closed the connection
            self.busy -= coming.done() and not coming.cancelled() and coming.result()
            raise

    def leave_turn(self) -> None:
        """End a turn that `enter_turn` began."""
        self.busy -= 1

    async def step_aside(self, waiting: Awaitable[bool]) -> bool:
        """Give up the turn during a wait, and take a new turn afterwards."""
        self.busy -= 1
        came = False
        try:
            came = await waiting
        finally:
            self.busy += not came
        return came

    def drop_client(self, client: str) -> None:
        """Drop the turns for which a killed client waits."""
        dropped = [turn for turn in self._waiting if turn.client == client]
        self._waiting = [turn for turn in self._waiting if turn.client != client]
        for turn in dropped:
            turn.callback(False)

    def end_turns(self) -> None:
        """Give no more turns, and drop all waiting ones."""
        if self._task is not None:
            self._task.cancel()
        for client in {turn.client for turn in self._waiting}:
            self.drop_client(client)

    async def _give_turns(self) -> None:
        while True:
            self._arrived.clear()
            if not self._waiting:
                await self._arrived.wait()
            await self._wait_for_rest(self)
            if self._waiting:
                turn = min(self._waiting)
                self._waiting.remove(turn)
                self.given_count += 1
                turn.callback(True)
