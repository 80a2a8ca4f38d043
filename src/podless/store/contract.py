"""The contract of every store engine; tests/store/contract.py runs against each of them.

Keys are text and sort by code point; engines never parse values. One counter, the revision, counts the commits of the
whole store. It never decreases, not even over a restart, and may skip numbers, so revisions can only be compared. Other
processes may write to the same store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from podless.runtime.histogram import Histogram
from podless.runtime.meter import TIMEOUT_TEXT
from podless.runtime.option import ReportedError
from podless.store import keys
from podless.store.keys import StoredValue


class StoreError(ReportedError):
    """The store cannot do what was requested. The text is one line."""


class StoreDamaged(StoreError):
    """The data on disk is not a store, or not one that this release can read."""


class StoreInUse(StoreError):
    """Another process has opened the store, which only one process can use."""


class StoreFull(StoreError):
    """The store has no space for the write. The text is etcd's, as a real server passes it on."""

    def __init__(self) -> None:
        super().__init__("etcdserver: mvcc: database space exceeded")


class DiskFull(StoreFull):
    """The disk of an embedded store is full: only writes that free space are accepted."""

    def __init__(self) -> None:
        StoreError.__init__(self, "the disk of the database is full: only deletes are accepted until there is room")


class ValueTooLarge(StoreError):
    """A value is too large. The text is etcd's, as a real server passes it on."""

    def __init__(self) -> None:
        super().__init__("etcdserver: request is too large")


class StoreUnreachable(StoreError):
    """The store is unreachable, or has no leader. The text is etcd's, as a real server passes it on."""


class StoreTimeout(StoreUnreachable):
    """The store has not answered in time. The write may have succeeded, or may succeed later."""

    def __init__(self) -> None:
        super().__init__(TIMEOUT_TEXT)


class RevisionConflict(StoreError):
    """A key is not in the state that a commit expects; `current` is its state, None if absent."""

    def __init__(self, key: str, current: Record | None) -> None:
        super().__init__(f"{key} is at revision {current.revision if current is not None else 0}")
        self.key = key
        self.current = current


class HistoryCompacted(StoreError):
    """The requested history is gone; `revision` is the oldest revision that can still be read."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"history before revision {revision} is gone")
        self.revision = revision


class Record(NamedTuple):
    """The state of one key: its value, the revision that wrote it, and the one that created the key."""

    key: str
    stored: StoredValue
    revision: int
    created: int


class StoreChange(NamedTuple):
    """One key in one commit: its new state, None for a delete. before: the former state, by `read_changes` only."""

    key: str
    revision: int
    record: Record | None
    before: Record | None = None


class Operation(NamedTuple):
    """One key in a commit: it must be at revision `expect` (0: absent), and gets the value `stored`; None deletes it.

    With the value KEPT the key does not change and is only a condition. frees: a step of a delete, which may use the
    space reserved for deletes.
    """

    key: str
    stored: StoredValue | None
    expect: int
    frees: bool = False


class Author(NamedTuple):
    """The origin of a commit."""

    user: str = ""  # after impersonation
    sender: str = ""  # the authenticated user, if it impersonates `user`, else ""
    verb: str = ""  # create, update, patch, apply, delete or deletecollection; "" for the server itself
    subresource: str = ""  # that of the request
    manager: str = ""  # the field manager of the request
    agent: str = ""  # the User-Agent of the request
    audit: bytes = b""  # the request's audit ID as 16 bytes, b"" without an audit log


NOBODY = Author()
# the author of all commits in this context; engines with a change log record it
AUTHOR: ContextVar[Author] = ContextVar("author", default=NOBODY)


class LoggedWrite(NamedTuple):
    """One change of one key, as the log has it."""

    key: str
    revision: int
    sequence: int  # orders the changes of the store
    at: int  # milliseconds since 1970
    author: Author
    stored: StoredValue | None  # the written state, None for a delete
    created: int  # the revision that created the key (for a delete, that of the deleted state)
    replaced: Record | None = None  # the state before, if the log has it at hand

    @property
    def record(self) -> Record | None:
        """The written state, None for a delete."""
        return Record(self.key, self.stored, self.revision, self.created) if self.stored is not None else None


class ChangeLog(Protocol):
    """The changes of a store and their authors. Every method raises StoreError if the engine fails.

    Changes come newest first. before, after: limit them to sequence numbers below and above these (0: no limit). limit:
    the maximum number; fewer if they are large, but none only at the end. All changes after the horizon are known; of
    older ones, only those that are still the state of a key.
    """

    def read_horizon(self, prefix: str) -> int:
        """Return the oldest revision at which `Store.read_range_at` can read states under a prefix."""

    async def read_key(self, key: str, before: int = 0, after: int = 0, limit: int = 100) -> list[LoggedWrite]:
        """Return the newest changes of one key."""

    async def read_under(
        self, prefixes: Sequence[str], before: int = 0, after: int = 0, limit: int = 100
    ) -> list[LoggedWrite]:
        """Return the newest changes of keys under some prefixes, none of which contains another."""

    async def find_revision(self, at: int) -> int:
        """Return the newest revision written at or before a time, in milliseconds since 1970.

        Raises HistoryCompacted.
        """

    async def find_time(self, revision: int) -> int:
        """Return when the first change at or after a revision was written: milliseconds since 1970, 0 if unknown."""

    async def find_sequence(self, revision: int) -> int:
        """Return a sequence number that no change at or before a revision exceeds, and that all later ones do."""

    async def list_resources(self) -> list[str]:
        """Return the prefixes of the resources that have changes, such as /core/configmaps/, in order."""

    def use_states(self, find_state: Callable[[str, int], Record | None]) -> None:
        """Set a function that returns known states, which saves reading the states that writes replace.

        find_state: returns the state of a key at a revision, None if it does not know it.
        """


BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # of durations, in seconds
KEPT = StoredValue(b"", -1)
# a value of `expect`: the revision of the previous commit of the chain, which has written the key
FOLLOWING = -1
# called if history was compacted before it was delivered: the next delivery is later than this revision
Lost = Callable[[int], None]
# receives changes in the order of revisions, whole commits, and the revision up to which all changes were delivered
Deliver = Callable[[Sequence[StoreChange], int], None]


class Store(Protocol):
    """A revisioned key-value store. Every method raises StoreError if the engine fails.

    name: of the engine. prompt: watches are notified before the writer, and no other process writes, so readers of a
    watch need not ask for the current revision. atomic: all operations of a commit have one revision and become visible
    together. If False, they become visible one after the other, and only the first one's revision is known; it is set
    when the store is open. changelog: the log of changes and their authors; None if the engine keeps none. durations:
    of calls, by operation.
    """

    name: str
    prompt: bool
    atomic: bool
    changelog: ChangeLog | None
    durations: Mapping[str, Histogram]

    @property
    def compacted_revision(self) -> int:
        """The newest compacted revision: states at and after it, and changes after it, can be read."""

    async def open(self) -> None:
        """Open the store. Raises StoreDamaged for invalid data, StoreError if it cannot be opened."""

    async def close(self) -> None:
        """Finish work in progress and release everything."""

    def read_revision(self) -> Awaitable[int]:
        """Return the revision of the newest durable commit of any process, 0 for an empty store."""

    def has_newest(self, revision: int) -> bool:
        """Return whether no client can have seen a change after `revision`, the last one of a watch. True if prompt."""

    async def check_health(self) -> None:
        """Raise StoreError if the store cannot be read, or writes fail."""

    def watch(self, prefix: str, after: int, deliver: Deliver, lost: Lost | None = None) -> Callable[[], None]:
        """Deliver every durable change of keys under `prefix` later than `after`, once and in order.

        Returns a function that ends the watch. `deliver` runs on the event loop; it gets no changes if only the
        revision has increased. Its exceptions are logged. lost: called if the watch has a gap, because history was
        compacted before its delivery. Raises HistoryCompacted.
        """

    def commit(self, operations: Sequence[Operation]) -> Awaitable[int]:
        """Carry out all operations, each on a different key, or none of them.

        Returns the revision of the first one (of all, if the store is atomic), once they are durable. Raises
        RevisionConflict for the first key in an unexpected state. If the caller is cancelled, the commit may still
        succeed.
        """

    def commit_chain(self, commits: Sequence[Sequence[Operation]]) -> Awaitable[list[int]]:
        """Carry out commits one after the other, up to the first one that fails.

        Operations of later commits may expect FOLLOWING. Returns the revisions of the successful ones, at least one,
        once they are durable, which may take no longer than for one. Raises as `commit` if the first one fails.
        """
        return _commit_each(self.commit, commits)

    async def read_range(self, prefix: str) -> tuple[list[Record], int]:
        """Return all records under `prefix` in key order, and the revision of that state."""

    async def read_range_at(self, prefix: str, revision: int) -> list[Record]:
        """Return the records of `read_range` at `revision`, back to the change log's horizon.

        Raises HistoryCompacted.
        """

    async def read_page(
        self, revision: int, after: str, limit: int, prefix: str = keys.ALL
    ) -> tuple[list[Record], str]:
        """Return records of the state at a revision after the key `after` ("": from the start), in the engine's order.

        prefix: only keys under it; those of one resource are in key order. Also returns the key to continue after, ""
        at the end. Raises HistoryCompacted.
        """

    def hold_history(self) -> ExitStack:
        """Keep all history in this process until the returned stack is closed."""

    async def advance_revision(self, revision: int, say: Callable[[int], None] = lambda _: None) -> None:
        """Make every later commit get a revision above this one, and forget all history.

        This can take one write for each skipped revision; say: called with the progress.
        """

    def read_figures(self) -> Mapping[str, int]:
        """Return figures: revision, compacted, size and history in bytes, oldest history in seconds since 1970."""

    async def read_changes(self, prefix: str, after: int) -> list[StoreChange]:
        """Return all changes under `prefix` later than `after`, in order, with `before`. Raises HistoryCompacted."""

    async def compact(self, revision: int) -> None:
        """Forget states that were replaced or deleted at or before `revision`."""


async def _commit_each(
    commit: Callable[[Sequence[Operation]], Awaitable[int]], commits: Sequence[Sequence[Operation]]
) -> list[int]:
    """Commit a chain. Other clients may write in between; then the next commit fails and ends the chain."""
    revisions = [await commit(commits[0])]
    for operations in commits[1:]:
        last = revisions[-1]
        following = [item._replace(expect=last) if item.expect == FOLLOWING else item for item in operations]
        try:
            revisions.append(await commit(following))
        except StoreError:
            break
    return revisions


async def read_record(store: Store, key: str) -> Record | None:
    """Return the state of a key, None if it is absent. Raises StoreError."""
    return next((record for record in (await store.read_range(key))[0] if record.key == key), None)
