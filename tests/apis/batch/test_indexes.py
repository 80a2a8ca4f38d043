"""Indexes as texts."""

from __future__ import annotations

import pytest

from podless.apis.batch import indexes


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("0,2-4,7", ""),
        ("4,2", "non-increasing order, previous: 4, current: 2"),
        ("4-4", "non-increasing order, previous: 4, current: 4"),
        ("10", 'too large index: "10"'),
        ("a", 'cannot convert string to integer for index: "a"'),
        (
            "1-2-3",
            'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts '
            "separated by '-'",
        ),
    ],
)
def test_what_a_text_has_wrong(text: str, wanted: str) -> None:
    assert indexes.find_index_fault(text, 10) == wanted


def test_how_many() -> None:
    assert indexes.count_indexes("0,2-4,7", 10) == 5


@pytest.mark.parametrize(
    ("done", "failed", "wanted"), [("0-3", "3-5", 3), ("0,4-6", "1-2,5", 5), ("0", "1", None), ("", "1", None)]
)
def test_the_first_that_is_in_both(done: str, failed: str, wanted: int | None) -> None:
    assert indexes.find_overlap(done, failed, 10) == wanted
