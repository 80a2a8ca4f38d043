"""What is to go wrong, where and how often."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from podless.http.message import Request

GROUP = "testing.podless.dev"
EXEMPT = "this process"  # the peer of requests to which nothing happens
_DROPS = ("", "before", "after")


class BadFault(ValueError):
    """There can be no such fault; the text is one line for a person."""


@dataclass(slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong.

    Where: verb, resource ("widgets", "widgets.example.com" or "widgets.example.com/status"), namespace, name, user and
    agent (how the User-Agent begins) of the request, "" for any; webhook: how the address of a webhook begins, instead.
    How often: nth: only the nth request that fits, from 1 on; times: so many at the most; 0 for no bound. probability:
    of each, drawn from seed.

    What: delay: seconds before all else. status: the answer's code, with message and retry_after (seconds). drop: the
    connection ends "before" or "after" the request was carried out. older: a list is of so many revisions before. Of
    watches: cut_after: it ends after so many events; expire_after: with a 410; bookmarks: of events only these are
    sent; duplicate: each event so many times; burst: events of so many seconds come together.

    seen: requests that fitted. count: those to which it happened.
    """

    label: str = ""
    verb: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    user: str = ""
    agent: str = ""
    webhook: str = ""
    nth: int = 0
    times: int = 0
    probability: float = 1.0
    seed: int = field(default_factory=lambda: random.randrange(1 << 31))
    delay: float = 0.0
    status: int = 0
    message: str = ""
    retry_after: int = 0
    drop: str = ""
    older: int = 0
    cut_after: int | None = None
    expire_after: int | None = None
    bookmarks: bool = False
    duplicate: int = 1
    burst: float = 0.0
    seen: int = field(default=0, init=False)
    count: int = field(default=0, init=False)
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        if self.drop not in _DROPS:
            raise BadFault('drop is "before" or "after"')
        if self.status and not 400 <= self.status <= 599:
            raise BadFault("status is a code from 400 to 599")
        if not 0 <= self.probability <= 1:
            raise BadFault("probability is from 0 to 1")
        if self.duplicate < 1 or min(self.delay, self.burst, self.older, self.nth, self.times) < 0:
            raise BadFault("numbers are not negative, and duplicate is 1 at least")

    @classmethod
    def of(cls, label: str, given: Mapping[str, Any]) -> Fault:
        """The fault of a spec in camel case. Raises BadFault."""
        known = {_camel(one.name): one.name for one in fields(cls) if one.init and one.name != "label"}
        try:
            return cls(label=label, **{known[name]: value for name, value in given.items()})
        except KeyError as error:
            raise BadFault(f"unknown field {error}") from None
        except TypeError as error:
            raise BadFault(str(error)) from None

    @property
    def of_watches(self) -> bool:
        """Whether it happens to watches alone."""
        ends = self.cut_after is not None or self.expire_after is not None
        return ends or self.bookmarks or self.duplicate > 1 or self.burst > 0

    def fits(self, request: Request) -> bool:
        """Whether it is about such a request."""
        asked = request.info.asked
        return (
            not self.webhook
            and self.verb in ("", asked.verb)
            and (asked.verb == "watch" or not self.of_watches)
            and (asked.verb == "list" or not self.older)
            and (not self.resource or _is(self.resource, asked.resource, asked.group, asked.subresource))
            and self.namespace in ("", asked.namespace)
            and self.name in ("", asked.name)
            and self.user in ("", request.user.name)
            and request.headers.get("user-agent", "").startswith(self.agent)
        )

    def happens(self) -> bool:
        """Whether it happens to one more request that fits; it is counted."""
        self.seen += 1
        wanted = (not self.nth or self.seen == self.nth) and (not self.times or self.count < self.times)
        if not wanted or (self.probability < 1 and self._random.random() >= self.probability):
            return False
        self.count += 1
        return True


def _is(wanted: str, resource: str, group: str, subresource: str) -> bool:
    """Whether a resource is the one that is wanted; without a group that of any, without a subresource the object."""
    name, _, part = wanted.partition("/")
    plural, _, its_group = name.partition(".")
    return plural == resource and (not its_group or its_group == group) and part == subresource


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class Faults:
    """The faults of a server, the first that fits and happens is carried out. For any thread."""

    def __init__(self) -> None:
        self._faults: tuple[Fault, ...] = ()
        self._lock = threading.Lock()

    def add(self, fault: Fault | None = None, /, **given: Any) -> Fault:
        """Have something go wrong from now on; the fields of Fault, or one. Raises BadFault."""
        if fault is None:
            try:
                fault = Fault(**given)
            except TypeError as error:
                raise BadFault(str(error)) from None
        with self._lock:
            self._faults = (*self._faults, fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Have it go wrong no longer."""
        with self._lock:
            self._faults = tuple(one for one in self._faults if one is not fault)

    def clear(self) -> None:
        """Have all go well."""
        self._faults = ()

    def chaos(self, seed: int | None = None) -> int:
        """Have a mixture go wrong now and then; the same for the same seed, and clients can get over all of it.

        Returns the seed.
        """
        seed = random.randrange(1 << 31) if seed is None else seed
        for place, what in enumerate(_CHAOS):
            self.add(label=f"chaos {seed}", seed=seed + place, **what)
        return seed

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._faults)

    def __bool__(self) -> bool:
        return bool(self._faults)

    def pick(self, request: Request) -> Fault | None:
        """What happens to a request; None for nothing."""
        asked = request.info.asked
        if not asked.resource or request.peer == EXEMPT or asked.group == GROUP:
            return None
        return next((fault for fault in self._faults if fault.fits(request) and fault.happens()), None)

    def webhook(self, url: str) -> bool:
        """Whether a call to a webhook runs out of time."""
        wanted = (fault for fault in self._faults if fault.webhook and url.startswith(fault.webhook))
        return any(fault.happens() for fault in wanted)


_CHAOS: tuple[dict[str, Any], ...] = (
    {"probability": 0.02, "status": 500},
    {"probability": 0.02, "status": 503},
    {"probability": 0.02, "status": 504},
    {"probability": 0.02, "status": 429, "retry_after": 1},
    {"verb": "update", "probability": 0.1, "status": 409},
    {"verb": "patch", "probability": 0.05, "status": 409},
    {"probability": 0.02, "drop": "before"},
    {"probability": 0.02, "drop": "after"},
    {"probability": 0.1, "delay": 0.05},
    {"verb": "watch", "probability": 0.2, "cut_after": 5},
    {"verb": "watch", "probability": 0.1, "expire_after": 3},
    {"verb": "watch", "probability": 0.1, "duplicate": 2},
    {"verb": "watch", "probability": 0.1, "burst": 0.2},
)
