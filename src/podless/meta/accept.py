"""Accept headers."""

from __future__ import annotations

from typing import NamedTuple


class Clause(NamedTuple):
    """One media range: its quality, its type and subtype ("*" for any), and its other parameters."""

    quality: float
    kind: str
    subtype: str
    parameters: dict[str, str]


def clauses(accept: str) -> list[Clause]:
    """The clauses of an Accept header, best first: by quality, then by how exact they are, then as they came."""
    found = []
    for part in accept.split(","):
        media, *fields = (piece.strip() for piece in part.split(";"))
        kind, _, subtype = media.partition("/")
        if not subtype and media == "*":
            subtype = "*"
        parameters, quality = {}, 1.0
        for text in fields:
            name, _, value = text.partition("=")
            if name.strip() == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 1.0
            else:
                parameters[name.strip()] = value.strip()
        found.append(Clause(quality, kind, subtype, parameters))
    found.sort(key=lambda clause: (-clause.quality, clause.kind == "*", clause.subtype == "*"))
    return found
