"""Whose turn it is: bounds on what is worked on at once, and turns between users where several want more than there is.

As long as one user asks alone, a request goes straight to its handler. Once others ask too, what is begun in one turn
of the event loop is bounded, and what is over that waits in a queue of its user; the user who had least so far is next.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from podless.http.limits import Limits
from podless.http.message import TEXT, Answer, Ending, Handler, Pending, Request, Response, Sink, Stream, settled

_TURN = 0.0005  # seconds of work that are begun in one turn of the loop while several users ask
_LATER = 0.0002  # seconds that work is taken for which a handler only begins
_SHARED = 1.0  # seconds for which another user's request is remembered
_SWEEP = 0.5  # seconds between two looks at requests that wait
_REFUSAL = b"Too many requests, please try again later.\n"


class _Queue:
    """The requests of one user that wait, and the seconds of work that the user had."""

    __slots__ = ("entries", "spent")

    def __init__(self, spent: float) -> None:
        self.spent = spent
        self.entries: deque[tuple[Request, asyncio.Future[Any], float]] = deque()


class PriorityAndFairness:
    """The filter that hands requests on, each in its turn."""

    _handler: Handler

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._last = ""
        self._shared_until = 0.0
        self._left = _TURN  # seconds that may still be begun in this turn
        self._working: dict[str, int] = {}
        self._at_work = 0
        self._queues: dict[str, _Queue] = {}
        self._spent: dict[str, float] = {}
        self._waiting = 0
        self._turning = False
        self._sweeper: asyncio.TimerHandle | None = None
        self._watches: Counter[str] = Counter()
        self._watching = 0

    def filter(self, handler: Handler) -> Handler:
        """The handler, behind this."""
        self._handler = handler
        return self.handle

    def handle(self, request: Request) -> Answer | Pending:
        """The answer, or a coroutine that gives it; 429 where there is too much to do."""
        user = request.user.name
        if user != self._last:
            if self._last:
                self._shared_until = time.monotonic() + _SHARED
            self._last = user
        if not self._shared_until and not self._waiting and self._at_work < self._limits.in_flight:
            answer = self._handler(request)
            return answer if isinstance(answer, Response) else self._work(user, answer)
        return self._shared(user, request)

    def _shared(self, user: str, request: Request) -> Answer | Pending:
        """A request while others ask too, or too many are at work."""
        if not self._waiting and time.monotonic() > self._shared_until:
            self._shared_until = 0.0
            self._spent.clear()
        if user not in self._queues and self._left > 0 and self._room(user):
            return self._run(user, request)
        queue = self._queues.get(user)
        if (len(queue.entries) if queue is not None else 0) >= self._limits.queue:
            return too_many()
        if queue is None:
            queue = self._queues[user] = _Queue(self._start(user))
        turn: asyncio.Future[Any] = self._loop.create_future()
        queue.entries.append((request, turn, time.monotonic()))
        self._waiting += 1
        self._turn_soon()
        return self._later(turn)

    def _start(self, user: str) -> float:
        """What a user is taken to have had: no less than those who wait, so that nobody saves up."""
        least = min((queue.spent for queue in self._queues.values()), default=0.0)
        return max(self._spent.get(user, 0.0), least)

    def _room(self, user: str) -> bool:
        """Whether one more request of a user may be at work: together they have a bound, each user has half of it."""
        most = self._limits.in_flight
        return self._at_work < most and (self._working.get(user, 0) < max(most // 2, 1) or not self._shared_until)

    def _run(self, user: str, request: Request) -> Answer | Pending:
        """Begin a request. Raises what the handler raises."""
        began = time.perf_counter()
        more = 0.0
        try:
            answer = self._handler(request)
            if not isinstance(answer, Response):
                more = _LATER
                answer = self._work(user, answer)
            return answer
        finally:
            self._charge(user, time.perf_counter() - began + more)
            self._turn_soon()

    def _charge(self, user: str, cost: float) -> None:
        self._left -= cost
        if (queue := self._queues.get(user)) is not None:
            queue.spent += cost
        else:
            self._spent[user] = self._spent.get(user, 0.0) + cost

    async def _later(self, turn: asyncio.Future[Any]) -> Answer:
        try:
            return await settled(await turn)
        finally:
            del turn  # a refusal in it knows this frame, and with it the request

    def _work(self, user: str, pending: Any) -> Pending:
        """A request whose answer takes its time is counted until the answer is there."""
        self._at_work += 1
        self._working[user] = self._working.get(user, 0) + 1
        return self._finish(user, pending)

    async def _finish(self, user: str, pending: Any) -> Answer:
        try:
            answer: Answer = pending if isinstance(pending, Stream) else await pending
        finally:
            self._at_work -= 1
            left = self._working.pop(user) - 1
            if left:
                self._working[user] = left
            if self._waiting:
                self._turn_soon()
        return self._watch(user, answer) if isinstance(answer, Stream) else answer

    # turns

    def _turn_soon(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """A new turn of the loop: whoever had least goes first."""
        self._turning = False
        self._left = _TURN
        while self._waiting and self._left > 0:
            fitting = [(queue.spent, user) for user, queue in self._queues.items() if self._room(user)]
            if not fitting:
                break
            user = min(fitting)[1]
            request, turn = self._next(user)
            if turn.done():
                continue
            try:
                turn.set_result(self._run(user, request))
            except Exception as error:
                turn.set_exception(error)
        if self._waiting and self._sweeper is None:
            self._sweeper = self._loop.call_later(_SWEEP, self._sweep)

    def _next(self, user: str) -> tuple[Request, asyncio.Future[Any]]:
        """The first request that waits of a user."""
        queue = self._queues[user]
        request, turn, _ = queue.entries.popleft()
        self._waiting -= 1
        if not queue.entries:
            self._spent[user] = queue.spent
            del self._queues[user]
        return request, turn

    def _sweep(self) -> None:
        """Refuse what has waited too long."""
        self._sweeper = None
        oldest = time.monotonic() - self._limits.wait
        for user, queue in list(self._queues.items()):
            while queue.entries and queue.entries[0][2] < oldest:
                turn = self._next(user)[1]
                if not turn.done():
                    turn.set_result(too_many())
        if self._waiting:
            self._sweeper = self._loop.call_later(_SWEEP, self._sweep)

    # watches

    def _watch(self, user: str, stream: Stream) -> Answer:
        """A watch is counted until it ends: all together have a bound, and each user has half of it."""
        most = self._limits.watches
        if self._watching >= most or self._watches[user] >= max(most // 2, 1):
            return too_many()
        start = stream.start

        def begin(sink: Sink) -> Callable[[], None]:
            counted = Ending(sink, lambda: self._watched(user))
            self._watching += 1
            self._watches[user] += 1
            stop = start(counted)

            def end() -> None:
                counted.tell()
                stop()

            return end

        stream.start = begin
        return stream

    def _watched(self, user: str) -> None:
        self._watching -= 1
        self._watches[user] -= 1
        if not self._watches[user]:
            del self._watches[user]


def too_many() -> Response:
    """What a real server says to more than it can do."""
    return Response(429, [_REFUSAL], TEXT, [("Retry-After", "1"), ("X-Content-Type-Options", "nosniff")])
