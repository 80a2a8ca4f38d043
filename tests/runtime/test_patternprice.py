"""What a pattern costs, told by its text."""

from __future__ import annotations

import pytest

from podless.cel import patterns
from podless.runtime.patternprice import MAX_PRICE, price_pattern
from podless.schema import regex
from tests.cost import assert_linear

ORDINARY = [
    "",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    r"^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.){1,15}[a-z]{2,63}$",
    r"^\p{L}{1,255}$",
    r"^\p{L}[\p{L}\p{N}\p{M}]{0,254}$",
    "^.{1,1000}$",
    r"\S{0,253}",
    r"^(([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])\.){3}([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$",
    r"(?i)^(https?|ftps?)://[^\s/$.?#].[^\s]*$",
    r"^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)))?$",
    "|".join(f"word{number}" for number in range(5000)),
    "x" * 200_000,
]
# each of some seconds to RE2, where it gets done at all
DEAR = [
    "a?" * 100_000,
    "a{1,2}" * 50_000,
    "[ab]?" * 50_000,
    "(a?)" * 50_000,
    "(?:[a]?a?)" * 50_000,
    "a?[a]?" * 50_000,
    "(?i)(?:a?A?)" * 50_000,
    "a{0,1000}" * 40,
    "a{0,1000}b" * 900,
    "(?:a" * 20_000 + ")?" * 20_000,
    "(?:a{0,200}" * 900 + ")?" * 900,
    "(?:b|(?:a" * 8_000 + ")?)" * 8_000,
    r"\pL" * 50_000,
    r"[\pL]" * 50_000,
    "[" + r"\pL" * 300_000 + "]",
    "[" + "".join(f"\\x{{{number * 3:x}}}" for number in range(100_000)) + "]",
    r"(?:.{100}\W){1000}" * 9,
]


@pytest.mark.parametrize("pattern", ORDINARY, ids=range(len(ORDINARY)))
def test_what_people_write_is_compiled(pattern: str) -> None:
    assert regex.price_regex(pattern) <= MAX_PRICE
    assert not regex.find_problem(pattern)


@pytest.mark.parametrize("pattern", DEAR, ids=range(len(DEAR)))
def test_what_would_keep_the_interpreter_is_refused_unseen(pattern: str) -> None:
    assert price_pattern(pattern) > MAX_PRICE
    assert regex.find_problem(pattern).startswith("error parsing regexp: expression too large: `")
    assert not regex.make_matcher(pattern).run("a")
    with pytest.raises(patterns.PatternError, match="expression too large"):
        patterns.has_match("a", pattern)


@pytest.mark.parametrize(
    "part",
    ["a?b?", "a|", "(a", "[ab", "[a]", "\\Qa", "\\p{", "(?P<a", "a{1,2}", "(?i)", "\\x{", "{", ")", "[[:a", "a)?"],
)
def test_the_price_of_a_text_is_told_in_proportion_to_it(part: str) -> None:
    assert_linear(price_pattern, lambda size: part * size)
    assert_linear(price_pattern, lambda size: "a" * 9 * size + part)
