"""URLs are parsed as Go's net/url does, with its errors."""

from __future__ import annotations

import pytest

from podless.apis.features import choose_release
from podless.codec.gourl import URLError, parse_url
from podless.runtime.release import CURRENT


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://[", "missing ']' in host"),
        ("https://[::1", "missing ']' in host"),
        ("https://a[::1]", "invalid IP-literal"),
        ("https://[1.2.3.4]", "invalid IP-literal"),
        (
            "https://[x:]",
            'invalid host: ParseAddr("x:"): each colon-separated field must have at least one digit (at "x:")',
        ),
        ("https://[::1]x", 'invalid port "x" after host'),
        ("https://a:b:1", 'invalid port ":b:1" after host'),
        ("https://a%20b", 'invalid URL escape "%20"'),
        ("https://a b", 'invalid character " " in host name'),
        ("https://a b@c", "net/url: invalid userinfo"),
        ("a:/%", 'invalid URL escape "%"'),
        ("1:", "first path segment in URL cannot contain colon"),
        (":", "missing protocol scheme"),
        ("a\n", "net/url: invalid control character in URL"),
    ],
)
def test_faults_have_the_words_of_go(text: str, wanted: str) -> None:
    with pytest.raises(URLError) as error:
        parse_url(text)
    assert str(error.value).endswith(f": {wanted}")


def test_a_url_has_parts() -> None:
    url = parse_url("HTTPS://u:a:b@[fe80::1%25en0]:80/a%2Fb?q=1#f")
    assert (url.scheme, url.host, url.path, url.raw) == ("https", "[fe80::1%en0]:80", "/a/b", "/a%2Fb")
    assert (url.user, url.query, url.fragment) == ("u:a%3Ab", "q=1", "f")
    assert parse_url("https://h").user is None


def test_older_releases_accept_more_hosts() -> None:
    token = CURRENT.set(choose_release("1.35"))
    try:
        assert parse_url("https://[x]/").host == "[x]"
        assert parse_url("https://a:b:1").host == "a:b:1"
    finally:
        CURRENT.reset(token)
