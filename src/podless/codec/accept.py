"""Accept headers, as goautoneg parses them. It differs from the standard, and clients can see that."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

# maximum clauses that Go sorts by insertion; the order of more clauses depends on Go's algorithm, because the
# comparison is not transitive
_MAX_INSERTED = 12
_MAX_CLAUSES = 256  # no real client sends more
_OFFERED = ("*", "application")
# a text that Go parses as a number
_NUMBER = re.compile(
    r"nan|[+-]?(?:inf(?:inity)?|(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:e[+-]?[0-9]++)?)", re.IGNORECASE | re.ASCII
)


class MediaRange(NamedTuple):
    """One media range: quality, type and subtype ("*" for any), and other parameters."""

    quality: float
    kind: str
    subtype: str
    parameters: dict[str, str]


def parse_accept(accept: str) -> list[MediaRange]:
    """Return the clauses of an Accept header, best first, without invalid ones.

    If there are more than 256, duplicates and types that no server offers are left out, too.
    """
    ranges: list[MediaRange] = []
    clauses = accept.split(",")
    if len(clauses) > _MAX_CLAUSES:
        # servers offer application types only; the other clauses do not change the order of these
        clauses = [text for text in dict.fromkeys(clauses) if text.lstrip(" ").startswith(_OFFERED)]
    for text in clauses:
        clause = _parse_range(text.strip(" "))
        if clause is not None:
            ranges.append(clause)
    if len(ranges) <= _MAX_INSERTED and len(clauses) <= _MAX_CLAUSES:
        return _sort_by_insertion(ranges)
    return sorted(ranges, key=_rank_range)


def _sort_by_insertion(media_ranges: list[MediaRange]) -> list[MediaRange]:
    """Sort by insertion, as apimachinery does. The order is not transitive, so other sorts give other results."""
    for last in range(1, len(media_ranges)):
        at = last
        while at and _precedes(media_ranges[at], media_ranges[at - 1]):
            media_ranges[at], media_ranges[at - 1] = media_ranges[at - 1], media_ranges[at]
            at -= 1
    return media_ranges


def _rank_range(clause: MediaRange) -> tuple[float, bool, bool]:
    """Return the sort key for many clauses: by quality, then the more specific ones first."""
    quality = clause.quality if clause.quality == clause.quality else 0.0
    return -quality, clause.kind == "*", clause.subtype == "*"


def _parse_range(clause: str) -> MediaRange | None:
    media, *fields = clause.split(";")
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
            quality = _parse_quality(values[0])
        else:
            parameters[name.strip(" ")] = values[0].strip(" ")
    return MediaRange(quality, kind, subtypes[0].strip(" "), parameters)


def _parse_quality(text: str) -> float:
    """Return a 32-bit float; 0 for an invalid one."""
    if not _NUMBER.fullmatch(text):
        return 0.0
    try:
        rounded: float = struct.unpack("f", struct.pack("f", float(text)))[0]
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")
    return rounded


def _precedes(left: MediaRange, right: MediaRange) -> bool:
    """Return whether a clause precedes another: it has a higher quality, or is more specific with any quality."""
    return (
        left.quality > right.quality
        or (left.kind != "*" and right.kind == "*")
        or (left.subtype != "*" and right.subtype == "*")
    )
