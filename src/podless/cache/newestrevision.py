"""Reads the newest revision of the store, once for all concurrent callers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial

from podless.runtime.traces import trace_error

log = logging.getLogger("podless")

_TURN = 16  # callers that are resumed in one turn of the loop
# called with None to go on, or with the error
Go = Callable[[BaseException | None], None]


class FreshnessScope:
    """A scope in which the current state was awaited once, so that later reads need not wait again."""

    ended = False


_SCOPE: ContextVar[FreshnessScope | None] = ContextVar("scope", default=None)


def begin_waited() -> FreshnessScope:
    """Mark that this context has waited for the current state. Setting `ended` ends the mark, also for child tasks."""
    scope = FreshnessScope()
    _SCOPE.set(scope)
    return scope


def has_waited() -> bool:
    """Return whether the current context has waited."""
    scope = _SCOPE.get()
    return scope is not None and not scope.ended


class RevisionReader:
    """Reads the newest revision, as long as callers wait for it.

    A caller that arrives after a read was sent waits for the next one, because the answer can be older than the
    caller's knowledge. The next read is sent after the callers of the last one, or many of them, were resumed and their
    clients could send more requests. So many callers share a read. read: returns the newest revision. shown_revision:
    returns the revision that is shown here. reach: waits until a revision is shown.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[int]],
        shown_revision: Callable[[], int],
        reach: Callable[[int], Awaitable[None]],
    ) -> None:
        self._ask = read
        self._shown_revision = shown_revision
        self._reach = reach
        self._parked: list[Go] = []
        self._asking = False
        self._reaching: set[asyncio.Task[None]] = set()

    def call_when_current(self, go: Go) -> None:
        """Call `go` later, when the cache shows everything that a client can have seen before this call."""
        self._parked.append(go)
        if not self._asking:
            self._asking = True
            asyncio.get_running_loop().call_soon(self._ask_store)  # shared by all callers of this turn

    def wait_until_current(self) -> asyncio.Future[None]:
        """Return a future that completes when `go` would be called. It fails if the read or the wait fails."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.call_when_current(partial(_settle_future, future))
        return future

    def _ask_store(self) -> None:
        if not self._parked:
            self._asking = False
            return
        together, self._parked = self._parked, []
        asyncio.ensure_future(self._ask()).add_done_callback(partial(self._take_answer, together))

    def _take_answer(self, callers: list[Go], reading: asyncio.Future[int]) -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._ask_store)
        error = asyncio.CancelledError() if reading.cancelled() else reading.exception()
        if error is not None or self._shown_revision() >= reading.result():
            _let_go(callers, error)
        else:
            task = loop.create_task(self._answer_later(reading.result(), callers))
            self._reaching.add(task)
            task.add_done_callback(self._reaching.discard)

    async def _answer_later(self, revision: int, callers: list[Go]) -> None:
        try:
            await self._reach(revision)
        except BaseException as error:
            _let_go(callers, error)
            if not isinstance(error, Exception):
                raise
        else:
            _let_go(callers, None)


def _let_go(together: list[Go], error: BaseException | None, start: int = 0) -> None:
    """Resume waiting callers, some in each turn of the loop."""
    end = start + _TURN
    for go in together[start:end]:
        try:
            go(error)
        except Exception as failure:
            log.error("cache: a waiting request failed: %s", trace_error(failure))
    if end < len(together):
        asyncio.get_running_loop().call_soon(_let_go, together, error, end)


def _settle_future(future: asyncio.Future[None], error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    elif isinstance(error, asyncio.CancelledError):
        future.cancel()
    else:
        future.set_exception(error)
        future.exception()  # mark the exception as retrieved: the caller can be gone
