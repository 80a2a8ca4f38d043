"""The patterns of schemas (codec/goregexp.py), each compiled at its first search and cached.

A schema is known long before its values: so a pattern is priced and parsed when the schema is written, compiled in as
little memory as possible, and reduced to a search that needs no more than whether a text matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from podless.codec import goregexp
from podless.runtime import patternprice
from podless.runtime.bounded import WeightAccount, bounded_cache
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge

MAX_PRICE = patternprice.MAX_PRICE  # maximum nanoseconds to compile one pattern
# (price of patterns in nanoseconds, RE2's memory limit in bytes); a pattern that does not fit tries the next one. The
# last limit is above RE2's default, because Go allows larger programs
_LADDER = (
    (50_000.0, 24 << 10),
    (200_000.0, 128 << 10),
    (4_000_000.0, 1 << 20),
    (15_000_000.0, 4 << 20),
    (MAX_PRICE, 16 << 20),
)
# RE2's memory limit that most patterns exceed after they were parsed, so none is compiled at length
_ONLY_PARSED = 24 << 10

_MAX_STEPS = 3 * 10**7  # maximum steps of RE2 for one text: 50 ms in the worst case
_ALWAYS_MATCHED = 1024  # characters of a text that are always matched
_EXPENSIVE = 2_000_000.0  # nanoseconds; more expensive patterns are searched in a way that compiles them only once
_NANOS_PER_STEP = 500  # nanoseconds of one step on the meter
_CHEAPEST = 20_000  # nanoseconds to compile the cheapest pattern
_UNCHARGED_SEARCH = 2048  # characters times instructions; shorter searches are not charged
# worst case of one step on the meter: characters times instructions, and characters
_PER_STEP, _CHARACTERS_PER_STEP = 300, 4
_MAX_CACHE_BYTES = 96 << 20  # maximum bytes of all compiled patterns of the process

_matcher_weights = WeightAccount("podless.schema.regex.make_matcher", _LADDER[0][1] * 2 // 3, _MAX_CACHE_BYTES)


@bounded_cache(512)
def price_regex(pattern: str) -> float:
    """Return the estimated nanoseconds to compile a pattern."""
    cost = patternprice.price_pattern(pattern)
    if cost > _EXPENSIVE and (less := patternprice.count_pattern(pattern)) is not None:
        return patternprice.price_pattern(less[0])
    return cost


@bounded_cache(512)
def find_problem(pattern: str) -> str:
    """Return why a pattern does not compile, in Go's words; "" if it does. The pattern is only parsed."""
    cost = price_regex(pattern)
    charge(int(cost) // _NANOS_PER_STEP // 8)
    if cost > MAX_PRICE:
        return str(goregexp.PatternTooLarge(pattern))
    try:
        goregexp.parse_pattern(pattern, goregexp.make_options(_ONLY_PARSED, captures=False))
    except goregexp.PatternTooLarge:
        return ""
    except goregexp.PatternFault as fault:
        return str(fault)
    return ""


def _compile_sized(pattern: str, cost: float) -> tuple[Any, int]:
    """Return the compiled pattern, and its maximum bytes. Raises PatternFault."""
    if cost > MAX_PRICE:
        raise goregexp.PatternTooLarge(pattern)
    charge(int(cost + _CHEAPEST) // _NANOS_PER_STEP)
    for max_size, memory in _LADDER:
        if cost > max_size:
            continue
        try:
            options = goregexp.make_options(memory, captures=False)
            return goregexp.parse_pattern(pattern, options), memory * 2 // 3
        except goregexp.PatternTooLarge:
            if memory == _LADDER[-1][1]:
                raise
    raise AssertionError("the last memory is for all")


class _SearchPlan(NamedTuple):
    """The parts of a pattern to compile.

    min_length, max_length: characters of a matching text. begins: it matches from its start.
    """

    pattern: str
    cost: float
    min_length: int = 0
    max_length: int | None = None
    begins: bool = False


def _plan_search(pattern: str) -> _SearchPlan:
    cost = price_regex(pattern)
    if cost <= _EXPENSIVE and patternprice.price_pattern(pattern) <= _EXPENSIVE:
        return _SearchPlan(pattern, cost)
    if (less := patternprice.count_pattern(pattern)) is not None:
        return _SearchPlan(less[0], cost, *less[1:])
    # RE2 would compile the pattern backwards, too, to find where a match begins
    return _SearchPlan(f"(?s:.*?)(?:{pattern}{goregexp.end_quotation(pattern)})", cost, begins=True)


class Matcher:
    """Searches texts for a pattern: call `run`, which compiles the pattern at its first call.

    An invalid pattern matches nothing, and neither does a pattern in a text that is too long for it.
    """

    __slots__ = ("__weakref__", "_plan", "longest", "pattern", "problem", "run")

    run: Callable[[str], bool]

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        # set by the first search: the error of the pattern, and the maximum characters of a text
        self.problem, self.longest = "", _ALWAYS_MATCHED
        self._plan: _SearchPlan | None = None
        self.run = self._load_and_run

    def drop_value(self, forced: bool = False) -> bool:
        """Drop the compiled pattern. The next text compiles it again."""
        self.run = self._load_and_run
        return True

    def _load_and_run(self, text: str) -> bool:
        run = self._load_search()
        self.run = run
        return run(text)

    def _load_search(self) -> Callable[[str], bool]:
        if self._plan is None:
            self.problem = find_problem(self.pattern)
            self._plan = _plan_search(self.pattern)
        if self.problem:
            return lambda text: False
        if (members := _read_single_class(self.pattern)) is not None:
            return _make_member_check(*members)
        pattern, cost, min_length, max_length, begins = self._plan
        try:
            compiled, weight = _compile_sized(pattern, cost)
        except goregexp.PatternFault as fault:
            self.problem = str(fault)
            return lambda text: False
        size: int = compiled.programsize
        # if RE2's automaton exceeds its memory, as for a.{0,900}c, each character takes a step for each instruction
        self.longest = longest = max(_MAX_STEPS // size, _ALWAYS_MATCHED)

        def check_length(length: int) -> bool:
            if length > longest:
                return False
            charge(length * size // _PER_STEP + length // _CHARACTERS_PER_STEP)
            return True

        _matcher_weights.set_weight(self, weight)
        contains = goregexp.make_searcher(compiled, begins=begins, limit=_UNCHARGED_SEARCH // size, admit=check_length)
        if min_length == 0 and max_length is None:
            return contains
        return lambda text: (
            min_length <= len(text) and (max_length is None or len(text) <= max_length) and contains(text)
        )


# patterns of one class of plain characters, as for many names and images
_SINGLE_CLASS = compile_late(r"\^\[(-?(?:\w-\w|[\w./:,])*-?)\]([+*])\$", re.ASCII)
_RANGE = compile_late(r"(\w)-(\w)", re.ASCII)


def _read_single_class(pattern: str) -> tuple[str, bool] | None:
    """Return the characters of a one-class pattern, and whether a text must not be empty; None for others."""
    match = _SINGLE_CLASS.fullmatch(pattern) if len(pattern) < _UNCHARGED_SEARCH else None
    if match is None:
        return None
    single_chars, chars = "", ""
    position = 0
    for range_match in _RANGE.finditer(match[1]):
        single_chars += match[1][position : range_match.start()]
        chars += "".join(map(chr, range(ord(range_match[1]), ord(range_match[2]) + 1)))
        position = range_match.end()
    return chars + single_chars + match[1][position:], match[2] == "+"


def _make_member_check(chars: str, required: bool) -> Callable[[str], bool]:
    """Return a function that checks whether a text has only these characters. required: it must not be empty.

    RE2 takes ten times as long for a short text.
    """

    def has_only_members(text: str) -> bool:
        if len(text) > _UNCHARGED_SEARCH:
            charge(len(text) // _CHARACTERS_PER_STEP)
        return not text.strip(chars) and (bool(text) or not required)

    return has_only_members


_matchers: WeakValueDictionary[str, Matcher] = WeakValueDictionary()


def make_matcher(pattern: str) -> Matcher:
    """Return the matcher of a pattern, which all its users in the process share."""
    matcher = _matchers.get(pattern)
    return matcher if matcher is not None else _matchers.setdefault(pattern, Matcher(pattern))
