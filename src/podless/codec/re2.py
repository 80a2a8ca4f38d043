"""One interface for RE2: google-re2, or pyre2, whose module has the same name.

pip installs google-re2; pyre2 is for platforms for which google-re2 has no wheel. By default pyre2 makes classes such
as `\\d` match all of Unicode, and falls back to Python's `re`. Both are off here.
"""

from __future__ import annotations

import re
from typing import Any

import re2 as library

from podless.runtime import patternprice

ANCHOR: Any = getattr(library, "_Anchor", None)  # google-re2 only: how a match is anchored
RegexpError: type[Exception] = library.error
# skips quotations and escapes, and matches the start of a named group
_GROUP = re.compile(r"(\\Q(?:[^\\]|\\(?!E))*+(?:\\E)?|\\.)|\(\?<(?=[A-Za-z_]\w*+>)", re.DOTALL)
_PER_INSTRUCTION = 200  # approximate nanoseconds of a pattern's estimated cost for each instruction


class _Options:
    """The options of google-re2 that podless uses. max_mem: bytes of a compiled pattern."""

    log_errors = True
    never_capture = False
    max_mem = 8 << 20


class _Regexp:
    """A pattern compiled by pyre2. programsize: the estimated number of instructions."""

    def __init__(self, pattern: str, options: _Options) -> None:
        if len(pattern) - len(pattern.rstrip("\\")) & 1:
            raise RegexpError("trailing \\")  # pyre2 would accept it
        named = _GROUP.sub(lambda match: match[1] or "(?P<", pattern)  # RE2 supports (?<name>) only since 2023
        try:
            self._compiled = library.compile(named, library.ASCII, options.max_mem)
        except Exception as error:
            text = str(error).replace("Backreferences not supported", "invalid escape sequence: \\1")
            raise RegexpError(text) from None
        self.programsize = max(2, len(pattern), int(patternprice.price_pattern(pattern)) // _PER_INSTRUCTION)

    def search(self, text: str) -> Any:
        """Return a match anywhere in the text, None if there is none."""
        return self._compiled.search(_replace_surrogates(text))

    def match(self, text: str) -> Any:
        """Return a match at the start of the text, None if there is none."""
        return self._compiled.match(_replace_surrogates(text))


def _replace_surrogates(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


Options: Any
make_regexp: Any  # compiles a pattern with options; raises RegexpError
if hasattr(library, "Options"):
    # not re2.compile, which keeps the latest 128 patterns of any size
    Options, make_regexp = library.Options, getattr(library, "_Regexp", library.compile)
else:
    library.set_fallback_notification(library.FALLBACK_EXCEPTION)
    Options, make_regexp = _Options, _Regexp
