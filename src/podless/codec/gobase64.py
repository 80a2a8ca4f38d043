"""Base64 as Go decodes it: where it stops, and what it says."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Sequence

from podless.runtime.meter import each

_ALPHANUMERIC = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_PAD = ord("=")


def count_decoded_bytes(text: str) -> int:
    """Return the decoded size of valid base64 without line breaks."""
    return len(text) * 3 // 4 - text.count("=", -2)


def decode_base64(text: str, *, url: bool = False, padded: bool = True) -> bytes:
    """Decode base64, in which line breaks are skipped. Raises ValueError with Go's text.

    url: with the alphabet for URLs. padded: with padding, else without.
    """
    raw = text.encode()
    if padded and not url and len(raw) % 4 == 0:
        with contextlib.suppress(ValueError):
            return base64.b64decode(raw, validate=True)
    last = b"-_" if url else b"+/"
    alphabet = frozenset(_ALPHANUMERIC + last)
    offsets = [offset for offset, code in enumerate(each(raw)) if code not in b"\r\n"]
    count = next((index for index, offset in enumerate(offsets) if raw[offset] not in alphabet), len(offsets))
    fault = _find_fault(raw, offsets, count, padded=padded)
    if fault is not None:
        raise ValueError(f"illegal base64 data at input byte {fault}")
    digits = bytes(raw[offset] for offset in offsets[:count])
    return base64.b64decode(digits + b"=" * (-count % 4), altchars=last)


def _find_fault(raw: bytes, offsets: Sequence[int], count: int, *, padded: bool) -> int | None:
    """Return the offset where Go's decoder stops, None for valid base64.

    offsets: those of all bytes but line breaks, the first `count` of which are digits.
    """
    place = count % 4  # of what follows the digits, in its group of four
    if count == len(offsets):
        return len(raw) - place if place == 1 or (place and padded) else None
    if not padded or raw[offsets[count]] != _PAD or place < 2:
        return offsets[count]
    after = offsets[count + 1 :]
    if place == 2:
        if not after:
            return len(raw)
        if raw[after[0]] != _PAD:
            return after[0] - 1
        after = after[1:]
    return after[0] if after else None
