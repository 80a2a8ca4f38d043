"""Accounts for the bytes that the server holds for clients: bodies, answers and streams.

There is one account with a limit, and half of it for each user. If it is full, the largest user makes room. podless
drops the data that has waited longest for its client, such as a slow body or an unread answer, and ends its request or
connection. What a watch keeps of its request is charged here by http/watchselectors.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from podless.meta.errors import TooManyRequests

_IDLE = 256  # users without bytes whose shares are kept
REFUSAL = "the server holds too much for its clients, please try again later"
BODIES, ANSWERS, STREAMS = "bodies", "answers", "streams"


class Holder(Protocol):
    """Data that waits for a client and can be released."""

    def cut_off(self) -> None:
        """Release the data now, and end its request or connection."""


class _UserShare:
    """The bytes of one user. holders: with their bytes, in the order in which they began to wait."""

    __slots__ = ("holders", "size")

    def __init__(self) -> None:
        self.size = 0
        self.holders: dict[Holder, int] = {}


class ClientMemory:
    """The account of a server. limit: total limit in bytes; one user may use half of it.

    unrequested: received bytes that no request has asked for, charged to no user. replaced: returns the bytes of all
    states that were replaced so far. A client that slowly reads a list or the start of a watch keeps those that are
    replaced meanwhile.
    """

    __slots__ = ("_charged", "_half", "_other_bytes", "_readers", "_users", "cuts", "limit", "replaced", "unrequested")

    def __init__(self, limit: int, replaced: Callable[[], int] = lambda: 0) -> None:
        self.limit = limit
        self._half = limit // 2
        self._charged = 0
        self._users: dict[str, _UserShare] = {}
        self._readers: dict[Holder, int] = {}
        self.unrequested = 0
        self.cuts = 0
        self._other_bytes = {ANSWERS: 0, STREAMS: 0}  # bytes by purpose, without bodies
        self.replaced = replaced

    @property
    def total(self) -> int:
        """The bytes that are held, or about to be."""
        return self._charged + self.unrequested

    @property
    def by_purpose(self) -> dict[str, int]:
        """The bytes by purpose."""
        return {BODIES: self._charged - sum(self._other_bytes.values()), **self._other_bytes}

    @property
    def is_crowded(self) -> bool:
        """Whether unrequested bytes have reached their limit."""
        return self.unrequested > self.limit // 4

    def charge_user(
        self, user: str, size: int, purpose: str = BODIES, holder: Holder | None = None, *, alone: bool = False
    ) -> None:
        """Charge bytes to a user. holder: owns them while they wait for its client. Raises TooManyRequests.

        alone: no limit applies to a holder if nothing else is on the user's account, or on the whole account.
        """
        share = self._users.get(user)
        if share is None:
            share = self._users[user] = _UserShare()
        if self._charged + self.unrequested + size > self._half:  # else neither limit is reached
            self._check_limits(user, share, size, holder if alone else None)
        self._charged += size
        share.size += size
        if purpose != BODIES:
            self._other_bytes[purpose] += size
        if holder is not None:
            share.holders[holder] = share.holders.get(holder, 0) + size

    def _check_limits(self, user: str, share: _UserShare, size: int, alone: Holder | None) -> None:
        """Make room if bytes exceed a limit. Raises TooManyRequests. alone: a holder that may be alone over it."""
        only = alone is not None and share.holders.get(alone, 0) == share.size
        is_user_over = share.size + size > self._half and not only
        full = self._charged + self.unrequested + size > self.limit and not (only and share.size == self._charged)
        if is_user_over or (full and not self._make_room(share, size)):
            if not share.size and not share.holders:
                self._users.pop(user, None)
            raise TooManyRequests(REFUSAL, {"retryAfterSeconds": 1})

    def charge_holder(self, user: str, size: int, purpose: str, holder: Holder, *, alone: bool = False) -> bool:
        """Charge existing bytes; the user's other holders are cut first. Returns False if `holder` must be cut."""
        while True:
            try:
                self.charge_user(user, size, purpose, holder, alone=alone)
            except TooManyRequests:
                share = self._users.get(user)
                if share is None or not share.holders or next(iter(share.holders)) is holder:
                    return False
                self._cut_holder(share)
            else:
                return True

    def release_bytes(self, user: str, size: int, purpose: str = BODIES, holder: Holder | None = None) -> None:
        """Take bytes off the account."""
        share = self._users[user]
        self._charged -= size
        share.size -= size
        if purpose != BODIES:
            self._other_bytes[purpose] -= size
        if share.holders and holder is not None and holder in share.holders:
            share.holders[holder] -= size
            if share.holders[holder] <= 0:
                del share.holders[holder]
        # a user who comes again soon needs no new share
        if not share.size and len(self._users) > _IDLE and not share.holders:
            del self._users[user]

    def note_complete(self, user: str, holder: Holder) -> None:
        """Note that the data of a holder is complete: it stays charged, and is not cut any more."""
        if user in self._users:
            self._users[user].holders.pop(holder, None)

    def _make_room(self, share: _UserShare, size: int) -> bool:
        """Return whether there is room for more bytes. Users with more bytes than this one are cut to make it."""
        while self._charged + self.unrequested + size > self.limit:
            larger = [item for item in self._users.values() if item.holders and item.size > share.size + size]
            if not larger:
                return False
            self._cut_holder(max(larger, key=lambda item: item.size))
        return True

    def _cut_holder(self, share: _UserShare) -> None:
        self.cuts += 1
        holder = next(iter(share.holders))
        holder.cut_off()
        share.holders.pop(holder, None)

    # readers of replaced states

    def begin_read(self, holder: Holder) -> None:
        """Note that a holder starts reading the present states."""
        self._readers[holder] = self.replaced()

    def end_read(self, holder: Holder) -> None:
        """Note that a holder has read all present states."""
        self._readers.pop(holder, None)

    def cut_off_readers(self) -> None:
        """Cut off readers that keep more replaced states alive than allowed, the earliest first."""
        while self._readers:
            holder, since = next(iter(self._readers.items()))
            if self.replaced() - since <= self._half:
                return
            self._readers.pop(holder)
            self.cuts += 1
            holder.cut_off()
