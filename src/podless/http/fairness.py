"""Fair queueing between users, with limits on requests in flight.

While one user is active, requests go straight to their handlers. While several are active, one iteration of the event
loop starts a bounded amount of work. Other requests are queued by user, and the user with the least work so far is
next. Work from the time when a user was alone does not count (start-time fair queueing).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict, deque
from functools import partial
from typing import Any

from podless.http.flows import Flows
from podless.http.limits import Limits
from podless.http.message import TEXT, Answer, Handler, HTTPRequest, Pending, Response, Stream, settle_answer

_TURN = 0.001  # seconds of work that one iteration of the loop starts while several users are active
_LATER = 0.0002  # seconds charged for a request whose handler continues later
_WIRE = 0.0001  # seconds charged for reading a request and sending its answer
_MAX_ACCOUNTS = 1000  # accounts that are kept; with more, those that change nothing are dropped
_SHARED = 1.0  # seconds for which another user counts as active
_SWEEP = 0.5  # seconds between two checks for requests that waited too long
_REFUSAL = b"Too many requests, please try again later.\n"


# queued requests of one user, with the time since when they wait
_Queue = deque[tuple[HTTPRequest, asyncio.Future[Any], float]]


class PriorityAndFairness:
    """The filter that starts requests in fair order."""

    _handler: Handler

    def __init__(self, limits: Limits, flows: Flows | None = None) -> None:
        self._limits = limits
        self._flows = flows
        if flows is not None:
            flows.waiting = self._all_waiting
        self._loop = asyncio.get_running_loop()
        self._last = ""
        self._shared_until = 0.0
        self._remaining = _TURN  # seconds of work that this iteration may still start
        self._working: defaultdict[str, int] = defaultdict(int)  # requests in flight, by user
        self._at_work = 0
        self._queues: dict[str, _Queue] = {}
        self._accounts: dict[str, float] = {}  # seconds of work, by user
        self._fair = 0.0  # the account of the user who was served last; the minimum for all others
        self._waiting = 0
        self._turning = False
        self._sweeper: asyncio.TimerHandle | None = None
        self._watches: Counter[str] = Counter()
        self._watching = 0

    def wrap_handler(self, handler: Handler) -> Handler:
        """Return a handler that starts requests in fair order."""
        self._handler = handler
        return self.handle

    def handle(self, request: HTTPRequest) -> Answer | Pending:
        """Return the answer, or a coroutine that returns it; 429 if too many requests are queued."""
        user = request.user.name
        if user != self._last:
            if self._last:
                self._shared_until = time.monotonic() + _SHARED
            self._last = user
        if not self._shared_until and not self._waiting and self._at_work < self._limits.in_flight:
            answer = self._handler(request)
            return answer if isinstance(answer, Response) else self._count_request(user, request, answer)
        return self._handle_shared(user, request)

    def _handle_shared(self, user: str, request: HTTPRequest) -> Answer | Pending:
        """Handle a request while other users are active, or the limit of requests in flight is reached."""
        if not self._waiting and time.monotonic() > self._shared_until:
            self._shared_until = self._fair = 0.0
            self._accounts.clear()
        if user not in self._queues and self._may_start(user) and self._has_room(user):
            if not self._waiting:
                self._fair = self._account_of(user)
            return self._begin_request(user, request)
        queue = self._queues.get(user, deque())
        if len(queue) >= self._limits.queue:
            return self._reject_request(request, "queue-full")
        self._queues[user] = queue
        turn: asyncio.Future[Any] = self._loop.create_future()
        queue.append((request, turn, time.monotonic()))
        self._waiting += 1
        self._schedule_turn()
        return self._await_turn(turn)

    def _may_start(self, user: str) -> bool:
        """Return whether a request may start now. A full iteration still starts requests of users with little work."""
        return self._remaining > 0 or (self._remaining > -_TURN and self._accounts.get(user, 0.0) <= self._fair + _TURN)

    def _has_room(self, user: str) -> bool:
        """Return whether a request of a user may start. Users share one limit; each may use half of it."""
        limit = self._limits.in_flight
        return self._at_work < limit and (self._working.get(user, 0) < max(limit // 2, 1) or not self._shared_until)

    def _begin_request(self, user: str, request: HTTPRequest) -> Answer | Pending:
        """Start a request, and charge its time to the user. Raises the error of the handler."""
        began = time.thread_time()  # processor time of this thread only: other threads are charged to no user
        extra = _WIRE
        account = self._account_of(user)
        try:
            answer = self._handler(request)
            if not isinstance(answer, Response):
                extra = _WIRE + _LATER
                answer = self._count_request(user, request, answer)
            return answer
        finally:
            cost = time.thread_time() - began + extra
            self._remaining -= cost
            self._accounts[user] = account + cost
            self._schedule_turn()

    async def _await_turn(self, turn: asyncio.Future[Any]) -> Answer:
        try:
            return await settle_answer(await turn)
        finally:
            del turn  # its exception refers to this frame, and so to the request

    def _count_request(self, user: str, request: HTTPRequest, pending: Any) -> Pending:
        """Count a request as in flight until its handler ends."""
        self._at_work += 1
        self._working[user] += 1
        return self._await_handler(user, request, pending)

    async def _await_handler(self, user: str, request: HTTPRequest, pending: Any) -> Answer:
        try:
            answer: Answer = pending if isinstance(pending, Stream) else await pending
        finally:
            self._at_work -= 1
            self._working[user] -= 1
            if self._waiting:
                self._schedule_turn()
        return self._count_watch(user, request, answer) if isinstance(answer, Stream) else answer

    # turns

    def _schedule_turn(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._start_queued)

    def _start_queued(self) -> None:
        """Start queued requests in this iteration of the loop, beginning with the user with the least work."""
        self._turning = False
        self._remaining = _TURN
        while self._waiting and self._remaining > 0:
            fitting = [user for user in self._queues if self._has_room(user)]
            if not fitting:
                break
            user = min(fitting, key=self._account_of)
            self._fair = self._account_of(user)
            request, turn, since = self._pop_request(user)
            if turn.done():
                continue
            if self._flows is not None:
                self._flows.count_wait(request, time.monotonic() - since, execute=True)
            try:
                turn.set_result(self._begin_request(user, request))
            except Exception as error:
                turn.set_exception(error)
        if self._waiting and self._sweeper is None:
            self._sweeper = self._loop.call_later(_SWEEP, self._reject_overdue)
        if len(self._accounts) > _MAX_ACCOUNTS:
            self._accounts = {user: used for user, used in self._accounts.items() if used > self._fair}
        if len(self._working) > _MAX_ACCOUNTS:
            self._working = defaultdict(int, {user: count for user, count in self._working.items() if count})

    def _account_of(self, user: str) -> float:
        """Return the seconds of work on a user's account. The user with the least is next."""
        return max(self._accounts.get(user, 0.0), self._fair)

    def _all_waiting(self) -> list[HTTPRequest]:
        return [request for queue in self._queues.values() for request, _, _ in queue]

    def _reject_request(self, request: HTTPRequest, reason: str) -> Response:
        if self._flows is not None:
            self._flows.count_rejected(request, reason)
        return make_too_many_answer()

    def _pop_request(self, user: str) -> tuple[HTTPRequest, asyncio.Future[Any], float]:
        """Return the first queued request of a user, with its future and the time since when it waits."""
        queue = self._queues[user]
        request, turn, since = queue.popleft()
        self._waiting -= 1
        del self._queues[user]
        if queue:
            self._queues[user] = queue  # behind users with equal accounts
        return request, turn, since

    def _reject_overdue(self) -> None:
        self._sweeper = None
        oldest = time.monotonic() - self._limits.wait
        for user, queue in list(self._queues.items()):
            while queue and queue[0][2] < oldest:
                request, turn, since = self._pop_request(user)
                if not turn.done():
                    if self._flows is not None:
                        self._flows.count_wait(request, time.monotonic() - since, execute=False)
                    turn.set_result(self._reject_request(request, "time-out"))
        if self._waiting:
            self._sweeper = self._loop.call_later(_SWEEP, self._reject_overdue)

    # watches

    def _count_watch(self, user: str, request: HTTPRequest, stream: Stream) -> Answer:
        """Count a watch until it ends. All watches share a limit; one user may use half of it."""
        limit = self._limits.watches
        if self._watching >= limit or self._watches[user] >= max(limit // 2, 1):
            stream.abandon()
            return self._reject_request(request, "concurrency-limit")
        stream.follow(partial(self._note_watch, user, 1), partial(self._note_watch, user, -1))
        return stream

    def _note_watch(self, user: str, count: int) -> None:
        self._watching += count
        self._watches[user] += count
        if not self._watches[user]:
            del self._watches[user]


def make_too_many_answer() -> Response:
    """Return a real server's 429."""
    return Response(429, [_REFUSAL], TEXT, [("Retry-After", "1"), ("X-Content-Type-Options", "nosniff")])
