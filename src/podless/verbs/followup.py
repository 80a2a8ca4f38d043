"""Follow-up work: controllers handle a write before it is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.store import Operation


class FollowUpCommits(NamedTuple):
    """Commits that can follow a new object at once, and the object as they leave it.

    If other writes come first, the commits fail, and the follow-up does the work later.
    """

    commits: Sequence[Sequence[Operation]]
    obj: Object


class FollowUp(Protocol):
    """The follow-up of writes of a kind, implemented by a controller."""

    @property
    def busy(self) -> bool:
        """Whether some writes have not been handled yet."""

    async def after_commit(self, key: str, obj: Object | None = None) -> None:
        """Wait until one write is handled. key: of the written object. obj: the new object, if available."""

    async def reconcile_all(self) -> None:
        """Wait until all writes so far are handled."""

    def follow_up_commits(self, key: str, obj: Object) -> FollowUpCommits | None:
        """Return the commits that can follow a new object at once; None if none are known yet."""


class FollowUps:
    """The follow-ups of a server. A controller adds its own when it starts and removes it when it stops."""

    def __init__(self) -> None:
        self._by_prefix: dict[str, FollowUp] = {}

    def add_follow_up(self, kind: Kind, follow_up: FollowUp) -> Callable[[], None]:
        """Make writes of a kind wait for a follow-up, at most one for each kind. The returned function undoes this."""
        assert kind.prefix not in self._by_prefix
        self._by_prefix[kind.prefix] = follow_up

        def remove_follow_up() -> None:
            del self._by_prefix[kind.prefix]

        return remove_follow_up

    def find_follow_up(self, kind: Kind) -> FollowUp | None:
        """Return the follow-up of a kind; None if its writes are answered when they are committed."""
        return self._by_prefix.get(kind.prefix)
