"""The verdict of token authenticators, and the issuer that a signed token names before it is verified."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from podless.auth.user import User

_LONGEST = 32 << 10  # characters; longer tokens are not decoded


class TokenVerdict(NamedTuple):
    """The result of verifying a token.

    user: None for an invalid token. audiences: those of the token. is_valid: returns whether it is still valid; called
    for every request.
    """

    user: User | None
    audiences: tuple[str, ...] = ()
    is_valid: Callable[[], bool] | None = None


class TokenAuthenticator(Protocol):
    """An authenticator of tokens from one issuer."""

    def knows_issuer(self, issuer: str) -> bool:
        """Return whether it verifies tokens of this issuer: "" for tokens that name none."""

    async def verify_token(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Verify a token and return its user and audiences."""


def read_issuer(token: str) -> str:
    """Return the issuer that a token claims, unverified; "" if it is not a signed token."""
    segments = token.split(".")
    if len(segments) != 3 or len(token) > _LONGEST:
        return ""
    claims = _decode_part(segments[1])
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else ""


def _decode_part(segment: str) -> Any:
    try:
        return orjson.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except (binascii.Error, ValueError):
        return None
