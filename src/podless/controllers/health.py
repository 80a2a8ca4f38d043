"""Whether the server is well: named checks, each of which looks at the thing itself.

Names and answers are those of k8s.io/apiserver (pkg/server/healthz), for what podless has of what they are about.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator

from podless.controllers.controller import Controller
from podless.store import Store

LIVE, READY = ("healthz", "livez", "readyz"), ("readyz",)
_NOWHERE = "/health"  # a key that nobody writes
_PATIENCE = 2.0  # seconds; a check that takes longer has failed

Check = Callable[[], Awaitable[None] | None]


class Unhealthy(Exception):
    """A check has failed; the text says why."""


class Health:
    """The checks of one server, in the order in which they were added."""

    def __init__(self) -> None:
        self._checks: dict[str, tuple[Check, tuple[str, ...]]] = {}
        self.add("ping", _ping)
        self.add("log", _log)

    def add(self, name: str, check: Check, where: tuple[str, ...] = LIVE) -> None:
        """Have a check answered under all that `where` names. It raises, now or later, where all is not well."""
        self._checks[name] = check, where

    def names(self, where: str) -> Iterator[str]:
        """The checks that are answered under one of healthz, livez and readyz."""
        return (name for name, (_, places) in self._checks.items() if where in places)

    async def fault(self, name: str) -> str:
        """Why a check fails, "" where it does not."""
        try:
            outcome = self._checks[name][0]()
            if outcome is not None:
                await asyncio.wait_for(outcome, _PATIENCE)
        except TimeoutError:
            return f"no answer within {_PATIENCE:g}s"
        except Exception as error:
            return str(error) or type(error).__name__
        return ""


def _ping() -> None:
    """Whoever is asked is there."""


def _log() -> None:
    """What was logged goes out without holding up the rest; that there is no room for it ends no server."""
    for handler in [*logging.getLogger("podless").handlers, *logging.root.handlers]:
        with contextlib.suppress(OSError):
            handler.flush()


def store(asked: Store) -> Check:
    """Whether a store answers: it is asked for what is never there."""

    async def check() -> None:
        await asked.range(_NOWHERE)

    return check


def writable(asked: Store) -> Check:
    """Whether a store takes writes as well. Nobody is helped where a server is started anew for want of room."""
    return asked.check


def controller(running: Controller) -> Check:
    """Whether a controller does its work."""

    def check() -> None:
        if running.error:
            raise Unhealthy(running.error)

    return check
