"""Accept headers, as goautoneg reads them: not quite as the standard says, and clients see the difference."""

from __future__ import annotations

import struct
from typing import NamedTuple

# clauses up to which Go sorts by insertion; with more, what it makes of an order that is none is up to its sort
_FEW = 12
_MANY = 256  # no client has as many
_OFFERED = ("*", "application")
_DIGITS = frozenset("0123456789")
_WORDS = ("inf", "infinity")


class MediaRange(NamedTuple):
    """One media range: its quality, its type and subtype ("*" for any), and its other parameters."""

    quality: float
    kind: str
    subtype: str
    parameters: dict[str, str]


def parse_accept(accept: str) -> list[MediaRange]:
    """Return the clauses of an Accept header, best first, without invalid ones.

    Of very many clauses, duplicates and types that no server offers are left out, too.
    """
    found: list[MediaRange] = []
    parts = accept.split(",")
    if len(parts) > _MANY:
        # what is offered is applications: among many, the order of these is the same without the others
        parts = [part for part in dict.fromkeys(parts) if part.lstrip(" ").startswith(_OFFERED)]
    for part in parts:
        clause = _clause(part.strip(" "))
        if clause is not None:
            found.append(clause)
    return _inserted(found) if len(found) <= _FEW and len(parts) <= _MANY else sorted(found, key=_rank)


def _inserted(found: list[MediaRange]) -> list[MediaRange]:
    """Sort by insertion, as apimachinery does: the order is not transitive, so other sorts give other results."""
    for last in range(1, len(found)):
        at = last
        while at and _before(found[at], found[at - 1]):
            found[at], found[at - 1] = found[at - 1], found[at]
            at -= 1
    return found


def _rank(clause: MediaRange) -> tuple[float, bool, bool]:
    """Return the order of many clauses: by quality, and then the more exact ones first."""
    quality = clause.quality if clause.quality == clause.quality else 0.0
    return -quality, clause.kind == "*", clause.subtype == "*"


def _clause(part: str) -> MediaRange | None:
    media, *fields = part.split(";")
    kind, *subtypes = media.split("/")
    kind = kind.strip(" ")
    if not any(subtypes):
        if kind != "*":
            return None
        subtypes = ["*"]
    if len(subtypes) > 1 and any(subtypes[1:]):
        return None
    parameters, quality = {}, 1.0
    for field in fields:
        name, *values = field.split("=")
        if not values or not values[0] or any(values[1:]):
            continue
        if name.strip(" ") == "q":
            quality = _quality(values[0])
        else:
            parameters[name.strip(" ")] = values[0].strip(" ")
    return MediaRange(quality, kind, subtypes[0].strip(" "), parameters)


def _quality(text: str) -> float:
    """Return a 32-bit number; 0 for an invalid one."""
    if not _is_number(text):
        return 0.0
    try:
        narrow: float = struct.unpack("f", struct.pack("f", float(text)))[0]
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")
    return narrow


def _is_number(text: str) -> bool:
    """Return whether Go reads a number, or inf or nan, in a text; looked through once."""
    lower = text.lower()
    rest = lower[1:] if lower[:1] in ("+", "-") else lower
    if rest in _WORDS or lower == "nan":
        return True
    mantissa, sign, exponent = rest.partition("e")
    if sign:
        exponent = exponent[1:] if exponent[:1] in ("+", "-") else exponent
        if not exponent or not _DIGITS.issuperset(exponent):
            return False
    whole, _, fraction = mantissa.partition(".")
    return bool(whole or fraction) and _DIGITS.issuperset(whole) and _DIGITS.issuperset(fraction)


def _before(one: MediaRange, other: MediaRange) -> bool:
    """Return whether a clause comes before another: one of higher quality, or a more exact one of any quality."""
    return (
        one.quality > other.quality
        or (one.kind != "*" and other.kind == "*")
        or (one.subtype != "*" and other.subtype == "*")
    )
