"""Answers are indented for people: those who ask for it, and those who type requests."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request

import pytest

from podless import Server

NAMESPACES = "/api/v1/namespaces"


@pytest.mark.parametrize(
    "path", [f"{NAMESPACES}/default", f"{NAMESPACES}/nobody", f"{NAMESPACES}?limit=x", "/apis/nope/v1/x"]
)
@pytest.mark.parametrize(
    ("agent", "pretty", "indented"),
    [
        ("curl/8.5.0", "", True),
        ("Wget/1.21", "", True),
        ("Mozilla/5.0", "", True),
        ("kubectl/v1.36.0", "", False),
        ("kubectl/v1.36.0", "true", True),
        ("curl/8.5.0", "false", False),
    ],
)
def test_objects_and_errors_alike(server: Server, path: str, agent: str, pretty: str, indented: bool) -> None:
    query = f"{'&' if '?' in path else '?'}pretty={pretty}" if pretty else ""
    request = urllib.request.Request(server.url + path + query)
    request.add_header("User-Agent", agent)
    request.add_header("Authorization", f"Bearer {server.token}")
    try:
        with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
            raw = answer.read()
    except urllib.error.HTTPError as error:
        raw = error.read()
    if raw.startswith(b"{"):  # what is no path of an API is answered by a page
        assert (b'\n  "kind"' in raw) == indented
        assert raw.endswith(b"\n") != indented
