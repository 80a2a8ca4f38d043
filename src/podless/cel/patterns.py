"""Patterns: RE2, the language of Go's regexp, compiled once, with Go's words for what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import re2

from podless.cel.errors import EvaluationError

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False  # else RE2 writes to stderr
_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "unexpected )": "unexpected )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
    "invalid escape sequence": "invalid escape sequence",
    "invalid character class": "invalid character class",
    "invalid character class range": "invalid character class range",
    "invalid UTF-8": "invalid UTF-8",
    "pattern too large - compile failed": "expression too large",
}


class PatternError(EvaluationError):
    """A text is no pattern; says why in Go's words."""


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> Any:
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        text = error.args[0] if error.args else ""
        return PatternError(_go(text.decode(errors="replace") if isinstance(text, bytes) else str(text), pattern))


def _go(text: str, pattern: str) -> str:
    what, _, part = text.partition(": ")
    if what == "invalid perl operator" and part.startswith("(?<"):
        rest = pattern[pattern.index("(?<") :]
        what, part = "invalid named capture group", rest[: rest.find(">") + 1] or rest
    if what == "missing )":
        part = pattern
    return f"error parsing regexp: {_WORDS.get(what, what)}: `{part}`"


def compile(pattern: str) -> Any:
    """The compiled pattern. Raises PatternError."""
    found = _compiled(pattern)
    if isinstance(found, PatternError):
        raise PatternError(*found.args)
    return found


def matches(text: str, pattern: str) -> bool:
    """Whether a text has a part that a pattern matches."""
    return compile(pattern).search(text) is not None


@lru_cache(maxsize=2048)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text has a part that the pattern matches. Raises PatternError."""
    compiled = compile(pattern)
    match = getattr(getattr(compiled, "_regexp", None), "Match", None)
    anchor = getattr(getattr(re2, "_Anchor", None), "UNANCHORED", None)
    if match is None or anchor is None:  # another binding of RE2
        search = compiled.search
        return lambda text: search(text) is not None

    def contains(text: str) -> bool:
        data = text.encode("utf-8", "replace")
        found: bool = match(anchor, data, 0, len(data))[0][0] >= 0
        return found

    return contains


def find(text: str, pattern: str) -> str:
    """The first part of a text that a pattern matches, or ""."""
    match = _illegal(pattern).search(text)
    return "" if match is None else match.group()


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """The parts of a text that a pattern matches, at most so many; any number where it is negative."""
    compiled = _illegal(pattern)
    found: list[str] = []
    for match in compiled.finditer(text):
        if 0 <= most <= len(found):
            break
        found.append(match.group())
    return found


def _illegal(pattern: str) -> Any:
    try:
        return compile(pattern)
    except PatternError as error:
        raise EvaluationError(f"Illegal regex: {error}") from None
