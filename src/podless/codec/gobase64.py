"""Base64 as Go decodes it: where it stops, and what it says."""

from __future__ import annotations

import base64
import binascii
import contextlib

from podless.runtime.meter import each

_ALPHANUMERIC = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_ALPHABET = frozenset(_ALPHANUMERIC + b"+/")
_URL_ALPHABET = frozenset(_ALPHANUMERIC + b"-_")


def format_fault(offset: int) -> str:
    """Return Go's text for a decoder that stops at this offset."""
    return f"illegal base64 data at input byte {offset}"


def decode_url_base64(text: str) -> bytes:
    """Decode base64 for URLs, without padding; line breaks are skipped. Raises ValueError with Go's text."""
    raw = text.encode()
    data = raw.replace(b"\n", b"").replace(b"\r", b"")
    fault = next((index for index, code in enumerate(raw) if code not in _URL_ALPHABET and code not in b"\r\n"), None)
    if fault is None and len(data) % 4 == 1:
        fault = len(raw) - 1
    if fault is not None:
        raise ValueError(format_fault(fault))
    return base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))


def count_decoded_bytes(text: str) -> int:
    """Return the decoded size of valid base64 without line breaks."""
    return len(text) * 3 // 4 - text.count("=", -2)


def find_base64_fault(text: str) -> int | None:
    """Return the offset where Go's base64 decoder stops, None for valid base64. Line breaks are skipped."""
    with contextlib.suppress(ValueError):
        base64.b64decode(text, validate=True)
        if len(text) % 4 == 0:
            return None
    data = [(offset, char) for offset, char in enumerate(each(text.encode())) if char not in b"\r\n"]
    try:
        base64.b64decode(bytes(char for _, char in data), validate=True)
        if len(data) % 4 == 0:
            return None
    except binascii.Error:
        pass
    end = len(text.encode())
    for index, (offset, char) in enumerate(data):
        if char in _ALPHABET:
            continue
        last = index % 4 == 3
        if char != ord("=") or index % 4 < 2:
            return offset
        if not last:
            if index + 1 == len(data):
                return end
            if data[index + 1][1] != ord("="):
                return offset
            index += 1
        return data[index + 1][0] if index + 1 < len(data) else end
    return end - len(data) % 4
