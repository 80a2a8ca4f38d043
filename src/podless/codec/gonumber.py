"""Whole numbers as Go's strconv reads them from text: of any length, which Python's int does not take.

Python refuses to read more than 4,300 digits, in words that no client of a Go server has seen.
"""

from __future__ import annotations

from podless.codec import gotext

_LONGEST = 20  # digits of the largest number of 64 bits


def parse_natural(digits: str) -> int:
    """Return a number of decimal digits, "" being 0. One beyond 64 bits becomes some number beyond 64 bits."""
    digits = digits.lstrip("0")
    return int(digits or 0) if len(digits) <= _LONGEST else 1 << 64 + _LONGEST


def parse_int(text: str, bits: int = 64, name: str = "ParseInt") -> int:
    """Return a decimal number with or without a sign. name: the function in messages.

    Raises ValueError with Go's text.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"strconv.{name}: parsing {gotext.quote(text)}: invalid syntax")
    number = parse_natural(digits)
    most = (1 << bits - 1) - (text[0] != "-")
    if number > most:
        raise ValueError(f"strconv.{name}: parsing {gotext.quote(text)}: value out of range")
    return -number if text[0] == "-" else number
