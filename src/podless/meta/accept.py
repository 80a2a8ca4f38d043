"""Accept headers, as goautoneg reads them: not quite as the standard says, and clients see the difference."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf(?:inity)?|nan", re.IGNORECASE)


class Clause(NamedTuple):
    """One media range: its quality, its type and subtype ("*" for any), and its other parameters."""

    quality: float
    kind: str
    subtype: str
    parameters: dict[str, str]


def clauses(accept: str) -> list[Clause]:
    """The clauses of an Accept header, best first; what is no media range is left out."""
    found: list[Clause] = []
    for part in accept.split(","):
        clause = _clause(part.strip(" "))
        if clause is not None:
            found.append(clause)
            # sorted as they come in: the order is none that a sort could rely on
            at = len(found) - 1
            while at and _before(found[at], found[at - 1]):
                found[at], found[at - 1] = found[at - 1], found[at]
                at -= 1
    return found


def _clause(part: str) -> Clause | None:
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
    return Clause(quality, kind, subtypes[0].strip(" "), parameters)


def _quality(text: str) -> float:
    """A number of 32 bits; what is none is 0."""
    if not _NUMBER.fullmatch(text):
        return 0.0
    try:
        narrow: float = struct.unpack("f", struct.pack("f", float(text)))[0]
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")
    return narrow


def _before(one: Clause, other: Clause) -> bool:
    """A better quality goes first, but so does what is more exact, whatever its quality."""
    return (
        one.quality > other.quality
        or (one.kind != "*" and other.kind == "*")
        or (one.subtype != "*" and other.subtype == "*")
    )
