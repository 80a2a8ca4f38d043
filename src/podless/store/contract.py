"""What every engine of the store promises; tests/store/contract.py runs against each of them.

Keys are text and sort by code point; values are bytes that an engine never looks into. Every successful write gets
the next revision, one counter for the whole store, which never goes back, not even over a restart. A value carries a
`mark`: the offset at which a reader splices the revision in, so that what is stored is what clients get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class StoreError(Exception):
    """The store cannot do what it was asked; the text is one clear line for a person."""


class Damaged(StoreError):
    """What is on disk is not a store, or not one that this release reads."""


class Conflicted(StoreError):
    """The key does not have the revision that the write expects; `actual` is the one it has, 0 for none."""

    def __init__(self, key: str, actual: int) -> None:
        super().__init__(f"{key} is at revision {actual}")
        self.key = key
        self.actual = actual


class Compacted(StoreError):
    """The history asked for is gone; `floor` is the oldest revision that can still be read."""

    def __init__(self, floor: int) -> None:
        super().__init__(f"history before revision {floor} is gone")
        self.floor = floor


class Record(NamedTuple):
    """The state of one key: its value and mark, the revision that wrote it and the one that created the key."""

    key: str
    value: bytes
    mark: int
    revision: int
    created: int


class Change(NamedTuple):
    """One write: the new state, or None for a delete; before is the state it replaced, where the engine was asked."""

    key: str
    revision: int
    record: Record | None
    before: Record | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """A write that happens only if the key is at revision `expect` (0: absent). value None deletes the key."""

    key: str
    value: bytes | None
    mark: int
    expect: int


class State(NamedTuple):
    """A value and its mark, to follow on a write of the same key."""

    value: bytes
    mark: int


Subscriber = Callable[[Sequence[Change]], None]


class Store(Protocol):
    """A revisioned key-value store. Every method raises StoreError where the engine fails."""

    @property
    def revision(self) -> int:
        """The revision of the newest durable write, 0 for an empty store."""

    @property
    def floor(self) -> int:
        """The newest compacted revision: states at and after it can be read, and changes after it."""

    async def open(self) -> None:
        """Make the store ready. Raises Damaged for what is no store, StoreError for what cannot be opened."""

    async def close(self) -> None:
        """Finish what is under way and let go of everything."""

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber` with every batch of durable changes, in order, before their writers learn of them."""

    async def commit(self, write: Write, *later: State) -> int:
        """Write, and return the revision once it is durable and every subscriber has seen it. Raises Conflicted.

        later: states that follow at once, each a revision of its own; the last of them is returned.
        """

    async def range(self, prefix: str) -> tuple[list[Record], int]:
        """All records whose keys start with `prefix`, in key order, and the revision at which that is the state."""

    async def range_at(self, prefix: str, revision: int) -> list[Record]:
        """The same as it was at `revision`. Raises Compacted."""

    async def changes(self, prefix: str, after: int) -> list[Change]:
        """All changes of keys under `prefix` later than revision `after`, in order, with `before`. Raises Compacted."""

    async def compact(self, revision: int) -> None:
        """Forget what was replaced or deleted at or before `revision`."""
