"""The parts of a transaction are what the messages would be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.store.etcd import messages as m
from podless.store.etcd import transaction

_KEYS, _NUMBERS = st.binary(max_size=300), st.integers(0, (1 << 63) - 1)


@given(st.lists(st.tuples(_KEYS, _NUMBERS, st.binary(max_size=20_000), _NUMBERS, st.booleans()), max_size=5))
def test_parts_are_read_as_the_message(parts: list[tuple[bytes, int, bytes, int, bool]]) -> None:
    made, wanted = b"", m.TxnRequest()
    for key, revision, value, lease, goes in parts:
        made += transaction.compare_revision(key, revision, lower=goes) + transaction.read_otherwise(key)
        result = m.LESS if goes else m.EQUAL
        wanted.compare.add(result=result, target=m.MOD, key=key, mod_revision=revision)
        wanted.failure.add(request_range=m.RangeRequest(key=key))
        if goes:
            made += transaction.delete_key(key)
            wanted.success.add(request_delete_range=m.DeleteRequest(key=key))
        else:
            made += transaction.put_key(key, value, lease)
            wanted.success.add(request_put=m.PutRequest(key=key, value=value, lease=lease))
    assert m.TxnRequest.FromString(made) == wanted
