"""Values in patches as they were written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podless.codec import serializer
from podless.fields import patchtext

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_was_marked_is_there_again(value: Any) -> None:
    text, found = patchtext.mark_values(json.dumps(value).encode())
    assert json.loads(patchtext.unmark_values(serializer.encode_json(json.loads(text)), found)) == value


def test_values_keep_their_bytes_and_keys_do_not() -> None:
    text, found = patchtext.mark_values(b'{"\\u00e9" : "\\u00e9", "n": [1.50, -1e3, true]}')
    assert (
        patchtext.unmark_values(serializer.encode_json(json.loads(text)), found).decode()
        == '{"é":"\\u00e9","n":[1.50,-1e3,true]}'
    )


def test_a_mark_that_was_sent_is_left_alone() -> None:
    assert patchtext.unmark_values(b'["\\u00007"]', []) == b'["\\u00007"]'
