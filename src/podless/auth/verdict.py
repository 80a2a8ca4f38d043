"""What authenticators of tokens find, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from podless.auth.user import User


class TokenVerdict(NamedTuple):
    """What an authenticator of tokens has found.

    user: None for a token that is not good. audiences: whom the token is for. holds: whether it still is so; it is
    asked at every request.
    """

    user: User | None
    audiences: tuple[str, ...] = ()
    holds: Callable[[], bool] | None = None


class Issued(Protocol):
    """An authenticator of signed tokens of one issuer."""

    def mine(self, issuer: str) -> bool:
        """Whether it knows the issuer that a token names."""

    async def find(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Whose token it is, and whether it is for one of the audiences."""
