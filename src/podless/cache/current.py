"""Asks the store for its newest revision, once for all callers that wait at the same time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial

log = logging.getLogger("podless")

_TURN = 16  # of those who go on in one turn of the loop
# is called with nothing where one can go on, or with why not
Go = Callable[[BaseException | None], None]


class FreshnessScope:
    """Work that has waited for all that was acknowledged before it, and need not again while it lasts."""

    over = False


_SCOPE: ContextVar[FreshnessScope | None] = ContextVar("scope", default=None)


def begin_waited() -> FreshnessScope:
    """Mark that this context has waited for the current state. `over` ends the mark, also for its child tasks."""
    scope = FreshnessScope()
    _SCOPE.set(scope)
    return scope


def has_waited() -> bool:
    """Return whether the present work has waited already."""
    scope = _SCOPE.get()
    return scope is not None and not scope.over


class RevisionQuestion:
    """Asks for the newest revision, as long as callers wait for it.

    A caller that comes after a question was sent waits for the next one, because the answer may be older than the
    caller's knowledge. The next question is sent when the callers of the last one (or many of them) have gone on and
    their clients had a chance to send more requests, so that many share the cost of a question. ask: returns the newest
    revision. shown: returns the revision that is shown here. reach: waits until one is shown.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[int]], shown: Callable[[], int], reach: Callable[[int], Awaitable[None]]
    ) -> None:
        self._ask = ask
        self._shown = shown
        self._reach = reach
        self._parked: list[Go] = []
        self._asking = False
        self._reaching: set[asyncio.Task[None]] = set()

    def call_when_current(self, go: Go) -> None:
        """Call `go` later, when the cache shows everything that a client can have seen before this call."""
        self._parked.append(go)
        if not self._asking:
            self._asking = True
            asyncio.get_running_loop().call_soon(self._ask_store)  # for all who come in this turn

    def wait(self) -> asyncio.Future[None]:
        """Return a future that is done when `go` would be called. It fails if asking or reaching the revision fails."""
        known: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.call_when_current(partial(_settle, known))
        return known

    def _ask_store(self) -> None:
        if not self._parked:
            self._asking = False
            return
        together, self._parked = self._parked, []
        asyncio.ensure_future(self._ask()).add_done_callback(partial(self._take_answer, together))

    def _take_answer(self, together: list[Go], asked: asyncio.Future[int]) -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._ask_store)
        error = asyncio.CancelledError() if asked.cancelled() else asked.exception()
        if error is not None or self._shown() >= asked.result():
            _let_go(together, error)
        else:
            task = loop.create_task(self._later(asked.result(), together))
            self._reaching.add(task)
            task.add_done_callback(self._reaching.discard)

    async def _later(self, revision: int, together: list[Go]) -> None:
        try:
            await self._reach(revision)
        except BaseException as error:
            _let_go(together, error)
            if not isinstance(error, Exception):
                raise
        else:
            _let_go(together, None)


def _let_go(together: list[Go], error: BaseException | None, start: int = 0) -> None:
    """Wake waiting callers, some in each turn of the loop."""
    end = start + _TURN
    for go in together[start:end]:
        try:
            go(error)
        except Exception:
            log.exception("cache: a waiting request failed")
    if end < len(together):
        asyncio.get_running_loop().call_soon(_let_go, together, error, end)


def _settle(known: asyncio.Future[None], error: BaseException | None) -> None:
    if known.done():
        return
    if error is None:
        known.set_result(None)
    elif isinstance(error, asyncio.CancelledError):
        known.cancel()
    else:
        known.set_exception(error)
        known.exception()  # who has asked may be gone
