"""Header fields are decoded as RFC 7541 says."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.store.etcd.hpack import HeaderDecoder, encode_headers

# appendix C.6: three answers on one connection, with a table of 256 bytes; C.4: three requests
ANSWERS = [
    "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
    "4883640effc1c0bf",
]
REQUESTS = [
    ("828684418cf1e3c2e5f23a6ba0ab90f4ff", {b":path": b"/", b":authority": b"www.example.com"}),
    ("828684be5886a8eb10649cbf", {b":authority": b"www.example.com", b"cache-control": b"no-cache"}),
    ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", {b":path": b"/index.html", b"custom-key": b"custom-value"}),
]


def test_the_requests_of_the_rfc() -> None:
    decoder = HeaderDecoder()
    for block, fields in REQUESTS:
        assert decoder.decode_block(bytes.fromhex(block)).items() >= fields.items()


def test_the_answers_of_the_rfc() -> None:
    decoder = HeaderDecoder()
    first = decoder.decode_block(b"\x3f\xe1\x01" + bytes.fromhex(ANSWERS[0]))
    assert first == {
        b":status": b"302",
        b"cache-control": b"private",
        b"date": b"Mon, 21 Oct 2013 20:13:21 GMT",
        b"location": b"https://www.example.com",
    }
    assert decoder.decode_block(bytes.fromhex(ANSWERS[1])) == first | {b":status": b"307"}


@given(st.lists(st.tuples(st.text(min_size=1), st.text(max_size=300)), max_size=5))
def test_what_is_encoded_is_decoded(fields: list[tuple[str, str]]) -> None:
    decoder = HeaderDecoder()
    for _ in range(2):
        assert decoder.decode_block(encode_headers(fields)) == {name.encode(): value.encode() for name, value in fields}


@given(st.binary())
def test_nothing_else_is_raised_for_what_is_no_block(block: bytes) -> None:
    decoder = HeaderDecoder()
    with suppress(ValueError):
        decoder.decode_block(block)


@pytest.mark.parametrize("block", ["80", "be", "3fe1ff0f", "0085ffffffffff00", "00", "7fffffffffff7f", "0081ff00"])
def test_what_no_peer_may_send_is_refused(block: str) -> None:
    with pytest.raises(ValueError, match="HPACK: "):
        HeaderDecoder().decode_block(bytes.fromhex(block))
