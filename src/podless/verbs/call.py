"""What a verb is asked to do, and what it answers; nothing here knows of HTTP."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from podless.admission import Admission, Along
from podless.auth.attributes import Attributes
from podless.auth.authenticate import Authenticator
from podless.auth.authorizer import AllowAll, Authorizer
from podless.auth.tokens import Tokens
from podless.auth.user import ANONYMOUS, User
from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.kinds.conversion import Converter, Known
from podless.kinds.kind import Kind, Version
from podless.kinds.registry import Registry
from podless.meta.aside import Aside
from podless.meta.codec import Floats
from podless.meta.errors import NotFound
from podless.meta.field import FieldError
from podless.meta.pace import Pace
from podless.meta.watchdog import Watchdog
from podless.remote import Client
from podless.store import Operation, Record, Store

Object = dict[str, Any]


@dataclass(slots=True)
class Call:
    """One request to a resource.

    query: the parameters. body: as sent, content_type says in what form. user: who asks. agent: the User-Agent.
    warnings: texts for the client, annotations: for the audit log; both are filled as the work goes on. floats: whole
    numbers that the body gives as floats. conversions: what a conversion webhook told on the way. along:
    what admission wants to be committed with the write. added: bytes that admission has put into the object, about.
    loose: the object is judged before it is made to fit its kind. verb: of the API, "" for what a server does itself.
    refused: what the user may not write, told with what is wrong with the object.
    """

    kind: Kind
    version: Version
    namespace: str
    name: str
    subresource: str = ""
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = ""
    user: User = ANONYMOUS
    agent: str = ""
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    floats: Floats = field(default_factory=list)
    conversions: Known = field(default_factory=dict)
    along: Along | None = None
    added: int = 0
    loose: bool = False
    verb: str = ""
    refused: list[FieldError] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The object's key in the store."""
        return self.kind.key(self.namespace, self.name)

    @property
    def size(self) -> int:
        """Bytes of what is to be written, about: what takes long by that is done beside the event loop."""
        return len(self.body) + self.added

    @property
    def scope(self) -> str:
        """The keys that a list or watch is about."""
        return self.kind.keys.scope(self.namespace)

    @property
    def api_version(self) -> str:
        """The apiVersion that bodies of this call must have."""
        return self.kind.api_version(self.version.name)

    def not_found(self) -> NotFound:
        """The object of this call is not there."""
        return NotFound(self.kind.strategy.missing or self.kind.plural, self.kind.group, self.name)


class Single(NamedTuple):
    """One object: as stored, or (after a dry run) only decoded."""

    entry: Entry | None
    obj: Object | None = None
    code: int = 200


class Many(NamedTuple):
    """A list or a page of one. token: continues it, "" at the end. remaining: None where it is not told."""

    entries: Sequence[Entry]
    revision: int
    token: str = ""
    remaining: int | None = None


class Document(NamedTuple):
    """A document of its own, such as a Status or a Scale."""

    obj: Object
    code: int = 200


Outcome = Single | Many | Document


def entries(outcome: Outcome) -> Sequence[Entry]:
    """The stored objects that an answer shows."""
    if isinstance(outcome, Many):
        return outcome.entries
    return (outcome.entry,) if isinstance(outcome, Single) and outcome.entry is not None else ()


# takes a new object, decoded, where that is at hand
Reaction = Callable[[Object | None], Awaitable[None]]


class Ahead(NamedTuple):
    """What follows from a new object, as far as that is known: commits behind its own, and the object as it is then.

    They may come to nothing, where others are quicker: what must follow sees to it that it does.
    """

    commits: Sequence[Sequence[Operation]]
    obj: Object


# takes the key of a new object, and the object, decoded
Foresight = Callable[[str, Object], Ahead | None]


class Allocator(Protocol):
    """Gives objects of a kind what there is but a certain number of."""

    async def allocate(self, obj: Object, old: Object | None, *, dry_run: bool) -> Along | None:
        """Give an object what it lacks, in place. old: None for a new one. Returns what is to be committed with it."""


class Permit(Protocol):
    """Says what of an object a user may not write."""

    async def refusals(self, user: User, asked: Attributes, obj: Object, old: Object | None) -> list[FieldError]:
        """What is refused, as a part of what is wrong with the object. old: None for a new one."""


class API:
    """What verbs work on: the store, what is cached of it, the kinds that are served, who is who and may do what, and
    admission.

    reactions: by prefix of a kind, what must have happened after a write before it is answered. foresight: what of
    that can be written at once with a new object. allocators: by prefix of a kind, who gives its objects what a real
    server gives before it checks them. permits: by prefix of a kind, who judges what users may write. pace: long work
    in pieces.
    guard: a condition of what controllers write. unsettled: whether a definition has changed and is not in force yet.
    watchdog: told of what holds the event loop for long. aside: does long work beside it. readying: kinds that are
    being made ready for that.
    """

    def __init__(
        self,
        store: Store,
        cache: Cache,
        registry: Registry,
        remote: Client,
        authorizer: Authorizer | None = None,
        admission: Admission | None = None,
        authenticator: Authenticator | None = None,
    ) -> None:
        self.store = store
        self.cache = cache
        self.registry = registry
        self.remote = remote
        self.converter = Converter(remote)
        self.authorizer = authorizer or AllowAll()
        self.admission = admission or Admission()
        self.authenticator = authenticator or Authenticator(Tokens({}))
        self.reactions: dict[str, Reaction] = {}
        self.foresight: dict[str, Foresight] = {}
        self.allocators: dict[str, Allocator] = {}
        self.permits: dict[str, Permit] = {}
        self.pace = Pace()
        self.watchdog = Watchdog()
        self.aside = Aside()
        self.readying: dict[Kind, Future[None]] = {}
        self.guard: Operation | None = None
        self.unsettled: Callable[[], bool] = bool

    def collection(self, kind: Kind) -> WatchCache:
        """The kind's objects; to be loaded before use."""
        return self.cache.collection(kind.keys)

    async def loaded(self, kind: Kind) -> WatchCache:
        """The kind's objects, loaded, with all that anybody can have been told of before: of a request, before that."""
        collection = self.collection(kind)
        if not collection.loaded:
            await collection.load()
        if not self.cache.fresh:
            await self.cache.current()
        return collection

    def written(self, kind: Kind, record: Record) -> Entry:
        """The state that a write has made; the one in the cache, where it is there, so that all is worked out once."""
        entry = self.collection(kind).get(record.key)
        if entry is not None and entry.revision == record.revision:
            return entry
        return Entry(record, kind.keys)
