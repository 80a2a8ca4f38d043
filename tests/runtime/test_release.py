"""Releases and the spans that name them."""

from __future__ import annotations

import pytest

from podless.runtime.release import ALL_ON, CURRENT, Release, ReleaseRecorder, covers, describe_span, has


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
    with pytest.raises(ValueError, match="not a release"):
        covers(span, 34)


def test_without_a_server_all_is_on() -> None:
    assert CURRENT.get() is ALL_ON
    assert has("Anything")


def test_a_release_lacks_what_it_is_made_without() -> None:
    token = CURRENT.set(Release("1.30", 30, frozenset({"WatchList"})))
    try:
        assert not has("WatchList")
        assert has("Other")
    finally:
        CURRENT.reset(token)


@pytest.mark.parametrize(
    ("held", "said"),
    [("1.30 1.31 1.36", "1.30-1.31,1.36"), ("1.31", "1.31"), ("1.30 1.36", "1.30,1.36"), ("", "")],
)
def test_releases_are_told_as_a_span(held: str, said: str) -> None:
    assert describe_span(held.split(), ["1.30", "1.31", "1.33", "1.36"]) == said


def test_notes_tell_which_releases_answer_alike() -> None:
    notes = ReleaseRecorder(Release("1.34", 34, frozenset({"New"}), lambda field, said: said.upper()))
    assert not notes.release.has_feature("New")
    assert notes.release.word_error("a", "b") == "B"
    notes.note_span("1.33-")
    assert notes.agrees_with(Release("1.33", 33, frozenset({"New", "Newer"}), lambda field, said: said.upper()))
    assert not notes.agrees_with(Release("1.32", 32, frozenset({"New"}), lambda field, said: said.upper()))
    assert not notes.agrees_with(Release("1.34", 34, frozenset(), lambda field, said: said.upper()))
    assert not notes.agrees_with(Release("1.34", 34, frozenset({"New"})))
