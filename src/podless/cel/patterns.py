"""The patterns of expressions (codec/goregexp.py), cached and charged.

Some patterns are constants of an expression, written by its author. Others are values that a client sends in
an object: compiling and searching them is charged to the allowance of the request (runtime/meter.py). Exceeding it
ends the evaluation like a cost that is too high.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from podless.cel.errors import CostExceeded, EvaluationError
from podless.cel.values import StringList
from podless.codec import goregexp
from podless.runtime import patternprice
from podless.runtime.bounded import WeightAccount
from podless.runtime.meter import ALLOWANCE, charge

MAX_CACHE_BYTES: Final = 64 << 20  # maximum bytes of all cached patterns
MAX_PRICE: Final = 20_000_000  # maximum estimated nanoseconds to compile a pattern from an object
_NANOS_PER_STEP = 250  # nanoseconds of one step
# maximum product of the characters of a text and the instructions of a pattern, at most 12 ns each
MAX_SEARCH: Final = 10_000_000
_NANOS_PER_UNIT = 2  # nanoseconds of each product unit that are charged to the allowance
# measured bytes of an instruction, and of a pattern besides its instructions
_INSTRUCTION_BYTES, _PATTERN_BYTES = 96, 8192
_BYTES_PER_CHARACTER = 256  # bytes that a search can add to a pattern for each character
_MAX_GROWTH = 8 << 20  # maximum bytes that searches add to a pattern: the max_mem of RE2
_GROWTH_STEP = 1 << 16  # bytes that are added to the account at a time
_MATCH_STEPS = 4  # steps for each match


class PatternError(EvaluationError):
    """A text is not a valid pattern. The message is Go's."""


class Pattern:
    """A compiled pattern. weight: approximate bytes. fault: the error of an invalid one, or "".

    size: the number of instructions. compiled: by RE2. contains: returns whether a text contains a match.
    """

    __slots__ = ("_gain", "compiled", "contains", "fault", "size", "text", "weight")

    def __init__(self, text: str) -> None:
        self.text = text
        self.fault = ""
        self.size = self._gain = 0
        self.compiled: Any = None
        try:
            self.compiled = goregexp.compile_pattern(text, goregexp.make_options())
            self.size = self.compiled.programsize
            self.contains: Callable[[str], bool] = goregexp.make_searcher(self.compiled)
        except goregexp.PatternFault as fault:
            self.fault = str(fault)
        self.weight = _PATTERN_BYTES + 4 * len(text) + _INSTRUCTION_BYTES * self.size

    def charge_search(self, searched: str) -> None:
        """Charge a search in a text to the allowance. Raises CostExceeded."""
        work = len(searched) * self.size
        charge(1 + work * _NANOS_PER_UNIT // _NANOS_PER_STEP)
        allowance = ALLOWANCE.get()
        if work > MAX_SEARCH or (allowance is not None and not allowance.spend(work * _NANOS_PER_UNIT)):
            raise CostExceeded
        self._gain += len(searched) * _BYTES_PER_CHARACTER
        if self._gain > _GROWTH_STEP:
            if self.weight < _MAX_GROWTH and _patterns.get(self.text) is self:
                self.weight = min(self.weight + self._gain, _MAX_GROWTH)
                _weights.set_weight(self, self.weight)
            self._gain = 0

    def drop_value(self, forced: bool = False) -> bool:
        """Remove the pattern from the cache."""
        _patterns.pop(self.text, None)
        return True


_patterns: Final[dict[str, Pattern]] = {}
_weights: Final = WeightAccount(f"{__name__}.patterns", _PATTERN_BYTES, MAX_CACHE_BYTES)


def _compile_and_cache(text: str, price: float) -> Pattern:
    charge(int(min(price, patternprice.MAX_PRICE)) // _NANOS_PER_STEP)
    result = _patterns.setdefault(text, Pattern(text))
    _weights.set_weight(result, result.weight)
    return result


def compile_pattern(text: str) -> Pattern:
    """Return the pattern of an expression's constant. Raises PatternError."""
    result = _patterns.get(text) or _compile_and_cache(text, patternprice.price_pattern(text))
    if result.fault:
        raise PatternError(result.fault)
    return result


def _compile_given(text: str, searched: str) -> Pattern:
    """Compile a pattern from an object, for a search in a text.

    Raises PatternError, and CostExceeded if the request's allowance is spent.
    """
    compiled = _patterns.get(text)
    if compiled is None:
        price = patternprice.price_pattern(text)
        allowance = ALLOWANCE.get()
        # beyond patternprice.MAX_PRICE, the pattern is invalid instead
        too_expensive = MAX_PRICE < price <= patternprice.MAX_PRICE
        if too_expensive or (price <= MAX_PRICE and allowance is not None and not allowance.spend(price)):
            raise CostExceeded
        compiled = _compile_and_cache(text, price)
    if compiled.fault:
        raise PatternError(compiled.fault)
    compiled.charge_search(searched)
    return compiled


def has_match(text: str, pattern: str) -> bool:
    """Return whether a text contains a match. Raises PatternError and CostExceeded."""
    return _compile_given(pattern, text).contains(text)


def find_match(text: str, pattern: str) -> str:
    """Return the first match in a text, or "". Raises EvaluationError and CostExceeded."""
    match = _compile_legal(text, pattern).search(text)
    return "" if match is None else match.group()


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    """Return the matches in a text, at most `limit` of them; all if it is negative.

    Raises as `find_match`.
    """
    matches = StringList()
    for match in _compile_legal(text, pattern).finditer(text):
        if 0 <= limit <= len(matches):
            break
        charge(_MATCH_STEPS)
        matches.append(match.group())
    return matches


def _compile_legal(text: str, pattern: str) -> Any:
    try:
        return _compile_given(pattern, text).compiled
    except PatternError as error:
        raise EvaluationError(f"Illegal regex: {error}") from None
