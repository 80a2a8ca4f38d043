"""Patterns: RE2, the language of Go's regexp, compiled once, with Go's words for what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import re2

from podless.meta import patterns

# RE2 writes to stderr by default; a schema's mistakes belong in the answer only
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
# Go allows bigger programs than RE2 does by default
_OPTIONS.max_mem = 16 << 20


@lru_cache(maxsize=4096)
def compile(pattern: str) -> Any:
    """The compiled pattern, or None if it is none."""
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error:
        return None


@lru_cache(maxsize=512)
def problem(pattern: str) -> str:
    """Why the pattern does not compile, in Go's words; "" if it does."""
    try:
        re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        return patterns.fault(error, pattern)
    return ""


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text contains the pattern; nothing contains a pattern that does not compile."""
    compiled = compile(pattern)
    return (lambda text: False) if compiled is None else patterns.container(compiled)
