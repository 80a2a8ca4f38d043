"""Bodies of many items."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.http.message import ListBody, Response

_ITEMS = st.lists(st.binary(min_size=1, max_size=9) | st.just(b"x" * 40_000), max_size=12)


@given(st.binary(max_size=4), _ITEMS, st.binary(max_size=4))
def test_a_listing_is_its_items_with_commas_between(head: bytes, items: list[bytes], tail: bytes) -> None:
    listing = ListBody(head, items, tail)
    whole = head + b",".join(items) + tail
    assert b"".join(listing) == whole
    assert b"".join(listing) == whole  # as often as it is asked for
    assert Response(200, listing).size == len(whole)


def test_a_long_listing_comes_in_pieces() -> None:
    pieces = list(ListBody(b"[", [b"1" * 1000] * 1000, b"]"))
    assert max(map(len, pieces)) < 100_000
    assert len(pieces) > 10
