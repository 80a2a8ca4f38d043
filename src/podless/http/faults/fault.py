"""What is to go wrong, where and how often: one rule language for Python and for objects (definition.py)."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from podless.auth.attributes import Attributes
from podless.http.message import Request

GROUP = "testing.podless.dev"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
DROPS = ("before", "after")
_TURNS = 1024  # sorts of requests that are counted apart, where something happens with a probability
_ALL = 1 << 64
_LONG = 1 << 53  # what a float can tell apart, as limits of schemas are
_DAY = 86_400

# the kind of a group's resource, "" for one that is not served
Kinds = Callable[[str, str], str]


class BadFault(ValueError):
    """There can be no such fault; the text is one line for a person."""


class Term(NamedTuple):
    """What is told of a field, and what it may be. least, most: of a number, or of the characters of a text."""

    about: str
    least: float = 0
    most: float = _LONG - 1
    choices: tuple[str, ...] = ()
    type: type = str


def _term(about: str, value: Any = "", **more: Any) -> Any:
    """A field of a fault; its default says its type, unless that is given."""
    more.setdefault("type", type(value))
    more.setdefault("most", _LONG - 1 if more["type"] is not str else 1024)
    return field(default=value, metadata={"term": Term(about, **more)})


@dataclass(slots=True, kw_only=True)
class InjectedFault:
    """One thing that goes wrong; each field says what it is about. Raises BadFault for what cannot be.

    label: a name, which error texts tell. spared: groups to which it does not happen, nor where the User-Agent begins
    with spared_agent. matched: requests that fitted. injected: those to which it happened. tell: called when something
    is counted.
    """

    label: str = ""
    spared: tuple[str, ...] = ()
    spared_agent: str = ""

    verb: str = _term("of the request", choices=VERBS)
    resource: str = _term('"widgets", "widgets.example.com", "widgets/status"; "*" for any; as in RBAC')
    kind: str = _term('the same by kind: "Widget", "Widget.example.com", "Widget/status"')
    namespace: str = _term("in which; here and below, a * at the end stands for any rest")
    name: str = _term("of the object, as far as the request tells it")
    user: str = _term("who asks, after impersonation")
    agent: str = _term("how the User-Agent begins")
    path: str = _term("how the path begins, for what is no resource: /apis, /openapi, /readyz; nothing else fits then")
    webhook: str = _term("how the address of a webhook begins: the server's calls to it run out of time at once")

    nth: int = _term("only the nth request that fits, from 1 on; 0: each", 0)
    times: int = _term("so many at the most, from the first on; 0: no bound", 0)
    probability: float = _term("of each", 1.0, most=1)
    seed: int = field(
        default_factory=lambda: random.randrange(1 << 31),
        metadata={"term": Term("of the probability; else drawn", -_LONG, type=int)},
    )

    delay: float = _term("seconds before all else", 0.0, most=3600)
    status: int = _term("code of the answer: 409, 410, 429, 500, 503, 504 ...", 0, least=400, most=599)
    message: str = _term("of the answer", most=4096)
    retry_after: int = _term("seconds that the answer tells", 0, most=_DAY)
    drop: str = _term("the connection ends before or after the request was carried out", choices=DROPS)
    older: int = _term("a list is of the state so many revisions before", 0)
    cut_after: int | None = _term("a watch ends after so many events", None, type=int)
    expire_after: int | None = _term("a watch ends with a 410 after so many events", None, type=int)
    bookmarks: bool = _term("of a watch's events only bookmarks come", False)
    duplicate: int = _term("each event of a watch comes so many times", 1, least=1, most=100)
    burst: float = _term("events of a watch of so many seconds come together", 0.0, most=60)
    compress: bool = _term("of those that come together only the last of each object", False)

    matched: int = field(default=0, init=False)
    injected: int = field(default=0, init=False)
    tell: Callable[[], None] | None = field(default=None, init=False, repr=False, compare=False)
    _turns: array[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for each in _TERMS:
            given = getattr(self, each.name)
            if given != each.default:
                _check(field_name(each.name), given, each.metadata["term"])
        for rule in RULES:
            if not rule.holds(self):
                raise BadFault(rule.message)
        self._turns = array("Q", bytes(8 * _TURNS) if self.probability < 1 else b"")

    @classmethod
    def of(cls, label: str, given: Mapping[str, Any], seed: int | None = None) -> InjectedFault:
        """The fault of a spec in camel case. seed: where it has none. Raises BadFault."""
        unknown = [name for name in given if name not in _NAMES]
        if unknown:
            raise BadFault(f"unknown field {unknown[0]!r}")
        taken = {_NAMES[name]: value for name, value in given.items()}
        if seed is not None:
            taken.setdefault("seed", seed)
        return cls(label=label, **taken)

    @property
    def of_watches(self) -> bool:
        """Whether it happens to watches alone."""
        ends = self.cut_after is not None or self.expire_after is not None
        return ends or self.bookmarks or self.duplicate > 1 or self.burst > 0

    def fits(self, request: Request, kinds: Kinds) -> bool:
        """Whether it is about such a request."""
        asked = request.info.asked
        if self.webhook or bool(asked.resource) is bool(self.path):
            return False
        return (
            self.verb in ("", asked.verb)
            and request.path.startswith(self.path)
            and asked.group not in self.spared
            and (asked.verb == "watch" or not self.of_watches)
            and (asked.verb == "list" or not self.older)
            and (not self.resource or _is(self.resource, asked.resource, asked))
            and (not self.kind or _is(self.kind, kinds(asked.group, asked.resource), asked))
            and _like(self.namespace, asked.namespace)
            and _like(self.name, asked.name)
            and _like(self.user, request.user.name)
            and self._is_agent(request.headers.get("user-agent", ""))
        )

    def _is_agent(self, agent: str) -> bool:
        return agent.startswith(self.agent) and not (self.spared_agent and agent.startswith(self.spared_agent))

    def happens(self, what: str) -> bool:
        """Whether it happens to one more request that fits; it is counted. what: the sort of the request.

        With a probability, this depends on the seed, and on how many of its sort were there before: requests of other
        sorts, which a program may send at the same time, change nothing for it.
        """
        self.matched += 1
        if self.tell is not None:
            self.tell()
        wanted = (not self.nth or self.matched == self.nth) and (not self.times or self.injected < self.times)
        if not wanted or (self._turns and not self._drawn(what)):
            return False
        self.injected += 1
        return True

    def _drawn(self, what: str) -> bool:
        place = crc32(what.encode()) % _TURNS
        turn = self._turns[place]
        self._turns[place] = turn + 1
        drawn = blake2b(f"{self.seed} {place} {turn}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") < self.probability * _ALL


class FaultRule(NamedTuple):
    """What must hold of the fields together. expression: the same in CEL, on a spec."""

    expression: str
    message: str
    holds: Callable[[InjectedFault], bool]


_HAPPENS = ("delay", "status", "drop", "older", "cutAfter", "expireAfter", "bookmarks", "duplicate", "burst", "webhook")
_ALONE = ("webhook", "nth", "times", "probability", "seed")  # what a fault of webhooks may have
_ENDS = ("cutAfter", "expireAfter")


def _set(name: str) -> str:
    """Whether a spec has something other than the default."""
    one = _KNOWN[name]
    if one.default is None or isinstance(one.default, bool):
        return f"has(self.{name})" if one.default is None else f"(has(self.{name}) && self.{name})"
    default = "''" if one.default == "" else repr(one.default)
    return f"(has(self.{name}) && self.{name} != {default})"


def _any(*names: str) -> str:
    return " || ".join(map(_set, names))


def _has(fault: InjectedFault, *names: str) -> bool:
    return any(getattr(fault, _NAMES[name]) != _KNOWN[name].default for name in names)


def _no_two(name: str, others: tuple[str, ...], message: str) -> FaultRule:
    """Where one field is set, none of some others is."""
    return FaultRule(
        f"!{_set(name)} || !({_any(*others)})",
        message,
        lambda fault: not _has(fault, name) or not _has(fault, *others),
    )


def _needs(others: tuple[str, ...], name: str, message: str) -> FaultRule:
    """Where one of some fields is set, so is another."""
    return FaultRule(
        f"!({_any(*others)}) || {_set(name)}", message, lambda fault: not _has(fault, *others) or _has(fault, name)
    )


def _only(others: tuple[str, ...], verb: str) -> FaultRule:
    """Some fields are about requests of one verb."""
    message = f"{', '.join(others)}: of {verb} requests only"
    return FaultRule(
        f"!({_any(*others)}) || !has(self.verb) || self.verb in ['', '{verb}']",
        message,
        lambda fault: not _has(fault, *others) or fault.verb in ("", verb),
    )


def field_name(name: str) -> str:
    """The name of a field in an object."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


_TERMS = tuple(each for each in fields(InjectedFault) if "term" in each.metadata)
TERMS: dict[str, Term] = {field_name(each.name): each.metadata["term"] for each in _TERMS}
_KNOWN = {field_name(each.name): each for each in _TERMS}
_NAMES = {field_name(each.name): each.name for each in _TERMS}
_WATCHES = (*_ENDS, "bookmarks", "duplicate", "burst")
_REST = tuple(name for name in _NAMES if name not in _ALONE)

RULES = (
    FaultRule(_any(*_HAPPENS), f"one of {', '.join(_HAPPENS)} is wanted", lambda fault: _has(fault, *_HAPPENS)),
    _no_two("webhook", _REST, f"webhook: goes with {', '.join(_ALONE[1:])} only"),
    _no_two(
        "path",
        ("resource", "kind", "namespace", "name", "older", *_WATCHES),
        "path: is about what is no resource",
    ),
    _no_two("status", ("drop", "older", *_WATCHES), "status: nothing else happens then, but for a delay"),
    _no_two("drop", ("older", *_WATCHES), "drop: nothing else happens then, but for a delay"),
    _no_two("older", _WATCHES, "older: of list requests only"),
    _no_two(_ENDS[0], _ENDS[1:], "cutAfter, expireAfter: one of them"),
    _needs(("message", "retryAfter"), "status", "message, retryAfter: need a status"),
    _needs(("compress",), "burst", "compress: needs a burst"),
    _only(("older",), "list"),
    _only(_WATCHES, "watch"),
)


def _check(name: str, given: Any, term: Term) -> None:
    """Raises BadFault for what a field cannot be."""
    taken = (int, float) if term.type is float else (term.type,)
    if type(given) not in taken:
        raise BadFault(f"{name}: {_TYPES[term.type]} is wanted")
    if term.choices and given not in term.choices:
        raise BadFault(f"{name}: one of {', '.join(term.choices)}")
    size = len(given) if isinstance(given, str) else given
    if not term.least <= size <= term.most:  # NaN is nowhere
        raise BadFault(f"{name}: from {term.least:g} to {term.most:g}")


_TYPES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _is(wanted: str, its: str, asked: Attributes) -> bool:
    """Whether a resource is the one that is wanted; without a group that of any, without a subresource the object."""
    name, _, part = wanted.partition("/")
    plain, _, group = name.partition(".")
    return plain in ("*", its) and (not group or group == asked.group) and (part == asked.subresource or wanted == "*")


def _like(wanted: str, text: str) -> bool:
    """Whether a text is what is wanted, or begins so."""
    return not wanted or wanted == text or (wanted[-1] == "*" and text.startswith(wanted[:-1]))
