"""Patterns: RE2, the language of Go's regexp, compiled once, with Go's words for what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import re2

from podless.cel.errors import EvaluationError
from podless.cel.values import Strings
from podless.meta import patterns
from podless.meta.bounded import bounded_cache

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False  # else RE2 writes to stderr


class PatternError(EvaluationError):
    """A text is no pattern; says why in Go's words."""


@bounded_cache(512)
def _compiled(pattern: str) -> Any:
    try:
        return patterns.compiled(pattern, _OPTIONS)
    except patterns.PatternFault as fault:
        return PatternError(str(fault))


def compile(pattern: str) -> Any:
    """The compiled pattern. Raises PatternError."""
    found = _compiled(pattern)
    if isinstance(found, PatternError):
        raise PatternError(*found.args)
    return found


def matches(text: str, pattern: str) -> bool:
    """Whether a text has a part that a pattern matches."""
    return compile(pattern).search(text) is not None


@bounded_cache(512)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text has a part that the pattern matches. Raises PatternError."""
    return patterns.container(compile(pattern))


def find(text: str, pattern: str) -> str:
    """The first part of a text that a pattern matches, or ""."""
    match = _illegal(pattern).search(text)
    return "" if match is None else match.group()


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """The parts of a text that a pattern matches, at most so many; any number where it is negative."""
    compiled = _illegal(pattern)
    found = Strings()
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
