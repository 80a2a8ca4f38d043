"""What follows from a write before it is answered: controllers take it on, by kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.store import Operation


class FollowUpCommits(NamedTuple):
    """What follows from a new object, as far as that is known: commits behind its own, and the object as it is then.

    They may come to nothing, where others are quicker: the follow-up sees to it then.
    """

    commits: Sequence[Sequence[Operation]]
    obj: Object


class FollowUp(Protocol):
    """The follow-up of writes of a kind; a controller is one."""

    @property
    def busy(self) -> bool:
        """Whether there are writes that have not been followed up yet."""

    async def after_commit(self, key: str, made: Object | None = None) -> None:
        """Wait until one write is followed up. key: what was written. made: the new object, where that is at hand."""

    async def flush(self) -> None:
        """Wait until all writes so far are followed up."""

    def follow_up_commits(self, key: str, made: Object) -> FollowUpCommits | None:
        """Return what can be committed at once with a new object; None if there is nothing or it is not known yet."""


class FollowUps:
    """The follow-ups of a server. A controller adds itself when it starts, and leaves when it stops."""

    def __init__(self) -> None:
        self._by_prefix: dict[str, FollowUp] = {}

    def add(self, kind: Kind, follow_up: FollowUp) -> Callable[[], None]:
        """Have writes of a kind wait for a follow-up; the returned function ends that. One at a time for each kind."""
        assert kind.prefix not in self._by_prefix
        self._by_prefix[kind.prefix] = follow_up

        def leave() -> None:
            del self._by_prefix[kind.prefix]

        return leave

    def of(self, kind: Kind) -> FollowUp | None:
        """Return the follow-up of a kind's writes, None if they are answered when they are committed."""
        return self._by_prefix.get(kind.prefix)
