"""The faults of a server: from Python, from objects, and from chaos."""

from __future__ import annotations

import random
import threading
from collections.abc import Awaitable, Callable, Iterator
from inspect import signature
from typing import Any

from podless.http.faults.fault import GROUP, BadFault, InjectedFault, Kinds
from podless.http.message import HTTPRequest
from podless.runtime.arguments import reject_unknown_names

MIXTURE: tuple[dict[str, Any], ...] = (
    {"probability": 0.02, "status": 500},
    {"probability": 0.02, "status": 503},
    {"probability": 0.02, "status": 504},
    {"probability": 0.02, "status": 429, "retry_after": 1},
    {"verb": "update", "probability": 0.1, "status": 409},
    {"verb": "patch", "probability": 0.05, "status": 409},
    {"probability": 0.02, "drop": "before"},
    {"probability": 0.02, "drop": "after"},
    {"probability": 0.1, "delay": 0.05},
    {"verb": "watch", "probability": 0.05, "status": 410},
    {"verb": "watch", "probability": 0.2, "cut_after": 5},
    {"verb": "watch", "probability": 0.1, "expire_after": 3},
    {"verb": "watch", "probability": 0.1, "duplicate": 2},
    {"verb": "watch", "probability": 0.1, "burst": 0.2, "compress": True},
)
AGENT = "podless-test"
GROUPS = ("apiextensions.k8s.io", "admissionregistration.k8s.io", "authorization.k8s.io", "authentication.k8s.io")
SPARED: dict[str, Any] = {"spared": GROUPS, "spared_agent": AGENT}

EXEMPT = "this process"  # peer of this process' own requests, which never fail
_OWN_PATH = f"/apis/{GROUP}"


class Faults:
    """The faults of a server; the first one that matches and fires is injected. Usable from any thread.

    Faults of objects (objects.py) come after those from Python, in the order of their names. Requests for Faults, and
    the process' own requests, never fail. kinds: returns the kind of a resource. settle: writes pending counts of
    objects.
    """

    kinds: Kinds = staticmethod(lambda group, resource: "")
    settle: Callable[[], Awaitable[None]] | None = None

    def __init__(self) -> None:
        self._added: tuple[InjectedFault, ...] = ()
        self._objects: dict[str, InjectedFault] = {}
        self._faults: tuple[InjectedFault, ...] = ()
        self._lock = threading.Lock()

    def add(self, fault: InjectedFault | None = None, /, **fields: Any) -> InjectedFault:
        """Add a fault and return it: an InjectedFault, or its fields. Raises BadFault."""
        if fault is None:
            try:
                reject_unknown_names(fields, signature(InjectedFault).parameters, "a fault has no field")
                fault = InjectedFault(**fields)
            except TypeError as error:
                raise BadFault(str(error)) from None
        with self._lock:
            self._replace_faults((*self._added, fault))
        return fault

    def remove(self, fault: InjectedFault) -> None:
        """Remove a fault."""
        with self._lock:
            self._replace_faults(tuple(added for added in self._added if added is not fault))

    def clear(self) -> None:
        """Remove all faults, except those of objects."""
        with self._lock:
            self._replace_faults(())

    def put_fault(self, name: str, fault: InjectedFault | None) -> None:
        """Set the fault of an object; None removes it."""
        with self._lock:
            self._objects.pop(name, None)
            if fault is not None:
                self._objects[name] = fault
            self._replace_faults(self._added)

    def _replace_faults(self, added: tuple[InjectedFault, ...]) -> None:
        self._added = added
        self._faults = (*added, *(self._objects[name] for name in sorted(self._objects)))

    @property
    def added(self) -> tuple[InjectedFault, ...]:
        """The faults from Python; assign an earlier value to restore it."""
        return self._added

    @added.setter
    def added(self, faults: tuple[InjectedFault, ...]) -> None:
        with self._lock:
            self._replace_faults(faults)

    @property
    def objects(self) -> dict[str, InjectedFault]:
        """The faults of objects, by name."""
        with self._lock:
            return dict(self._objects)

    def chaos(self, seed: int | None = None) -> int:
        """Add random faults that a correct client survives; the same seed gives the same faults.

        Returns the seed.
        """
        seed = random.randrange(1 << 31) if seed is None else seed
        for index, fields in enumerate(MIXTURE):
            self.add(label=f"chaos {seed}", seed=seed + index, **SPARED, **fields)
        return seed

    def __iter__(self) -> Iterator[InjectedFault]:
        return iter(self._faults)

    def __bool__(self) -> bool:
        return bool(self._faults)

    def pick(self, request: HTTPRequest) -> InjectedFault | None:
        """Return the fault to inject into a request; None for none."""
        attributes = request.info.attributes
        if request.peer == EXEMPT or attributes.group == GROUP or request.path.startswith(_OWN_PATH):
            return None
        fitting = (fault for fault in self._faults if fault.matches_request(request, self.kinds))
        key = f"{attributes.verb} {attributes.group}/{attributes.resource}/{attributes.subresource}"
        return next((fault for fault in fitting if fault.draw_failure(key)), None)

    def webhook(self, url: str) -> bool:
        """Return whether a call to a webhook must time out."""
        candidates = (fault for fault in self._faults if fault.webhook and url.startswith(fault.webhook))
        return any(fault.draw_failure(url) for fault in candidates)
