"""What a signed token says before anybody has looked at its signature."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import orjson

_LONGEST = 32 << 10  # characters of a token that is looked into


def read_issuer(token: str) -> str:
    """The issuer that a token claims to be of, "" for what is no signed token."""
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
