"""The verdict of token authenticators, and the issuer that a signed token names before it is verified."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from podless.auth.user import User

_LONGEST = 32 << 10  # characters of a token that is looked into


class TokenVerdict(NamedTuple):
    """The verdict on a token.

    user: None for an invalid token. audiences: that the token is for. holds: whether it is still valid; called at every
    request.
    """

    user: User | None
    audiences: tuple[str, ...] = ()
    holds: Callable[[], bool] | None = None


class Issued(Protocol):
    """An authenticator of signed tokens of one issuer."""

    def knows_issuer(self, issuer: str) -> bool:
        """Return whether it knows the issuer that a token names."""

    async def find(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Return the user and the audiences of a token."""


def read_issuer(token: str) -> str:
    """Return the issuer that a token claims, "" if it is not a signed token."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > _LONGEST:
        return ""
    claims = _decode(parts[1])
    found = claims.get("iss") if isinstance(claims, dict) else None
    return found if isinstance(found, str) else ""


def _decode(part: str) -> Any:
    try:
        return orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError):
        return None
