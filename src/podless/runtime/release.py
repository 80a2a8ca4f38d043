"""The Kubernetes release of a server: code asks whether a feature is on, never which release it is.

Each difference between releases has a name: a feature gate has Kubernetes' own (apis/gates.txt), another change has one
of ours (apis/changes.txt). A server sets its release before anything runs for it, and its work inherits the context.
Outside a server everything is on, and error texts are those of the newest recorded release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar, Token
from dataclasses import replace
from typing import Final, Self

from podless.runtime.dataclass import dataclass

_NEWEST_MINOR: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Release:
    """A release with its chosen gates."""

    name: str = ""  # such as 1.36, "" outside a server
    minor: int = _NEWEST_MINOR  # 36 in this example
    without: frozenset[str] = frozenset()  # the gates and changes that are off
    # returns the text of a field error, by its field and the newest recorded release's text; None for the same
    wording: Callable[[str, str], str] | None = None
    # returns the line of Go that constructs a scheme, by that of the newest recorded release
    sources: Callable[[str], str] = str

    def has_feature(self, name: str) -> bool:
        """Return whether a gate or a change is on."""
        return name not in self.without

    def is_in_span(self, span: str) -> bool:
        """Return whether this release is in a span. Raises ValueError for an invalid span."""
        return covers(span, self.minor)

    def has_reached(self, name: str) -> bool:
        """Return whether this release is newer than the recorded ones and not older than the named one; true for "".

        Outside a server only "" is true.
        """
        return not name or (bool(self.name) and covers(f"{name}-", self.minor))

    def word_error(self, field: str, text: str) -> str:
        """Return the text of a field error, given the text of the newest recorded release."""
        return self.wording(field, text) if self.wording is not None else text


# "": allowed by all releases
ALL_ON: Final = Release()
CURRENT: ContextVar[Release] = ContextVar("release", default=ALL_ON)


def has(name: str) -> bool:
    """Return whether a gate or a change is on in the served release."""
    return name not in CURRENT.get().without


def served_release() -> Release:
    """Return the release by which shared caches keep results: the served one, or ALL_ON if nothing is off in it."""
    current = CURRENT.get()
    return current if current.without else ALL_ON


def covers(span: str, minor: int) -> bool:
    """Return whether a release is in a span: 1.34-, -1.33, 1.32, or several of these separated by commas.

    Raises ValueError for an invalid span.
    """
    return not span or any(_is_within(term, minor) for term in span.split(","))


def describe_span(names: Collection[str], releases: Sequence[str]) -> str:
    """Return some of several releases as a span; neighbours among them become a range."""
    runs: list[list[str]] = []
    last = -2
    for index, name in enumerate(releases):
        if name in names:
            if index != last + 1:
                runs.append([])
            runs[-1].append(name)
            last = index
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


class ReleaseRecorder:
    """Records what code asks of a release. Another release with the same answers gives the same result.

    As a context manager, it sets the release and records questions. A cache of values that depend on the release must
    ask again for each value that it returns, for example with `agrees_with`.
    """

    __slots__ = ("_names", "_plain", "_spans", "_token", "_words", "release")

    def __init__(self, release: Release) -> None:
        self._plain = release
        self._token: Token[Release] | None = None
        self._names = _RecordedNames(release.without)
        self._spans: set[str] = set()
        self._words = words = set[tuple[str, str]]()

        def word_error(field: str, text: str) -> str:  # a method would make a reference cycle
            words.add((field, text))
            return release.word_error(field, text)

        self.release = replace(release, without=self._names, wording=word_error)

    def __enter__(self) -> Self:
        self._token = CURRENT.set(self.release)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        around = self._token.old_value
        CURRENT.reset(self._token)
        self._token = None
        if around is self._plain:
            self.agrees_with(self._plain)  # Notes around these must record the same questions

    def __bool__(self) -> bool:
        return bool(self._names.lookups or self._spans or self._words)

    def note_span(self, span: str) -> None:
        """Note that the result depends on whether the release is in a span."""
        self._spans.add(span)

    def agrees_with(self, other: Release) -> bool:
        """Return whether another release answers all recorded questions in the same way."""
        plain = self._plain
        return (
            all(other.has_feature(name) == plain.has_feature(name) for name in self._names.lookups)
            and all(other.is_in_span(span) == plain.is_in_span(span) for span in self._spans)
            and all(other.word_error(*words) == plain.word_error(*words) for words in self._words)
        )


class _RecordedNames(frozenset[str]):
    """The features that a release lacks; records each lookup."""

    def __init__(self, _: frozenset[str]) -> None:
        self.lookups: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.lookups.add(str(name))
        return super().__contains__(name)


def _is_within(span: str, minor: int) -> bool:
    first, dash, last = span.partition("-")
    if not dash:
        return minor == _parse_minor(first)
    return (not first or _parse_minor(first) <= minor) and (not last or minor <= _parse_minor(last))


def _parse_minor(text: str) -> int:
    major, dot, minor = text.partition(".")
    if major != "1" or not dot or not minor.isdigit():
        raise ValueError(f"{text!r} is not a release such as 1.36")
    return int(minor)
