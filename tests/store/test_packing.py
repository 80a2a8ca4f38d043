"""Packed states are what they were, with and without a similar one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.store.packing import pack_value, unpack_value


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_a_packed_state_is_what_it_was(value: bytes, like: bytes) -> None:
    assert unpack_value(pack_value(value)) == value
    assert unpack_value(pack_value(value, like), like) == value


@pytest.mark.parametrize("length", [0, 249, 250, 3833, 3834, 7929, 16_000, 24_000])
def test_all_of_a_similar_state_counts(length: int) -> None:
    like = b",".join(b"%x" % (number * 7919**5) for number in range(length // 14 + 1))[:length]
    half = length // 2
    for value in (like, like[:half] + b"in between" + like[half:], like[:half] + like[half + 20 :]):
        packed = pack_value(value, like)
        assert unpack_value(packed, like) == value
        assert len(packed) < 50 + length / 10
