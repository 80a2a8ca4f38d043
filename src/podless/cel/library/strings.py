"""Strings: version 2 of CEL's strings extension, as Kubernetes offers it."""

from __future__ import annotations

import math
from typing import Any

from podless.cel import access, bounds
from podless.cel.cost import (
    MAX_COST,
    PER_CHARACTER,
    CallSite,
    Cost,
    Estimate,
    Range,
    count_traversal,
    measure_value,
    scale_count,
    traversal_cost,
)
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare
from podless.cel.literals import ESCAPES
from podless.cel.values import StringList, size_of
from podless.runtime.release import has

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {code: code + 32 for code in range(65, 91)}
_UPPER = {code: code - 32 for code in range(97, 123)}
_QUOTED = str.maketrans({char: f"\\{letter}" for letter, char in ESCAPES.items()} | {"\\": "\\\\", '"': '\\"'})


def char_at(text: str, index: int) -> str:
    """Return the character at an index; the index of the end gives ""."""
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def find_index(text: str, substring: str, start: int = 0) -> int:
    """Return the first index of a substring at or after `start`; -1 if there is none."""
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not substring:
        return min(start, len(text))
    if start >= len(text) and not has("CELIndexesBeyond"):
        raise EvaluationError(f"index out of range: {start}")
    return text.find(substring, start)


def find_last_index(text: str, substring: str, start: int | None = None) -> int:
    """Return the last index of a substring at or before `start`; -1 if there is none."""
    if start is None:
        if substring and not text and not has("CELLastIndexOfNothing"):
            raise EvaluationError("index out of range: -1")
        return text.rfind(substring)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not substring:
        return min(start, len(text))
    if start >= len(text) and not has("CELIndexesBeyond"):
        raise EvaluationError(f"index out of range: {start}")
    return -1 if start >= len(text) else text.rfind(substring, 0, start + len(substring))


def take_substring(text: str, start: int, end: int | None = None) -> str:
    """Return the characters from `start` to before `end`."""
    size = len(text)
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= size:
        raise EvaluationError(f"index out of range: {start}")
    if end is not None and end > size:
        raise EvaluationError(f"index out of range: {end}")
    return text[start:end]


def replace_parts(text: str, old: str, new: str, count: int = -1) -> str:
    """Return the text with parts replaced, at most `count` of them; all for a negative count."""
    occurrences = text.count(old)
    occurrences = min(occurrences, count) if count >= 0 else occurrences
    bounds.check_size(len(text) + occurrences * len(new))
    return text.replace(old, new, count)


def split_text(text: str, separator: str, count: int = -1) -> list[str]:
    """Return the parts between separators, at most `count` of them; all if it is negative."""
    if count == 0:
        return StringList()
    if not separator:
        if count < 0 or count >= len(text):
            return StringList(text)
        return StringList((*text[: count - 1], text[count - 1 :]))
    return StringList(text.split(separator, -1 if count < 0 else count - 1))


def join_texts(items: list[Any], separator: str = "") -> str:
    """Join strings with a separator."""
    for item in bounds.charge_each(items):
        if item.__class__ is not str:
            raise EvaluationError(f"join: invalid input: {access.describe_value(item)}")
    bounds.check_size(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def quote_text(text: str) -> str:
    """Return the text in double quotes, with escapes."""
    return '"' + text.translate(_QUOTED) + '"'


def _estimate_replacement(site: CallSite) -> Estimate:
    size, old, new = site.get_size(0), site.get_size(1), site.get_size(2)
    high, kept_high = _measure_longest(size, old, new)
    low, kept_low = _measure_shortest(size, old, new)
    count = Range(low, high).multiply(new)
    return size.scale(2 * PER_CHARACTER), count.add(Range(kept_low, kept_high))


def _measure_longest(size: Range, old: Range, new: Range) -> tuple[int, int]:
    """Return the maximum replacements, and the characters that remain, for the longest result."""
    if old.low == 0:
        return min(size.high + 1, MAX_COST), size.high
    if new.high <= old.low:
        return 0, size.high
    return scale_count(size.high, 1 / old.low), 0


def _measure_shortest(size: Range, old: Range, new: Range) -> tuple[int, int]:
    if old.high == 0:
        return min(size.low + 1, MAX_COST), size.low
    if old.high <= new.low:
        return 0, size.low
    return scale_count(size.low, 1 / old.high), 0


def _estimate_split(site: CallSite) -> Estimate:
    size = site.get_size(0)
    max_count = site.get_constant(2) if site.count > 2 else None
    high = size.high if max_count is None else max_count % (1 << 64)
    return size.scale(2 * PER_CHARACTER), Range(0, high)


def _estimate_join(site: CallSite) -> Estimate:
    count = site.get_size(0)
    item = site.get_item_size(0)
    size = count.multiply(item) if item is not None else Range(0, 0)
    if site.count > 1:
        size = size.add(site.get_size(1).multiply(Range(max(count.low - 1, 0), max(count.high - 1, 0))))
    return size.scale(PER_CHARACTER), size


def _estimate_quote(site: CallSite) -> Estimate:
    size = site.get_size(0)
    return size.scale(PER_CHARACTER), Range(size.low + 2, min(size.high * 2 + 2, MAX_COST))


def _count_two_passes(text: Any, *_: Any) -> int:
    return math.ceil(size_of(text) * 2 * PER_CHARACTER)


def _count_join(*args: Any) -> int:
    return math.ceil(size_of(args[-1]) * 2 * PER_CHARACTER)


# the actual cost is that of lists, which have functions of the same names
_SEARCH = traversal_cost()._replace(actual=lambda text, *_: measure_value(text))
_SIZE_KEPT = traversal_cost(sized=True)
_REPLACE = Cost(_estimate_replacement, _count_two_passes)
_SPLIT = Cost(_estimate_split, _count_two_passes)
_JOIN = Cost(_estimate_join, _count_join)
_QUOTE = Cost(_estimate_quote, count_traversal)

LIBRARY = Library(
    "strings",
    (
        declare("<string>.charAt(int) -> string", "string_char_at_int", char_at),
        declare("<string>.indexOf(string) -> int", "string_index_of_string", find_index, _SEARCH),
        declare("<string>.indexOf(string, int) -> int", "string_index_of_string_int", find_index, _SEARCH),
        declare("<string>.lastIndexOf(string) -> int", "string_last_index_of_string", find_last_index, _SEARCH),
        declare(
            "<string>.lastIndexOf(string, int) -> int", "string_last_index_of_string_int", find_last_index, _SEARCH
        ),
        declare("<string>.lowerAscii() -> string", "string_lower_ascii", lambda a: a.translate(_LOWER), _SIZE_KEPT),
        declare("<string>.upperAscii() -> string", "string_upper_ascii", lambda a: a.translate(_UPPER), _SIZE_KEPT),
        declare("<string>.replace(string, string) -> string", "string_replace_string_string", replace_parts, _REPLACE),
        declare(
            "<string>.replace(string, string, int) -> string",
            "string_replace_string_string_int",
            replace_parts,
            _REPLACE,
        ),
        declare("<string>.split(string) -> list(string)", "string_split_string", split_text, _SPLIT),
        declare("<string>.split(string, int) -> list(string)", "string_split_string_int", split_text, _SPLIT),
        declare("<string>.substring(int) -> string", "string_substring_int", take_substring, _SIZE_KEPT),
        declare("<string>.substring(int, int) -> string", "string_substring_int_int", take_substring, _SIZE_KEPT),
        declare("<string>.trim() -> string", "string_trim", lambda a: a.strip(_SPACE), _SIZE_KEPT),
        declare("<list(string)>.join() -> string", "list_join", join_texts, _JOIN),
        declare("<list(string)>.join(string) -> string", "list_join_string", join_texts, _JOIN),
        declare("strings.quote(string) -> string", "strings_quote", quote_text, _QUOTE),
    ),
)

REVERSE = Library("strings 3", (declare("<string>.reverse() -> string", "string_reverse", lambda a: a[::-1]),))
