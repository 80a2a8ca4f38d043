"""One-time codes that log the administrator in to the console."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from hashlib import sha256

from podless.runtime import clock

LIFETIME = 600.0  # seconds
_MAX = 16  # maximum number of codes; the oldest is dropped


class Links:
    """Codes that were issued and not used yet. Only their digests are kept."""

    def __init__(self, now: Callable[[], float] = clock.time) -> None:
        self._now = now
        self._ends: dict[bytes, float] = {}

    def make_code(self) -> str:
        """Return a new code."""
        while len(self._ends) >= _MAX:
            del self._ends[next(iter(self._ends))]
        code = secrets.token_urlsafe(24)
        self._ends[_hash_code(code)] = self._now() + LIFETIME
        return code

    def use_code(self, code: str) -> bool:
        """Use up a code. Returns False if it is unknown, used or expired."""
        end = self._ends.pop(_hash_code(code), None)
        return end is not None and self._now() < end


def _hash_code(code: str) -> bytes:
    return sha256(code.encode("utf-8", "replace")).digest()
