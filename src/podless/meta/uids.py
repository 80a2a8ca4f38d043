"""The identity that every object has for as long as it lives: metadata.uid."""

from __future__ import annotations

import os

_VARIANT = "89ab" * 4  # by the hexadecimal digit that stands there, so that two of its bits say RFC 4122


def make_uid() -> str:
    """A random UUID (RFC 4122, version 4), as `str(uuid.uuid4())` makes it in three times the time."""
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANT[int(text[16], 16)]}{text[17:20]}-{text[20:]}"
