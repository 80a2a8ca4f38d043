"""Patterns: RE2, the language of Go's regexp, compiled once, with Go's words for what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import re2

from podless.meta import patterns
from podless.meta.bounded import bounded_cache

# RE2 writes to stderr by default; a schema's mistakes belong in the answer only
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
# Go allows bigger programs than RE2 does by default
_OPTIONS.max_mem = 16 << 20

_STEPS = 10**8  # for one text, some 0.4 s at the worst
_ALWAYS = 1024  # characters that are looked at whatever the pattern
_ANY = 3 << 20  # characters; no body has more


@bounded_cache(4096)
def compile(pattern: str) -> Any:
    """The compiled pattern, or None if it is none."""
    try:
        return patterns.compiled(pattern, _OPTIONS)
    except patterns.PatternFault:
        return None


@bounded_cache(512)
def problem(pattern: str) -> str:
    """Why the pattern does not compile, in Go's words; "" if it does."""
    try:
        patterns.compiled(pattern, _OPTIONS)
    except patterns.PatternFault as fault:
        return str(fault)
    return ""


def longest(compiled: Any) -> int:
    """How many characters a text may have that is held against a compiled pattern.

    RE2 takes a step for each character and instruction where its automaton gets too big, as with a.{0,900}c.
    """
    size: int = compiled.programsize
    return max(_STEPS // size, _ALWAYS)


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text contains the pattern; none does that is too long for it.

    Nothing contains a pattern that does not compile.
    """
    compiled = compile(pattern)
    if compiled is None:
        return lambda text: False
    contains, most = patterns.container(compiled), longest(compiled)
    return contains if most >= _ANY else lambda text: len(text) <= most and contains(text)
