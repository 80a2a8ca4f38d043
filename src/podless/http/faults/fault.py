"""Faults: which requests fail, how, and how often. Python and objects (definition.py) share these fields."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from podless.auth.authorizer import Attributes
from podless.http.message import HTTPRequest
from podless.runtime.dataclass import dataclass

GROUP = "testing.podless.dev"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
DROPS = ("before", "after")
_TURNS = 1024  # keys of requests that are counted separately for a probability
_DIGEST_RANGE = 1 << 64
_MAX_EXACT = 1 << 53  # larger numbers are not exact as floats, which the limits of schemas are
_DAY = 86_400

# returns the kind of a resource (group, plural), "" if it is not served
Kinds = Callable[[str, str], str]


class BadFault(ValueError):
    """The fields of a fault are invalid; the text is one line."""


class FieldSpec(NamedTuple):
    """The help text and the bounds of a field. minimum, maximum: of a number, or of the length of a string."""

    description: str
    minimum: float = 0
    maximum: float = _MAX_EXACT - 1
    choices: tuple[str, ...] = ()
    type: type = str


def _term(description: str, value: Any = "", **bounds: Any) -> Any:
    """Declare a field of a fault; its type is that of the default, unless given."""
    bounds.setdefault("type", type(value))
    bounds.setdefault("maximum", _MAX_EXACT - 1 if bounds["type"] is not str else 1024)
    return field(default=value, metadata={"term": FieldSpec(description, **bounds)})


@dataclass(slots=True, kw_only=True)
class InjectedFault:
    """One fault. Raises BadFault for invalid fields."""

    label: str = ""  # a name for error texts
    spared: tuple[str, ...] = ()  # API groups whose requests never fail
    spared_agent: str = ""  # requests whose User-Agent starts with this never fail

    verb: str = _term("verb of the request", choices=VERBS)
    resource: str = _term('resource, as in RBAC: "widgets", "widgets.example.com", "widgets/status"; "*" for any')
    kind: str = _term('kind, instead of resource: "Widget", "Widget.example.com", "Widget/status"')
    namespace: str = _term("namespace; in this field and in name and user, a * at the end matches any suffix")
    name: str = _term("name of the object, if the request has one")
    user: str = _term("user, after impersonation")
    agent: str = _term("prefix of the User-Agent")
    path: str = _term(
        "prefix of a path that is no resource: /apis, /openapi, /readyz; without it, only resources match"
    )
    webhook: str = _term("prefix of a webhook's URL: the server's calls to it time out at once")

    nth: int = _term("only the nth matching request, counted from 1; 0 for every one", 0)
    times: int = _term("only the first so many matching requests; 0 for no limit", 0)
    probability: float = _term("probability that a matching request fails", 1.0, maximum=1)
    seed: int = field(
        default_factory=lambda: random.randrange(1 << 31),
        metadata={"term": FieldSpec("seed of the probability (default: random)", -_MAX_EXACT, type=int)},
    )

    delay: float = _term("delay before everything else, in seconds", 0.0, maximum=3600)
    status: int = _term("status code of the answer: 409, 410, 429, 500, 503, 504 ...", 0, minimum=400, maximum=599)
    message: str = _term("message of the answer", maximum=4096)
    retry_after: int = _term("Retry-After of the answer, in seconds", 0, maximum=_DAY)
    drop: str = _term("close the connection before or after the request is carried out", choices=DROPS)
    older: int = _term("answer a list from the state this many revisions ago", 0)
    cut_after: int | None = _term("end a watch after this many events", None, type=int)
    expire_after: int | None = _term("end a watch with 410 after this many events", None, type=int)
    bookmarks: bool = _term("send only the bookmarks of a watch", False)
    duplicate: int = _term("send each event of a watch this many times", 1, minimum=1, maximum=100)
    burst: float = _term("collect the events of a watch for this many seconds and send them together", 0.0, maximum=60)
    compress: bool = _term("of collected events, send only the last one of each object", False)

    matched: int = field(default=0, init=False)  # number of requests that matched
    injected: int = field(default=0, init=False)  # number of requests that failed
    # called whenever a count changes
    on_match: Callable[[], None] | None = field(default=None, init=False, repr=False, compare=False)
    _turns: array[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for term in _TERMS:
            value = getattr(self, term.name)
            if value != term.default:
                _validate_field(field_name(term.name), value, term.metadata["term"])
        for rule in RULES:
            if not rule.is_met(self):
                raise BadFault(rule.message)
        self._turns = array("Q", bytes(8 * _TURNS) if self.probability < 1 else b"")

    @classmethod
    def from_spec(cls, label: str, spec: Mapping[str, Any], seed: int | None = None) -> InjectedFault:
        """Return the fault of a spec in camel case. seed: used if the spec has none. Raises BadFault."""
        unknown = [name for name in spec if name not in _NAMES]
        if unknown:
            raise BadFault(f"unknown field {unknown[0]!r}")
        arguments = {_NAMES[name]: value for name, value in spec.items()}
        if seed is not None:
            arguments.setdefault("seed", seed)
        return cls(label=label, **arguments)

    @property
    def of_watches(self) -> bool:
        """Whether the fault applies to watches only."""
        ends = self.cut_after is not None or self.expire_after is not None
        return ends or self.bookmarks or self.duplicate > 1 or self.burst > 0

    def matches_request(self, request: HTTPRequest, kinds: Kinds) -> bool:
        """Return whether the request matches."""
        attr, agent = request.info.attributes, request.headers.get("user-agent", "")
        if self.webhook or bool(attr.resource) is bool(self.path):
            return False
        return (
            self.verb in ("", attr.verb)
            and request.path.startswith(self.path)
            and attr.group not in self.spared
            and (attr.verb == "watch" or not self.of_watches)
            and (attr.verb == "list" or not self.older)
            and (not self.resource or _matches_resource(self.resource, attr.resource, attr))
            and (not self.kind or _matches_resource(self.kind, kinds(attr.group, attr.resource), attr))
            and _matches_pattern(self.namespace, attr.namespace)
            and _matches_pattern(self.name, attr.name)
            and _matches_pattern(self.user, request.user.name)
            and agent.startswith(self.agent)
            and not (self.spared_agent and agent.startswith(self.spared_agent))
        )

    def draw_failure(self, key: str) -> bool:
        """Count a matching request, and return whether it fails. key: a key of the request, such as verb and object.

        With a probability, the result depends on the seed and on the number of earlier requests with the same key, so
        concurrent requests with other keys do not change it.
        """
        self.matched += 1
        if self.on_match is not None:
            self.on_match()
        is_due = (not self.nth or self.matched == self.nth) and (not self.times or self.injected < self.times)
        if not is_due or (self._turns and not self._draw_chance(key)):
            return False
        self.injected += 1
        return True

    def _draw_chance(self, key: str) -> bool:
        position = crc32(key.encode()) % _TURNS
        turn = self._turns[position]
        self._turns[position] = turn + 1
        digest = blake2b(f"{self.seed} {position} {turn}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") < self.probability * _DIGEST_RANGE


class FaultRule(NamedTuple):
    """A rule about several fields: if one of `fields` is set, then one of `required`, and none of `excluded`.

    fields: () if the rule always holds. verb: of the only requests that `fields` apply to, "" for any.
    """

    message: str
    fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    verb: str = ""

    def is_met(self, fault: InjectedFault) -> bool:
        """Return whether a fault obeys the rule."""
        if self.fields and not _sets_any(fault, self.fields):
            return True
        if _sets_any(fault, self.excluded) or (self.required and not _sets_any(fault, self.required)):
            return False
        return not self.verb or fault.verb in ("", self.verb)

    @property
    def expression(self) -> str:
        """Return the rule as a CEL expression on a spec."""
        terms = [f"!({_express_any(self.fields)})"] if self.fields else []
        terms += [_express_any(self.required)] if self.required else []
        terms += [f"!({_express_any(self.excluded)})"] if self.excluded else []
        terms += [f"!has(self.verb) || self.verb in ['', '{self.verb}']"] if self.verb else []
        return " || ".join(terms)


def _express_any(names: tuple[str, ...]) -> str:
    """Return a CEL expression: one of these fields of the spec differs from its default."""
    return " || ".join(map(_express_set, names))


def _express_set(name: str) -> str:
    declared = _FIELDS_BY_NAME[name]
    if declared.default is None or isinstance(declared.default, bool):
        return f"has(self.{name})" if declared.default is None else f"(has(self.{name}) && self.{name})"
    default = "''" if declared.default == "" else repr(declared.default)
    return f"(has(self.{name}) && self.{name} != {default})"


def _sets_any(fault: InjectedFault, names: tuple[str, ...]) -> bool:
    return any(getattr(fault, _NAMES[name]) != _FIELDS_BY_NAME[name].default for name in names)


def field_name(name: str) -> str:
    """Return the name of a field in an object."""
    first, *later_words = name.split("_")
    return first + "".join(word.capitalize() for word in later_words)


_TERMS = tuple(spec for spec in fields(InjectedFault) if "term" in spec.metadata)
TERMS: dict[str, FieldSpec] = {field_name(spec.name): spec.metadata["term"] for spec in _TERMS}
_FIELDS_BY_NAME = {field_name(spec.name): spec for spec in _TERMS}
_NAMES = {field_name(spec.name): spec.name for spec in _TERMS}
_HAPPENS = ("delay", "status", "drop", "older", "cutAfter", "expireAfter", "bookmarks", "duplicate", "burst", "webhook")
_WATCHES = ("cutAfter", "expireAfter", "bookmarks", "duplicate", "burst")
_OF_WEBHOOKS = ("nth", "times", "probability", "seed")  # fields that a fault for webhooks may have
_OTHERS = tuple(name for name in _NAMES if name not in ("webhook", *_OF_WEBHOOKS))
_PLACES = ("resource", "kind", "namespace", "name", "older")

RULES = (
    FaultRule(f"set one of {', '.join(_HAPPENS)}", required=_HAPPENS),
    FaultRule(f"webhook: can be combined with {', '.join(_OF_WEBHOOKS)} only", ("webhook",), excluded=_OTHERS),
    FaultRule("path: cannot be combined with fields about resources", ("path",), excluded=(*_PLACES, *_WATCHES)),
    FaultRule("status: can be combined with a delay only", ("status",), excluded=("drop", "older", *_WATCHES)),
    FaultRule("drop: can be combined with a delay only", ("drop",), excluded=("older", *_WATCHES)),
    FaultRule("older: cannot be combined with fields about watches", ("older",), excluded=_WATCHES),
    FaultRule("cutAfter, expireAfter: set only one of them", ("cutAfter",), excluded=("expireAfter",)),
    FaultRule("message, retryAfter: require status", ("message", "retryAfter"), ("status",)),
    FaultRule("compress: requires burst", ("compress",), ("burst",)),
    FaultRule("older: for list requests only", ("older",), verb="list"),
    FaultRule(f"{', '.join(_WATCHES)}: for watch requests only", _WATCHES, verb="watch"),
)


def _validate_field(name: str, value: Any, term: FieldSpec) -> None:
    """Raise BadFault for an invalid value of a field."""
    types = (int, float) if term.type is float else (term.type,)
    if type(value) not in types:
        raise BadFault(f"{name}: must be {_TYPES[term.type]}")
    if term.choices and value not in term.choices:
        raise BadFault(f"{name}: must be one of {', '.join(term.choices)}")
    size = len(value) if isinstance(value, str) else value
    if not term.minimum <= size <= term.maximum:  # also false for NaN
        raise BadFault(f"{name}: must be from {term.minimum:g} to {term.maximum:g}")


_TYPES = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}


def _matches_resource(pattern: str, resource: str, attributes: Attributes) -> bool:
    """Return whether a resource matches a pattern: no group means any group, no subresource the object itself."""
    name, _, subresource = pattern.partition("/")
    plural, _, group = name.partition(".")
    return (
        plural in ("*", resource)
        and (not group or group == attributes.group)
        and (subresource == attributes.subresource or pattern == "*")
    )


def _matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a text equals the pattern, or starts with it if that ends in *."""
    return not pattern or pattern == text or (pattern[-1] == "*" and text.startswith(pattern[:-1]))
