"""Base64 with Go's errors: the offsets at which its decoder stops."""

from __future__ import annotations

import pytest

from podless.codec.gobase64 import decode_base64


@pytest.mark.parametrize(
    ("text", "value"), [("YWJj\n", b"abc"), ("YQ=\n=", b"a"), ("YR==", b"a"), ("+/+/", b"\xfb\xff\xbf")]
)
def test_padded_base64_is_decoded(text: str, value: bytes) -> None:
    assert decode_base64(text) == value


@pytest.mark.parametrize(
    ("text", "url", "padded", "offset"),
    [
        ("YQ=\nx", False, True, 3),  # one less than the byte in place of the padding
        ("YWJ=\nx", False, True, 5),
        ("YWJ", True, True, 0),
        ("YW+/", True, True, 2),
        ("YQ==", False, False, 2),
        ("YWJjY\n", False, False, 5),
        ("Y!", False, False, 1),
    ],
)
def test_errors_have_the_offset_of_go(text: str, url: bool, padded: bool, offset: int) -> None:
    with pytest.raises(ValueError, match=f"^illegal base64 data at input byte {offset}$"):
        decode_base64(text, url=url, padded=padded)


def test_urls_have_another_alphabet() -> None:
    assert decode_base64("-_-_", url=True) == b"\xfb\xff\xbf"
    assert decode_base64("-_8", url=True, padded=False) == b"\xfb\xff"
