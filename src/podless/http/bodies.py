"""What the server holds of bodies that are on their way to a handler: a bound for all, and one for each user."""

from __future__ import annotations

from collections import Counter

from podless.meta.errors import TooManyRequests

_REFUSAL = "the server holds too many request bodies, please try again later"


class Bodies:
    """An account of bytes. most: for all together; a user has half of it.

    loose: bytes that came in before anybody wanted them; they are counted to nobody.
    """

    __slots__ = ("_most", "_taken", "_users", "loose")

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._users: Counter[str] = Counter()
        self.loose = 0

    @property
    def held(self) -> int:
        """Bytes that are held, or about to be."""
        return self._taken + self.loose

    @property
    def full(self) -> bool:
        """Whether no more may come in that nobody wants yet."""
        return self._taken + self.loose > self._most

    def take(self, user: str, size: int) -> None:
        """Put bytes on a user's account. Raises TooManyRequests."""
        if self._taken + size > self._most or self._users[user] + size > self._most // 2:
            raise TooManyRequests(_REFUSAL, {"retryAfterSeconds": 1})
        self._taken += size
        self._users[user] += size

    def give(self, user: str, size: int) -> None:
        """Take them off again."""
        self._taken -= size
        self._users[user] -= size
        if not self._users[user]:
            del self._users[user]
