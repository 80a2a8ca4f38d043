"""Which Kubernetes release a server speaks: code asks whether something is on, and never which release it is.

What differs between releases has a name: a feature gate has Kubernetes' own, a change without one has one of ours
(the tables are in apis/release.py). A server sets its release before anything runs for it, and all that runs for it
inherits the context. Where no server is, it is the newest release.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

_NEWEST_MINOR: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Release:
    """A release, with the gates that were chosen for it.

    name: such as 1.36, "" where no server is. minor: 36 of it. without: the gates and changes that are off.
    wording: gives the text of a field error, by its field and what the newest release says; None for the same.
    sources: gives the line of Go that constructs a scheme, by that of the newest release.
    """

    name: str = ""
    minor: int = _NEWEST_MINOR
    without: frozenset[str] = frozenset()
    wording: Callable[[str, str], str] | None = None
    sources: Callable[[str], str] = str

    def has(self, name: str) -> bool:
        """Return whether a gate or a change is on."""
        return name not in self.without

    def covers(self, span: str) -> bool:
        """Return whether this is one of the releases that a span names. Raises ValueError for what is no span."""
        return covers(span, self.minor)


# "" stands for all releases
NEWEST: Final = Release()
CURRENT: ContextVar[Release] = ContextVar("release", default=NEWEST)


def has(name: str) -> bool:
    """Return whether a gate or a change is on in the release that is served here."""
    return name not in CURRENT.get().without


def covers(span: str, minor: int) -> bool:
    """Return whether a release is in a span: 1.34-, -1.33, 1.32, and several of these with commas between.

    Raises ValueError for what is no span.
    """
    return not span or any(_within(part, minor) for part in span.split(","))


def _within(part: str, minor: int) -> bool:
    first, dash, last = part.partition("-")
    if not dash:
        return minor == _minor(first)
    return (not first or _minor(first) <= minor) and (not last or minor <= _minor(last))


def _minor(text: str) -> int:
    major, dot, minor = text.partition(".")
    if major != "1" or not dot or not minor.isdigit():
        raise ValueError(f"{text!r} is no release such as 1.36")
    return int(minor)
