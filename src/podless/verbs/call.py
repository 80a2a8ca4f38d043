"""The input and output of verbs, without HTTP."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from podless.admission import AdmissionChain
from podless.apis.release import RECORDED_FACTS, Facts
from podless.auth.authenticate import Authenticator
from podless.auth.authorizer import AllowAll, Authorizer
from podless.auth.tokens import StaticTokens
from podless.auth.user import ANONYMOUS, User
from podless.cache.entry import Entry
from podless.codec.serializer import Floats
from podless.kinds.conversion import ConversionResults
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta.errors import NotFound
from podless.offload.offloop import OffLoop
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.pace import Pace
from podless.runtime.watchdog import Watchdog
from podless.verbs.followup import FollowUps


@dataclass(slots=True)
class Call:
    """A request to a resource; its body is as `kinds.bodies.SentBody` says."""

    kind: Kind
    version: Version
    namespace: str
    name: str
    subresource: str = ""
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the parameters of the URL
    body: bytes = b""
    content_type: str = ""
    user: User = ANONYMOUS  # the user after impersonation
    agent: str = ""  # the User-Agent
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)  # for the audit log; verbs add to them, and to warnings
    floats: Floats = field(default_factory=list)
    conversions: ConversionResults = field(default_factory=dict)  # results of conversion webhooks
    verb: str = ""  # the API verb, "" for calls of the server itself
    validation: str = "Warn"
    schema_valid: bool = False

    @property
    def key(self) -> str:
        """The key of the object in the store."""
        return self.kind.key(self.namespace, self.name)

    @property
    def scope(self) -> str:
        """The prefix of the keys of a list or watch."""
        return self.kind.keys.scope(self.namespace)

    @property
    def api_version(self) -> str:
        """The apiVersion that bodies must have."""
        return self.kind.api_version(self.version.name)

    def not_found(self) -> NotFound:
        """Return the error that the object does not exist."""
        return NotFound(self.kind.strategy.resource_name(self.kind.plural), self.kind.group, self.name)


class Single(NamedTuple):
    """One object: as stored (entry), or only decoded (obj), such as after a dry run."""

    entry: Entry | None
    obj: Object | None = None
    code: int = 200


class Many(NamedTuple):
    """A list or a page of one. token: continue token, "" at the end. remaining: None if it is not shown.

    oldest: no entry was written before this revision; 0 if unknown.
    """

    entries: Sequence[Entry]
    revision: int
    token: str = ""
    remaining: int | None = None
    oldest: int = 0


class AnswerDocument(NamedTuple):
    """A document that is not the object itself, such as a Status or a Scale. may_be_long: it can have long lists."""

    obj: Object
    code: int = 200
    may_be_long: bool = False


Outcome = Single | Many | AnswerDocument


def list_entries(outcome: Outcome) -> Sequence[Entry]:
    """Return the stored objects of an answer."""
    if isinstance(outcome, Many):
        return outcome.entries
    return (outcome.entry,) if isinstance(outcome, Single) and outcome.entry is not None else ()


@dataclass(frozen=True, slots=True, eq=False)
class API(State):
    """The present state and the services that verbs need."""

    authorizer: Authorizer = field(default_factory=AllowAll)
    admission: AdmissionChain = field(default_factory=AdmissionChain)  # the plugins
    authenticator: Authenticator = field(default_factory=lambda: Authenticator(StaticTokens({})))
    follow_ups: FollowUps = field(default_factory=FollowUps)  # work after a write, before its answer
    pace: Pace = field(default_factory=Pace)  # runs long work in pieces
    watchdog: Watchdog = field(default_factory=Watchdog)  # records work that holds the loop
    off_loop: OffLoop = field(default_factory=OffLoop)  # runs long work off the loop
    # kinds that are being compiled for work off the loop
    readying: dict[Kind, Future[None]] = field(default_factory=dict)
    facts: Facts = RECORDED_FACTS  # about the served Kubernetes release
