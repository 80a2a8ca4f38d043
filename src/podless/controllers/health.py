"""The health of the server: named checks, each of which tests the thing itself.

Names and answers are those of k8s.io/apiserver (pkg/server/healthz) and of kube-apiserver's hooks; podless adds its own
checks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator

from podless.controllers.controller import Controller
from podless.store import Store

_HOOK = "poststarthook/"
_PRODUCER = f"{_HOOK}bootstrap-controller"
_INFORMERS = "informer-sync"  # of readyz alone, as the two after etcd are
# A real server's checks in its order, and the controllers that do here what they are about. "" for what is done when
# the server answers, or not at all: whoever asks for its name wants to know whether the server has started.
_KNOWN = {
    "ping": "",
    "log": "",
    "etcd": "",
    "etcd-readiness": "",
    _INFORMERS: "",
    f"{_HOOK}start-apiserver-admission-initializer": "",
    f"{_HOOK}generic-apiserver-start-informers": "",
    f"{_HOOK}priority-and-fairness-config-consumer": "api-priority-and-fairness-config-consumer-v1",
    f"{_HOOK}priority-and-fairness-filter": "",
    f"{_HOOK}storage-object-count-tracker-hook": "",
    f"{_HOOK}start-apiextensions-informers": "",
    f"{_HOOK}start-apiextensions-controllers": "",
    f"{_HOOK}crd-informer-synced": f"{_HOOK}start-apiextensions-controllers",
    f"{_HOOK}start-system-namespaces-controller": "",
    f"{_HOOK}start-cluster-authentication-info-controller": "",
    f"{_HOOK}start-kube-apiserver-identity-lease-controller": "",
    f"{_HOOK}start-kube-apiserver-identity-lease-garbage-collector": "",
    f"{_HOOK}start-legacy-token-tracking-controller": "",
    f"{_HOOK}start-service-ip-repair-controllers": "",
    f"{_HOOK}rbac/bootstrap-roles": "",
    f"{_HOOK}scheduling/bootstrap-system-priority-classes": _PRODUCER,
    f"{_HOOK}priority-and-fairness-config-producer": _PRODUCER,
    _PRODUCER: "",
    f"{_HOOK}start-kube-aggregator-informers": "",
    f"{_HOOK}apiservice-status-local-available-controller": "autoregister-completion",
    f"{_HOOK}apiservice-status-remote-available-controller": "",
    f"{_HOOK}apiservice-registration-controller": "",
    f"{_HOOK}apiservice-discovery-controller": "",
    f"{_HOOK}kube-apiserver-autoregistration": "autoregister-completion",
    "autoregister-completion": "",
    f"{_HOOK}apiservice-openapi-controller": "",
    f"{_HOOK}apiservice-openapiv3-controller": "",
}
_ORDER = {name: place for place, name in enumerate(_KNOWN)}
_LAST = "shutdown"

LIVE, READY = ("healthz", "livez", "readyz"), ("readyz",)
_NOWHERE = "/health"  # a key that is never written
_PATIENCE = 2.0  # seconds; a check that takes longer has failed

Check = Callable[[], Awaitable[None] | None]


class Unhealthy(Exception):
    """A check has failed; the text says why."""


class Health:
    """The checks of one server, in the order in which they were added."""

    def __init__(self) -> None:
        self._checks: dict[str, tuple[Check, tuple[str, ...]]] = {}
        self.add_check("ping", _ping)
        self.add_check("log", _log)

    def add_check(self, name: str, check: Check, where: tuple[str, ...] = LIVE) -> None:
        """Add a check under all endpoints in `where`. It raises, at once or when awaited, if it fails."""
        self._checks[name] = check, where

    def add_known(self) -> None:
        """Add the checks of a real server that are not there yet. Those of controllers have to be there."""
        for name, behind in _KNOWN.items():
            if name not in self._checks:
                check = self._checks[behind][0] if behind in self._checks else _ping
                self.add_check(name, check, READY if name == _INFORMERS else LIVE)

    def names(self, where: str) -> Iterator[str]:
        """Yield the checks of healthz, livez or readyz: a real server's, then podless' own."""
        found = [name for name, (_, places) in self._checks.items() if where in places]
        found.sort(key=lambda name: (name == _LAST, _ORDER.get(name, len(_ORDER))))
        return iter(found)

    async def fault(self, name: str) -> str:
        """Return why a check fails, "" if it succeeds."""
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
    """Succeed whenever the server answers."""


def _log() -> None:
    """Flush the log. A full disk is no failure, because a restart would not help."""
    for handler in [*logging.getLogger("podless").handlers, *logging.root.handlers]:
        with contextlib.suppress(OSError):
            handler.flush()


def check_store(asked: Store) -> Check:
    """Return a check that reads an absent key from the store."""

    async def check() -> None:
        await asked.read_range(_NOWHERE)

    return check


def check_writable(asked: Store) -> Check:
    """Return a check that the store also accepts writes. It is not part of livez: a restart does not free space."""
    return asked.check_health


def check_controller(running: Controller) -> Check:
    """Return whether a controller does its work."""

    def check() -> None:
        if running.error:
            raise Unhealthy(running.error)

    return check
