"""Which proxy leads to a server."""

from __future__ import annotations

import pytest

from podless.remote.kubeconfig import check_proxy, choose_proxy

PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("url", "excluded", "proxied"),
    [
        ("https://k8s.example.com:6443", "", True),
        ("https://k8s.example.com:6443", "example.com", False),
        ("https://k8s.example.com:6443", ".example.com", False),
        ("https://example.com", ".example.com", True),
        ("https://example.com", "example.com", False),
        ("https://badexample.com", "example.com", True),
        ("https://k8s.example.com:6443", "example.com:443", True),
        ("https://k8s.example.com:6443", "other, example.com:6443", False),
        ("https://k8s.example.com:6443", "*", False),
        ("https://10.1.2.3:6443", "10.0.0.0/8", False),
        ("https://10.1.2.3:6443", "10.1.2.3", False),
        ("https://10.1.2.3:6443", "10.2.0.0/16", True),
        ("https://[fd00::1]:6443", "fd00::/8", False),
        ("https://127.0.0.1:6443", "", False),
        ("https://localhost:6443", "", False),
        ("http://k8s.example.com", "", False),  # that has a variable of its own
    ],
)
def test_the_environment_names_proxies_and_exceptions(url: str, excluded: str, proxied: bool) -> None:
    assert choose_proxy(url, {"HTTPS_PROXY": PROXY, "NO_PROXY": excluded}) == (PROXY if proxied else "")
    assert choose_proxy(url, {"https_proxy": PROXY, "no_proxy": excluded}) == (PROXY if proxied else "")


def test_a_host_alone_is_an_http_proxy() -> None:
    assert choose_proxy("http://k8s.example.com", {"HTTP_PROXY": "proxy:3128"}) == PROXY


@pytest.mark.parametrize("proxy", ["socks5://proxy:1080", "http://", "ftp://proxy"])
def test_other_proxies_are_rejected(proxy: str) -> None:
    with pytest.raises(ValueError, match="is not the URL of an HTTP proxy"):
        check_proxy(proxy, "proxy-url")
