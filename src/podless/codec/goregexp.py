"""Go's regexp: compiles patterns with RE2, which has the same syntax, and gives Go's errors. Caches nothing.

Expressions (cel/patterns.py) and schemas (schema/regex.py) have different limits, so each caches its own patterns.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from podless.runtime import lazy, patternprice
from podless.runtime.meter import each

if TYPE_CHECKING:
    from podless.codec import re2
else:  # the library takes 1.6 MB, and servers without patterns need none
    re2 = lazy.LateModule("podless.codec.re2")

_LARGE = "pattern too large - compile failed"
# RE2's message: the message of Go's regexp/syntax
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
    _LARGE: "expression too large",
}


class PatternFault(ValueError):
    """A text is not a pattern, or is too expensive. The message is Go's."""


class PatternTooLarge(PatternFault):
    """A pattern is too expensive, or needs too much memory."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"error parsing regexp: {_WORDS[_LARGE]}: `{pattern}`")


def make_options(max_mem: int = 8 << 20, *, captures: bool = True) -> Any:
    """Return options of RE2. max_mem: maximum bytes of a compiled pattern. captures: matches have groups."""
    options = re2.Options()
    options.log_errors = False  # RE2 would write errors to stderr; they belong only in the answer
    options.never_capture = not captures
    options.max_mem = max_mem
    return options


def compile_pattern(pattern: str, options: Any) -> Any:
    """Compile a pattern, unless that would take too long. Raises PatternFault."""
    if patternprice.price_pattern(pattern) > patternprice.MAX_PRICE:
        raise PatternTooLarge(pattern)
    return parse_pattern(pattern, options)


def parse_pattern(pattern: str, options: Any) -> Any:
    """Compile a pattern whose cost the caller has checked. Raises PatternFault."""
    try:
        return re2.make_regexp(pattern, options)
    except re2.RegexpError as error:
        raise _make_fault(error, pattern) from None


def _make_fault(error: Exception, pattern: str) -> PatternFault:
    """Return the error of a pattern that does not compile, in Go's words."""
    text = error.args[0] if error.args else ""
    cause, _, detail = (text.decode(errors="replace") if isinstance(text, bytes) else str(text)).partition(": ")
    if cause == "invalid perl operator" and detail.startswith("(?<"):
        # for Go, (?< starts a named group, and the message shows the group
        group = pattern[pattern.index("(?<", pattern.index(detail)) :]
        cause, detail = "invalid named capture group", group[: group.find(">") + 1] or group
    if cause == _LARGE:
        return PatternTooLarge(pattern)
    if cause == "missing )":
        detail = pattern
    return PatternFault(f"error parsing regexp: {_WORDS.get(cause, cause)}: `{detail}`")


_QUOTED = lazy.compile_late(r"\\Q(?:[^\\]|\\(?!E))*+(?P<end>\\E)?|\\.", re.DOTALL)


def end_quotation(pattern: str) -> str:
    """Return the end of a quotation that a pattern leaves open; "" if there is none."""
    quoted = False
    for match in _QUOTED.finditer(each(pattern)):
        quoted = match[0].startswith(r"\Q") and not match["end"]
    return r"\E" if quoted else ""


def make_searcher(
    compiled: Any, *, begins: bool = False, limit: int = sys.maxsize, admit: Callable[[int], bool] | None = None
) -> Callable[[str], bool]:
    """Return a function that returns whether a text contains a match, with little overhead.

    begins: match only at the start of the text. admit: called with the length of a text longer than `limit`;
    returns whether to search that text.
    """
    match = getattr(getattr(compiled, "_regexp", None), "Match", None)
    anchor = getattr(re2.ANCHOR, "ANCHOR_START" if begins else "UNANCHORED", None)
    if match is None or anchor is None:  # not google-re2
        search = compiled.match if begins else compiled.search
        return lambda text: (admit is None or len(text) <= limit or admit(len(text))) and search(text) is not None

    def contains_match(text: str) -> bool:
        if len(text) > limit and admit is not None and not admit(len(text)):
            return False
        data = text.encode("utf-8", "replace")
        is_match: bool = match(anchor, data, 0, len(data))[0][0] >= 0
        return is_match

    return contains_match
