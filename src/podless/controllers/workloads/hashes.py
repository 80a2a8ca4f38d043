"""Hashes of pod templates. Equal templates have equal hashes."""

from __future__ import annotations

import hashlib
from typing import Any

from podless.codec import serializer

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH = 10


def hash_template(template: dict[str, Any]) -> str:
    """Return a hash of digits and consonants, so that it contains no words."""
    number = int.from_bytes(hashlib.sha256(serializer.encode_sorted(template)).digest()[:8])
    found = ""
    for _ in range(_LENGTH):
        number, letter = divmod(number, len(_LETTERS))
        found += _LETTERS[letter]
    return found
