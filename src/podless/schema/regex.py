"""Patterns: RE2, the language of Go's regexp, compiled once, with Go's words for what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import re2

# RE2 writes to stderr by default; a schema's mistakes belong in the answer only
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
# Go allows bigger programs than RE2 does by default
_OPTIONS.max_mem = 16 << 20

# what RE2 says -> what Go's regexp/syntax says
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
        text = error.args[0] if error.args else ""
        text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        return _go(text, pattern)
    return ""


def _go(text: str, pattern: str) -> str:
    what, _, part = text.partition(": ")
    if what == "invalid perl operator" and part.startswith("(?<"):
        # Go reads (?< as the start of a named group, and shows it up to its end
        rest = pattern[pattern.index("(?<", pattern.index(part)) :]
        what, part = "invalid named capture group", rest[: rest.find(">") + 1] or rest
    return f"error parsing regexp: {_WORDS.get(what, what)}: `{part}`"


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text contains the pattern; nothing contains a pattern that does not compile."""
    compiled = compile(pattern)
    if compiled is None:
        return lambda text: False
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
