"""What podless makes of pyre2, where google-re2 is not installed."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from podless.codec import re2


@pytest.fixture
def pyre2(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The patterns that pyre2 is given."""
    given: list[str] = []

    def compile_(pattern: str, flags: int, most: int) -> re.Pattern[str]:
        given.append(pattern)
        return re.compile(pattern, flags)

    monkeypatch.setattr(re2, "library", SimpleNamespace(compile=compile_, ASCII=re.ASCII))
    return given


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("(?<n>a)", "(?P<n>a)"),
        ("a(?<n>a)(?<m>b)", "a(?P<n>a)(?P<m>b)"),
        (r"\(?<n>", r"\(?<n>"),
        ("(?P<n>a)", "(?P<n>a)"),
    ],
)
def test_named_groups_have_the_form_that_older_re2_knows(pyre2: list[str], pattern: str, wanted: str) -> None:
    re2._Regexp(pattern, re2._Options())
    assert pyre2 == [wanted]


def test_a_text_that_is_no_unicode_is_searched(pyre2: list[str]) -> None:
    compiled = re2._Regexp("b", re2._Options())
    assert compiled.search("\ud800b")
    assert not compiled.match("\ud800b")
    assert compiled.programsize > 1


@pytest.mark.parametrize("pattern", ["(", "\\", "a\\\\\\"])
def test_errors_are_those_of_google_re2(pyre2: list[str], pattern: str) -> None:
    with pytest.raises(re2.RegexpError):
        re2._Regexp(pattern, re2._Options())
