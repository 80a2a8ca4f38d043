"""The parts of a transaction are what the messages would be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.store.etcd import messages as m

_KEYS, _NUMBERS = st.binary(max_size=300), st.integers(0, (1 << 63) - 1)


_EQUAL, _LESS = 0, 2  # results of a Compare
_VERSION, _CREATE, _MOD = 0, 1, 2  # its targets
_COMPARE, _DELETE = m._CLASSES["Compare"], m._CLASSES["DeleteRequest"]


@given(st.lists(st.tuples(_KEYS, _NUMBERS, st.binary(max_size=20_000), _NUMBERS, st.booleans()), max_size=5))
def test_parts_are_read_as_the_message(parts: list[tuple[bytes, int, bytes, int, bool]]) -> None:
    made, wanted = b"", m.TxnRequest()
    for key, revision, value, lease, goes in parts:
        made += m.compare_revision(key, revision, lower=goes) + m.read_otherwise(key)
        result = _LESS if goes else _EQUAL
        wanted.compare.add(result=result, target=_MOD, key=key, mod_revision=revision)
        wanted.failure.add(request_range=m.RangeRequest(key=key))
        if goes:
            made += m.delete_key(key)
            wanted.success.add(request_delete_range=_DELETE(key=key))
        else:
            made += m.put_key(key, value, lease)
            wanted.success.add(request_put=m.PutRequest(key=key, value=value, lease=lease))
    assert m.TxnRequest.FromString(made) == wanted


@given(_KEYS, st.binary(min_size=1, max_size=300), _NUMBERS)
def test_parts_about_ranges_and_versions_are_read_as_the_message(key: bytes, end: bytes, number: int) -> None:
    made = m.compare_created(key, number) + m.compare_created(key, number, end)
    made += m.compare_version(key, number)
    made += m.delete_key(key, end) + m.read_otherwise(key, end)
    wanted = m.TxnRequest(
        compare=[
            _COMPARE(target=_CREATE, key=key, create_revision=number),
            _COMPARE(target=_CREATE, key=key, create_revision=number, range_end=end),
            _COMPARE(target=_VERSION, key=key, version=number),
        ],
        success=[m.Request(request_delete_range=_DELETE(key=key, range_end=end))],
        failure=[m.Request(request_range=m.RangeRequest(key=key, range_end=end))],
    )
    assert m.TxnRequest.FromString(made) == wanted
