"""Patterns that do not compile are told in Go's words; those that do find what RE2 finds."""

from __future__ import annotations

from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from podless.schema import regex

PROBLEMS = {
    "(": "missing closing ): `(`",
    "[a-": "missing closing ]: `[a-`",
    "a)": "unexpected ): `a)`",
    "(?=x)": "invalid or unsupported Perl syntax: `(?=`",
    "x(?!y)": "invalid or unsupported Perl syntax: `(?!`",
    "(?<!x)y": "invalid named capture: `(?<!x)y`",
    "a(?<=b)>c": "invalid named capture: `(?<=b)>`",
    "(?P=n)": "invalid or unsupported Perl syntax: `(?P`",
    "\\": "trailing backslash at end of expression: ``",
    "a**": "invalid nested repetition operator: `**`",
    r"(\w)\1": r"invalid escape sequence: `\1`",
    "*": "missing argument to repetition operator: `*`",
    "[z-a]": "invalid character class range: `z-a`",
    "a{1001}": "invalid repeat count: `{1001}`",
}


@pytest.mark.parametrize(("pattern", "words"), PROBLEMS.items())
def test_a_bad_pattern_is_told_as_go_tells_it(pattern: str, words: str) -> None:
    assert regex.find_problem(pattern) == f"error parsing regexp: {words}"
    assert not regex.make_matcher(pattern).run("anything")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("c$", "abc\n", False),
        ("^.{2}$", "é😀", True),
        (r"\pL", "é", True),
        ("", "", True),
    ],
)
def test_a_pattern_is_searched_for_anywhere_in_the_text(pattern: str, text: str, found: bool) -> None:
    assert regex.find_problem(pattern) == ""
    assert regex.make_matcher(pattern).run(text) is found


CLASSES = [
    "^[a-z0-9./:-]+$",
    "^[-a-c]*$",
    "^[a-cA]+$",
    "^[A-z_]*$",
    "^[a-a]+$",
    "^[z-a]*$",
    "^[a-]+$",
    "^[,:]*$",
    "^[]*$",
]


@given(st.sampled_from(CLASSES), st.text("abzAZ09./:-_,\n\\^é\ud800", max_size=4))
def test_a_class_of_plain_characters_means_what_it_means_to_re2(pattern: str, text: str) -> None:
    data = text.encode("utf-8", "replace").decode()
    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(pattern, options).search(data) is not None
    except re2.error:
        found = False
    assert regex.make_matcher(pattern).run(text) is found


def test_text_that_is_no_unicode_upsets_nothing() -> None:
    assert regex.make_matcher("a").run("\ud800a")


def test_a_pattern_that_backtracks_elsewhere_takes_linear_time() -> None:
    assert not regex.make_matcher("^(a+)+$").run("a" * 100_000 + "b")


def test_thousands_of_cheap_patterns_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = regex._compile_sized

    def compile_pattern(pattern: str, cost: float) -> tuple[Any, int]:
        compiled.append(pattern)
        return real(pattern, cost)

    monkeypatch.setattr(regex, "_compile_sized", compile_pattern)
    matchers = [regex.make_matcher(f"^few{number}") for number in range(3000)]
    for _ in range(3):
        assert not any(matcher.run("a") for matcher in matchers)
    assert len(compiled) == len(matchers)


def test_a_pattern_that_is_compiled_again_is_not_priced_again(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = regex.make_matcher("^again[a-z]{1,20}$")
    assert matcher.run("agains")
    for name in ("price_regex", "find_problem", "_plan_search"):
        monkeypatch.setattr(regex, name, None)
    matcher.drop_value()
    assert matcher.run("agains")
    assert not matcher.run("again")
