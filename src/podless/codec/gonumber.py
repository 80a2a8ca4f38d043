"""Integers of any length, as Go's strconv parses them.

Python's int rejects more than 4,300 digits, with a message that no Go server sends.
"""

from __future__ import annotations

from podless.codec import gotext

_LONGEST = 20  # digits of the largest 64-bit number


def parse_natural(digits: str) -> int:
    """Return the value of decimal digits, 0 for "". A number beyond 64 bits becomes some number beyond 64 bits."""
    digits = digits.lstrip("0")
    return int(digits or 0) if len(digits) <= _LONGEST else 1 << 64 + _LONGEST


def parse_int(text: str, bits: int = 64, name: str = "ParseInt") -> int:
    """Return a decimal number with an optional sign. name: the function in error messages.

    Raises ValueError with Go's text.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"strconv.{name}: parsing {gotext.quote(text)}: invalid syntax")
    number = parse_natural(digits)
    limit = (1 << bits - 1) - (text[0] != "-")
    if number > limit:
        raise ValueError(f"strconv.{name}: parsing {gotext.quote(text)}: value out of range")
    return -number if text[0] == "-" else number
