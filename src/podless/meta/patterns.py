"""What RE2 makes of patterns, in the words of Go's regexp, which speaks the same language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import re2

from podless.meta import patternprice

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


class PatternFault(ValueError):
    """A text is no pattern, or one that is too dear; says why in Go's words."""


def compiled(pattern: str, options: re2.Options) -> Any:
    """The pattern, compiled; not where that keeps the interpreter for long. Raises PatternFault."""
    if patternprice.price(pattern) > patternprice.MOST:
        raise PatternFault(f"error parsing regexp: expression too large: `{pattern}`")
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise PatternFault(_fault(error, pattern)) from None


def _fault(error: re2.error, pattern: str) -> str:
    """Why a pattern does not compile, as Go says it."""
    text = error.args[0] if error.args else ""
    what, _, part = (text.decode(errors="replace") if isinstance(text, bytes) else str(text)).partition(": ")
    if what == "invalid perl operator" and part.startswith("(?<"):
        # Go reads (?< as the start of a named group, and shows it up to its end
        rest = pattern[pattern.index("(?<", pattern.index(part)) :]
        what, part = "invalid named capture group", rest[: rest.find(">") + 1] or rest
    if what == "missing )":
        part = pattern
    return f"error parsing regexp: {_WORDS.get(what, what)}: `{part}`"


def container(compiled: Any) -> Callable[[str], bool]:
    """A function that says whether a text contains a compiled pattern, past the binding's own cost where it can be."""
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
