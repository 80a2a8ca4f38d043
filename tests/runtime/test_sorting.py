"""Many texts are sorted in pieces, and come out as if they had not been."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.runtime import sorting
from podless.runtime.sorting import sort_keys, sort_texts


@given(st.sets(st.text(), max_size=200))
def test_they_are_in_order(texts: set[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_TEXTS_PER_SORT", 8)
        assert sort_texts(texts) == sorted(texts)
        assert sort_texts(texts, lambda text: (len(text), text)) == sorted(texts, key=lambda text: (len(text), text))


def test_no_piece_is_much_longer_than_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0

    def watched(texts: list[str], key: object = None) -> list[str]:
        nonlocal longest
        longest = max(longest, len(texts))
        return sorted(texts)

    monkeypatch.setattr(sorting, "sorted", watched, raising=False)
    texts = [f"{number:08}" for number in range(100_000)]
    random.Random(1).shuffle(texts)
    assert sort_texts(texts) == sorted(texts)
    assert longest < 4 * sorting._TEXTS_PER_SORT


@given(st.dictionaries(st.text(), st.integers(), max_size=200))
def test_a_map_has_its_keys_in_order(given_map: dict[str, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_TEXTS_PER_SORT", 8)
        assert list(sort_keys(given_map).items()) == sorted(given_map.items())
