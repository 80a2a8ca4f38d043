"""Releases and the spans that name them."""

from __future__ import annotations

import pytest

from podless.runtime.release import CURRENT, NEWEST, Release, covers, has


@pytest.mark.parametrize(
    ("span", "minor", "found"),
    [
        ("", 30, True),
        ("1.34-", 34, True),
        ("1.34-", 33, False),
        ("-1.33", 33, True),
        ("-1.33", 34, False),
        ("1.32", 32, True),
        ("1.32,1.34-", 33, False),
        ("1.32,1.34-", 36, True),
        ("1.31-1.33", 33, True),
    ],
)
def test_a_span_names_releases(span: str, minor: int, found: bool) -> None:
    assert covers(span, minor) is found


@pytest.mark.parametrize("span", ["1", "34", "2.1-", "1.x"])
def test_what_is_no_release_is_refused(span: str) -> None:
    with pytest.raises(ValueError, match="no release"):
        covers(span, 34)


def test_without_a_server_all_is_on() -> None:
    assert CURRENT.get() is NEWEST
    assert has("Anything")


def test_a_release_lacks_what_it_is_made_without() -> None:
    token = CURRENT.set(Release("1.30", 30, frozenset({"WatchList"})))
    try:
        assert not has("WatchList")
        assert has("Other")
    finally:
        CURRENT.reset(token)
