"""What the server holds of bytes for its clients: bodies on their way in, answers and streams on their way out.

There is one account, with a bound for all together and half of it for each user. Where it is full, who holds most makes
room: what of theirs has waited longest for its client (a body that comes in slowly, an answer that is not read) is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from podless.meta.errors import TooManyRequests

BODIES, ANSWERS, STREAMS = "bodies", "answers", "streams"
REFUSAL = "the server holds too much for its clients, please try again later"


class Holder(Protocol):
    """What waits for a client, and can be let go."""

    def cut(self) -> None:
        """Let go, and give back what is held, at once."""


class _Share:
    """What one user has. holders: with their bytes, who waits longest first."""

    __slots__ = ("holders", "size")

    def __init__(self) -> None:
        self.size = 0
        self.holders: dict[Holder, int] = {}

    def cut(self) -> None:
        holder = next(iter(self.holders))
        holder.cut()
        self.holders.pop(holder, None)


class Held:
    """The account of a server. most: bytes of all together; a user has half of it.

    loose: bytes that came in before anybody wanted them, counted to nobody. sorts: bytes by what they are. replaced:
    gives the bytes of all states that were replaced so far; who reads a list or a watch's begin slowly keeps those
    that are replaced meanwhile.
    """

    __slots__ = ("_most", "_readers", "_taken", "_users", "cuts", "loose", "replaced", "sorts")

    def __init__(self, most: int, replaced: Callable[[], int] = lambda: 0) -> None:
        self._most = most
        self._taken = 0
        self._users: dict[str, _Share] = {}
        self._readers: dict[Holder, int] = {}
        self.loose = 0
        self.cuts = 0
        self.sorts = {BODIES: 0, ANSWERS: 0, STREAMS: 0}
        self.replaced = replaced

    @property
    def most(self) -> int:
        """Bytes that may be held together."""
        return self._most

    @property
    def held(self) -> int:
        """Bytes that are held, or about to be."""
        return self._taken + self.loose

    @property
    def crowded(self) -> bool:
        """Whether so much came in that nobody wants yet that no more of it is to come."""
        return self.loose > self._most // 4

    def take(
        self, user: str, size: int, sort: str = BODIES, holder: Holder | None = None, *, alone: bool = False
    ) -> None:
        """Put bytes on a user's account. holder: waits for a client with them. Raises TooManyRequests.

        alone: of a holder that has all that there is on the account of the user, or of all, these bounds do not count.
        """
        share = self._users.get(user)
        if share is None:
            share = self._users[user] = _Share()
        only = alone and holder is not None and share.holders.get(holder, 0) == share.size
        over = share.size + size > self._most // 2 and not only
        full = self._taken + self.loose + size > self._most and not (only and share.size == self._taken)
        if over or (full and not self._make_room(share, size)):
            self._forget(user, share)
            raise TooManyRequests(REFUSAL, {"retryAfterSeconds": 1})
        self._taken += size
        self.sorts[sort] += size
        share.size += size
        if holder is not None:
            share.holders[holder] = share.holders.get(holder, 0) + size

    def hold(self, user: str, size: int, sort: str, holder: Holder, *, alone: bool = False) -> bool:
        """The same for what cannot be refused any more: the user's own go first. False where it would be this one."""
        while True:
            try:
                self.take(user, size, sort, holder, alone=alone)
            except TooManyRequests:
                share = self._users.get(user)
                if share is None or not share.holders or next(iter(share.holders)) is holder:
                    return False
                self._cut(share)
            else:
                return True

    def give(self, user: str, size: int, sort: str = BODIES, holder: Holder | None = None) -> None:
        """Take bytes off again."""
        share = self._users[user]
        self._taken -= size
        self.sorts[sort] -= size
        share.size -= size
        if holder is not None and holder in share.holders:
            share.holders[holder] -= size
            if share.holders[holder] <= 0:
                del share.holders[holder]
        if not share.size:
            self._forget(user, share)

    def arrived(self, user: str, holder: Holder) -> None:
        """What a holder has waited for is there; it stays on the account, and is not cut any more."""
        if user in self._users:
            self._users[user].holders.pop(holder, None)

    def _forget(self, user: str, share: _Share) -> None:
        if not share.size and not share.holders:
            self._users.pop(user, None)

    def _make_room(self, mine: _Share, size: int) -> bool:
        """Whether there is room for more; those who have more than this user make it."""
        while self._taken + self.loose + size > self._most:
            others = [share for share in self._users.values() if share.holders and share.size > mine.size + size]
            if not others:
                return False
            self._cut(max(others, key=lambda share: share.size))
        return True

    def _cut(self, share: _Share) -> None:
        self.cuts += 1
        share.cut()

    # who reads states of long ago

    def reading(self, holder: Holder) -> None:
        """Begins to read states as they are now."""
        self._readers[holder] = self.replaced()

    def read(self, holder: Holder) -> None:
        """Has read them."""
        self._readers.pop(holder, None)

    def trim(self) -> None:
        """Cut off those who keep more of replaced states than may be: who began first has most."""
        while self._readers:
            holder, since = next(iter(self._readers.items()))
            if self.replaced() - since <= self._most // 2:
                return
            self._readers.pop(holder)
            self.cuts += 1
            holder.cut()
