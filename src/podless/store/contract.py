"""What every engine of the store promises; tests/store/contract.py runs against each of them.

Keys are text and sort by code point; values are bytes that an engine never looks into. One counter, the revision,
counts the commits of the whole store. It never goes back, not even over a restart, and it may leave numbers out: two
revisions can be compared, and nothing else can be told from them. Other processes may write to the same store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from podless.runtime.histogram import Histogram
from podless.store import keys
from podless.store.keys import Stored


class StoreError(Exception):
    """The store cannot do what it was asked; the text is one clear line for a person."""


class Damaged(StoreError):
    """What is on disk is not a store, or not one that this release reads."""


class InUse(StoreError):
    """Another process has opened what only one can."""


class Full(StoreError):
    """There is no room for what is to be written. The text is etcd's, as a real server passes it on."""

    def __init__(self) -> None:
        super().__init__("etcdserver: mvcc: database space exceeded")


class NoRoom(Full):
    """The disk of an embedded store is full: all that is not to free room is refused until there is some."""

    def __init__(self) -> None:
        StoreError.__init__(self, "the disk of the database is full: only deletes are accepted until there is room")


class Oversized(StoreError):
    """A value is larger than any may be. The text is etcd's, as a real server passes it on."""

    def __init__(self) -> None:
        super().__init__("etcdserver: request is too large")


class Unreachable(StoreError):
    """The store cannot be reached, or has no leader at present; the text is its own, as a real server passes it on."""


class Overdue(Unreachable):
    """The store has not answered in time. What was to be written may have been, or may yet be."""

    def __init__(self) -> None:
        super().__init__("Timeout: request did not complete within the allotted timeout")


class Conflicted(StoreError):
    """A key is not in the state that a commit expects; `current` is the one that it is in, None where it is absent."""

    def __init__(self, key: str, current: Record | None) -> None:
        super().__init__(f"{key} is at revision {current.revision if current is not None else 0}")
        self.key = key
        self.current = current


class Compacted(StoreError):
    """The history asked for is gone; `revision` is the oldest that can still be read."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"history before revision {revision} is gone")
        self.revision = revision


class Record(NamedTuple):
    """The state of one key: its value, the revision that wrote it and the one that created the key."""

    key: str
    stored: Stored
    revision: int
    created: int


class Change(NamedTuple):
    """One key in one commit: its new state, None for a delete. before: what it replaced, in `Store.changes` only."""

    key: str
    revision: int
    record: Record | None
    before: Record | None = None


class Operation(NamedTuple):
    """One key in a commit: it is at revision `expect` (0: absent), and gets this value, or goes where that is None.

    With KEPT as its value it stays as it is: it is only a condition of the commit. frees: it is a step of a delete, so
    that it may take the room that is kept back for these.
    """

    key: str
    stored: Stored | None
    expect: int
    frees: bool = False


class Author(NamedTuple):
    """The origin of a commit.

    user: in whose name it was made. sender: the user that authenticated, where it impersonated `user`, else "". verb:
    create, update, patch, apply, delete or deletecollection; "" for what the server does by itself. subresource,
    manager (the field manager) and agent (the User-Agent): as the request had them. audit: the request's audit ID as 16
    bytes, b"" where there is no audit log.
    """

    user: str = ""
    sender: str = ""
    verb: str = ""
    subresource: str = ""
    manager: str = ""
    agent: str = ""
    audit: bytes = b""


NOBODY = Author()
# the author of all commits that are made in this context; engines with a change log keep it
AUTHOR: ContextVar[Author] = ContextVar("author", default=NOBODY)


class Written(NamedTuple):
    """One change of one key, as the log has it.

    sequence: orders the changes of the store. at: milliseconds since 1970. stored: the state that was written, None for
    a delete. created: the revision that created the key, of a delete the one of the state that is gone. replaced: the
    state before it, where the log knows it at once.
    """

    key: str
    revision: int
    sequence: int
    at: int
    author: Author
    stored: Stored | None
    created: int
    replaced: Record | None = None


class ChangeLog(Protocol):
    """The changes of a store and their authors. Every method raises StoreError where the engine fails.

    Changes are told newest first. before, after: only those whose sequence number is below and above (0: all). most:
    how many at the most; fewer where they are large, but none only at the end. Later than the horizon all changes are
    known; of older ones, those that still are the state of a key.
    """

    def horizon(self, prefix: str) -> int:
        """Return the oldest revision at which `Store.range_at` can read states under a prefix."""

    async def of_key(self, key: str, before: int = 0, after: int = 0, most: int = 100) -> list[Written]:
        """Return the newest changes of one key."""

    async def under(self, prefixes: Sequence[str], before: int = 0, after: int = 0, most: int = 100) -> list[Written]:
        """Return the newest changes of keys under some prefixes, of which none is within another."""

    async def revision_at(self, at: int) -> int:
        """Return the newest revision written at or before a time, in milliseconds since 1970. Raises Compacted."""

    async def sequence_of(self, revision: int) -> int:
        """Return a sequence number that no change at or before a revision exceeds, and that all later ones do."""

    def use_states(self, known: Callable[[str, int], Record | None]) -> None:
        """Have a function that knows states asked for the one that a write replaces.

        known: returns the state of a key at a revision, None where it does not know it.
        """


KEPT = Stored(b"", -1)
# as `expect`: the revision of the commit before, which has written the key (`Store.chain`)
FOLLOWING = -1
# Called where history has been forgotten before it was told: what is told next is later than this revision.
Lost = Callable[[int], None]
# takes changes in the order of their revisions, those of one commit together, and the revision up to which all is told
Deliver = Callable[[Sequence[Change], int], None]


class Store(Protocol):
    """A revisioned key-value store. Every method raises StoreError where the engine fails.

    name: of the engine. prompt: a writer learns of its commit only after all watches have been told of it, and nobody
    else writes to the store; who follows a watch need not ask for the current revision then. atomic: all operations of
    a commit have one revision and are seen at once. Where it is False they are seen one after the other, and only the
    first one's revision is known; it is settled when the store is open.
    """

    name: str
    prompt: bool

    @property
    def changelog(self) -> ChangeLog | None:
        """The changes and who made them; None of an engine that does not keep that."""

    @property
    def atomic(self) -> bool:
        """Whether a commit of several keys is seen at once."""

    @property
    def times(self) -> Mapping[str, Histogram]:
        """By what it was asked, how long that took."""

    @property
    def compacted(self) -> int:
        """The newest compacted revision: states at and after it can be read, and changes after it."""

    async def open(self) -> None:
        """Make the store ready. Raises Damaged for what is no store, StoreError for what cannot be opened."""

    async def close(self) -> None:
        """Finish what is under way and let go of everything."""

    def current(self) -> Awaitable[int]:
        """The revision of the newest durable commit of anybody, 0 for an empty store."""

    def alone(self, shown: int) -> bool:
        """Whether nobody can have been told of a change later than `shown`, up to which a watch was told; always where
        the engine is prompt.
        """

    async def check(self) -> None:
        """Raises StoreError where the store cannot be read, or where writes fail."""

    def watch(self, prefix: str, after: int, deliver: Deliver, lost: Lost | None = None) -> Callable[[], None]:
        """Have every durable change of keys under `prefix` that is later than `after` delivered, once and in order.

        Returns what ends that. `deliver` is called on the event loop; with no changes where only the revision has
        moved. What it raises is logged and hinders nobody. lost: told where that cannot go on without a gap, as others
        forget history, too. Raises Compacted.
        """

    async def commit(self, operations: Sequence[Operation]) -> int:
        """Carry out all operations, each of another key, or none of them.

        Returns the revision of the first one, which all of them have where the store is atomic, once they are durable.
        Raises Conflicted for the first key that is not as expected. A caller that is cancelled meanwhile does not learn
        whether the commit has come to pass.
        """

    async def chain(self, commits: Sequence[Sequence[Operation]]) -> list[int]:
        """Carry out commits one behind the other, up to the first that fails.

        Operations of the later ones may expect FOLLOWING. Returns the revisions, of the first one at least, once they
        are durable, which may take no longer than for one. Raises what `commit` raises where the first one fails.
        """

    async def range(self, prefix: str) -> tuple[list[Record], int]:
        """All records whose keys start with `prefix`, in key order, and the revision at which that is the state."""

    async def range_at(self, prefix: str, revision: int) -> list[Record]:
        """The same as it was at `revision`, which may be as old as the change log's horizon. Raises Compacted."""

    async def page(self, revision: int, after: str, most: int, prefix: str = keys.ALL) -> tuple[list[Record], str]:
        """Records of the state at a revision, in the engine's order, from behind the key `after` on ("": all).

        prefix: only these; those of one resource are in key order. Returns so many at the most, and the key behind
        which to go on, "" at the end. Raises Compacted.
        """

    def hold(self) -> Callable[[], None]:
        """Have no history forgotten, as far as that is up to this process, until what this returns is called."""

    async def advance(self, revision: int, say: Callable[[int], None] = lambda _: None) -> None:
        """Have every later commit get a revision above this one, and forget all history.

        That may take as many writes as there are revisions between; say: is told how far it is.
        """

    def figures(self) -> Mapping[str, int]:
        """What is to be known: revision, compacted; size and history in bytes, and oldest (of the history, in seconds
        since 1970), as far as the engine knows.
        """

    async def changes(self, prefix: str, after: int) -> list[Change]:
        """All changes of keys under `prefix` later than revision `after`, in order, with `before`. Raises Compacted."""

    async def compact(self, revision: int) -> None:
        """Forget what was replaced or deleted at or before `revision`."""
