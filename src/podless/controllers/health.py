"""Health checks of the server.

Names and answers are those of k8s.io/apiserver (pkg/server/healthz) and of kube-apiserver's hooks; podless adds its own
checks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from podless.controllers.controller import Controller
from podless.runtime.datafiles import read_rows

_INFORMERS = "informer-sync"  # only in readyz, right after the checks of etcd
# kube-apiserver's checks in its order, with the podless controllers that do the same work
_APISERVER_CHECKS = {name: aliases for name, *aliases in read_rows(Path(__file__).with_name("health.txt"))}
_ORDER = {name: rank for rank, name in enumerate(_APISERVER_CHECKS)}
_LAST_CHECK = "shutdown"

LIVE, READY = ("healthz", "livez", "readyz"), ("readyz",)
ABSENT_KEY = "/health"  # a key that never exists
_CHECK_TIMEOUT = 2.0  # seconds until a check fails

Check = Callable[[], Awaitable[object] | None]


class CheckFailed(Exception):
    """A check failed. The text says why."""


class HealthChecks:
    """The checks of one server, in the order of their addition."""

    def __init__(self) -> None:
        self._checks: dict[str, tuple[Check, tuple[str, ...]]] = {}
        self.add_check("ping", _check_ping)
        self.add_check("log", _check_log)

    def add_check(self, name: str, check: Check, endpoints: tuple[str, ...] = LIVE) -> None:
        """Add a check to the endpoints in `endpoints`. It fails by raising an exception, directly or when awaited."""
        self._checks[name] = check, endpoints

    def add_known(self) -> None:
        """Add kube-apiserver's checks that are missing. Call this after adding the checks of controllers."""
        for name, aliases in _APISERVER_CHECKS.items():
            if name not in self._checks:
                check = next((self._checks[other][0] for other in aliases if other in self._checks), _check_ping)
                self.add_check(name, check, READY if name == _INFORMERS else LIVE)

    def list_checks(self, endpoint: str) -> Iterator[str]:
        """Yield the names of the checks of healthz, livez or readyz: kube-apiserver's, then podless' own."""
        names = [name for name, (_, places) in self._checks.items() if endpoint in places]
        names.sort(key=lambda name: (name == _LAST_CHECK, _ORDER.get(name, len(_ORDER))))
        return iter(names)

    async def find_fault(self, name: str) -> str:
        """Return the error of a check, "" if it succeeds."""
        try:
            outcome = self._checks[name][0]()
            if outcome is not None:
                await asyncio.wait_for(outcome, _CHECK_TIMEOUT)
        except TimeoutError:
            return f"no answer within {_CHECK_TIMEOUT:g}s"
        except Exception as error:
            return str(error) or type(error).__name__
        return ""


def _check_ping() -> None:
    """Do nothing, and so succeed whenever the server answers."""


def _check_log() -> None:
    """Flush the log. A full disk is no failure, because a restart would not help."""
    for handler in [*logging.getLogger("podless").handlers, *logging.root.handlers]:
        with contextlib.suppress(OSError):
            handler.flush()


def check_controller(running: Controller) -> Check:
    """Return a check that a controller works."""

    def check_error() -> None:
        if running.error:
            raise CheckFailed(running.error)

    return check_error
