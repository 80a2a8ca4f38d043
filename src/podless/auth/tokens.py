"""Bearer tokens: the verdict of their authenticators, and static tokens, the administrator's and those of a file."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson

from podless.auth.user import AUTHENTICATED, User
from podless.runtime.files import describe_fault
from podless.runtime.option import StartError

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


class BadTokenFile(StartError):
    """The token file cannot be used. The text is one line for the user."""


class StaticTokens:
    """Bearer tokens and their users. It keeps digests, so that the time of a look-up says nothing about the tokens."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._users = {_digest_token(token): user for token, user in users.items()}

    def find_user(self, token: str) -> User | None:
        """Return the user of a token, None for an unknown one."""
        return self._users.get(_digest_token(token))


def _digest_token(token: str) -> bytes:
    return hmac.digest(b"podless", token.encode("utf-8", "surrogateescape"), sha256)


def read_file(path: Path) -> dict[str, User]:
    """Read a CSV file with lines token,user,uid and optionally "group1,group2". Raises BadTokenFile."""
    import csv  # imported late: few servers have such a file

    users: dict[str, User] = {}
    try:
        text = path.read_text()
    except OSError as error:
        raise BadTokenFile(describe_fault(error, path)) from None
    except UnicodeDecodeError as error:
        raise BadTokenFile(f"{path}: {error}") from None
    for number, row in enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1):
        if not row or not "".join(row).strip() or row[0].startswith("#"):
            continue
        if len(row) < 3:
            raise BadTokenFile(f"{path}: line {number}: expected token,user,uid and optional groups")
        token, name, uid = (cell.strip() for cell in row[:3])
        if not token or not name:
            raise BadTokenFile(f"{path}: line {number}: token and user must not be empty")
        if token in users:
            raise BadTokenFile(f"{path}: line {number}: duplicate token")
        groups = [group.strip() for group in row[3].split(",")] if len(row) > 3 else []
        users[token] = User(name, uid, (*filter(None, groups), AUTHENTICATED))
    return users
