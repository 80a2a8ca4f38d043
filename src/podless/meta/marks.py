"""What a server marks objects with: the time, and an identity."""

from __future__ import annotations

import os
import time
from functools import lru_cache

_VARIANT = "89ab" * 4  # by the hexadecimal digit that stands there, so that two of its bits say RFC 4122


def now() -> str:
    """The present time as objects carry it: RFC 3339, whole seconds, in UTC."""
    return _moment(int(time.time()))


@lru_cache(maxsize=4)
def _moment(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def uid() -> str:
    """A random UUID (RFC 4122, version 4), as `str(uuid.uuid4())` makes it in three times the time."""
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANT[int(text[16], 16)]}{text[17:20]}-{text[20:]}"
