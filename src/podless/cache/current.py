"""What may have happened elsewhere: the store is asked for its newest revision, once for all who wait together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar


class Scope:
    """Work that has waited for all that was acknowledged before it, and need not again while it lasts."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        self.over = False


_SCOPE: ContextVar[Scope | None] = ContextVar("scope", default=None)


def begin() -> Scope:
    """Say that what this context does has waited; `over` ends that, also for what it has started meanwhile."""
    scope = Scope()
    _SCOPE.set(scope)
    return scope


def begun() -> bool:
    """Whether the present work has waited already."""
    scope = _SCOPE.get()
    return scope is not None and not scope.over


class Question:
    """Asks for the newest revision, again and again while there is somebody who wants to know.

    An answer may be older than who comes after the question was put: he waits for the next one. ask: gives the
    newest revision there is, shown: the one that is shown here. reach: waits until one is.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[int]], shown: Callable[[], int], reach: Callable[[int], Awaitable[None]]
    ) -> None:
        self._ask = ask
        self._shown = shown
        self._reach = reach
        self._waiting: list[asyncio.Future[None]] = []
        self._asking: asyncio.Task[None] | None = None
        self._reaching: set[asyncio.Task[None]] = set()

    def wait(self) -> asyncio.Future[None]:
        """Done when all is shown here that anybody was told of before this call; fails as asking and reaching do."""
        loop = asyncio.get_running_loop()
        known = loop.create_future()
        self._waiting.append(known)
        if self._asking is None:
            self._asking = loop.create_task(self._run())
        return known

    async def _run(self) -> None:
        try:
            while self._waiting:
                together, self._waiting = self._waiting, []
                try:
                    revision = await self._ask()
                except BaseException as error:
                    _settle(together, error)
                    if not isinstance(error, Exception):
                        raise
                else:
                    self._pass(revision, together)
        finally:
            self._asking = None

    def _pass(self, revision: int, together: list[asyncio.Future[None]]) -> None:
        """Let those go on who waited for a revision: at once where it is shown, or when it is."""
        if self._shown() >= revision:
            _settle(together, None)
        else:
            task = asyncio.get_running_loop().create_task(self._later(revision, together))
            self._reaching.add(task)
            task.add_done_callback(self._reaching.discard)

    async def _later(self, revision: int, together: list[asyncio.Future[None]]) -> None:
        try:
            await self._reach(revision)
        except BaseException as error:
            _settle(together, error)
            if not isinstance(error, Exception):
                raise
        else:
            _settle(together, None)


def _settle(together: list[asyncio.Future[None]], error: BaseException | None) -> None:
    for each in together:
        if not each.done():
            if error is None:
                each.set_result(None)
            elif isinstance(error, asyncio.CancelledError):
                each.cancel()
            else:
                each.set_exception(error)
                each.exception()  # who has asked may be gone
