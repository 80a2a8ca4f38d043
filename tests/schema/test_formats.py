"""Each format accepts what Go's parser behind it accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.schema import formats

GOOD = {
    "bsonobjectid": ["507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011"],
    "uri": ["http://a.b/c", "/path", "mailto:a@b.c", "urn:x:y", "*", "http://", "http://[::1]:80/", "a:b", "//host/p"],
    "email": ["a@b.c", "Ada <ada@example.com>", '"a b"@c', "<a@b>", "a@[127.0.0.1]", " a@b ", "é@x"],
    "hostname": ["a", "a.bc", "example.com", "1a", "xn--a.example", "münchen.de"],
    "ipv4": ["1.2.3.4", "01.002.3.4", "::ffff:1.2.3.4"],
    "ipv6": ["::", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8"],
    "cidr": ["10.0.0.0/8", "::/0", "::1/128", "010.0.0.0/8"],
    "mac": ["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "0123456789ab", "01:23:45:67:89:ab:cd:ef"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "A0000000000000000000000000000000"],
    "uuid3": ["00000000-0000-3000-0000-000000000000"],
    "uuid4": ["00000000-0000-4000-8000-000000000000"],
    "uuid5": ["00000000-0000-5000-b000-000000000000"],
    "isbn": ["0321751043", "978-0321751041"],
    "isbn10": ["0-321-75104-3", "080442957X"],
    "isbn13": ["978 0321751041"],
    "creditcard": ["4111 1111 1111 1111", "5555-5555-5555-4444"],
    "ssn": ["111-22-3333", "111 22 3333"],
    "hexcolor": ["#fff", "FFFFFF"],
    "rgbcolor": ["rgb(0,12,255)", "rgb( 1 , 2 , 3 )"],
    "byte": ["YQ==", "YWJj"],
    "password": ["", "anything"],
    "date": ["2020-02-29", "0000-01-01"],
    "duration": ["0", "1h30m", "-1.5s", "22 ns", "5 minutes", "3d", "1w2d", "µs 1us"],
    "date-time": ["2020-01-02T03:04:05Z", "2020-01-02t03:04:05.1+23:59", "2020-01-02T03:04:05x1Z"],
    "k8s-short-name": ["a", "a-1"],
    "k8s-long-name": ["a.b", "a" * 253],
}
BAD = {
    "bsonobjectid": ["507f1f77bcf86cd79943901", "z07f1f77bcf86cd799439011"],
    "uri": [
        "",
        "a",
        "http://a b/",
        "http://%zz/",
        ":x",
        "http://a:b/",
        "http://[1.2.3.4]/",
        "http://a:1:2/",
        "http://a[b]/",
        "/%4",
    ],
    "email": ["", "a", "a@", "@b", "a@b c", "a..b@c", "Ada ada@example.com", "a@b>", "a@[x]"],
    "hostname": ["", "-a", "a.b", "a_b", "a..bc", ".", "a" * 64 + ".com"],
    "ipv4": ["1.2.3", "256.1.1.1", "1.2.3.4.5", "::1", "1.2.3.a", ""],
    "ipv6": ["1.2.3.4", ":::", "1:2:3:4:5:6:7", "1::2::3", "g::", "::1%eth0", "12345::", "::ffff:01.2.3.4"],
    "cidr": ["10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/x"],
    "mac": ["01:23:45:67:89", "01:23:45-67:89:ab", "0123.4567", "", "0123456789a"],
    "uuid": ["", "0000", "g0000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000\n"],
    "uuid3": ["00000000-0000-4000-0000-000000000000"],
    "uuid4": ["00000000-0000-4000-0000-000000000000"],
    "uuid5": ["00000000-0000-5000-c000-000000000000"],
    "isbn": ["1", ""],
    "isbn10": ["0321751044", "X321751043"],
    "isbn13": ["978-0321751042"],
    "creditcard": ["4111 1111 1111 1112", "1"],
    "ssn": ["111223333", "1112-2-3333", "11-222-3333"],
    "hexcolor": ["#ff", "#ggg", "##fff"],
    "rgbcolor": ["rgb(256,1,1)", "rgb(1,1)", "(1,1,1)"],
    "byte": ["", "YQ=", "Y Q="],
    "date": ["2021-02-29", "2020-13-01", "2020-1-01", "20200101", "2020-01-01 ", "2020-04-31"],
    "duration": ["", "x", "1", "ns", "1q"],
    "date-time": ["2020-01-02", "2020-01-02 03:04:05Z", "2020-01-02T24:00:00Z", "2020-01-02T03:04:05", "now"],
    "k8s-short-name": ["", "A", "-a", "a" * 64, "a.b"],
    "k8s-long-name": ["", "a..b", "a" * 254, "a."],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_good_values_are_accepted(name: str, text: str) -> None:
    check = formats.find_check(name)
    assert check is not None
    assert check(text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_bad_values_are_refused(name: str, text: str) -> None:
    check = formats.find_check(name)
    assert check is not None
    assert not check(text)


@given(
    st.sampled_from(sorted(formats.CHECKS)), st.text(max_size=40) | st.from_regex(r"\A[-0-9a-fA-F:./%@\[\]<>\" ]*\Z")
)
def test_no_text_upsets_a_check(name: str, text: str) -> None:
    assert formats.CHECKS[name](text) in (True, False)


def test_formats_are_known_by_type_and_without_regard_to_dashes() -> None:
    assert formats.narrow_format("date-time", ("string",)) == formats.narrow_format("date-time", ()) == "date-time"
    assert formats.narrow_format("uu-id", ("string",)) == "uu-id"
    assert formats.narrow_format("int32", ("integer",)) == "int32"
    assert formats.narrow_format("double", ("number",)) == "double"
    for name, kind in (
        ("int32", "string"),
        ("date", "integer"),
        ("float", "integer"),
        ("date", "object"),
        ("Date", "string"),
    ):
        assert formats.narrow_format(name, (kind,)) == ""
