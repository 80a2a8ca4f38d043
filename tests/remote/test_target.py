"""Where webhooks are asked, of what their configuration says."""

from __future__ import annotations

import pytest

from podless.remote.client import WebhookTarget


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("https://h:1", "https://h:1/"),
        ("https://h:1/", "https://h:1/"),
        ("https://h:1//mutate", "https://h:1/mutate"),
        ("https://h/a//b/./c/../d/", "https://h/a/b/d"),
        ("https://h/../..", "https://h/"),
        ("https://h/a%20b%2Fc;d=1,2", "https://h/a%20b/c;d=1,2"),
        ("https://user:secret@h/a?b=c#d", "https://h/a"),
    ],
)
def test_a_path_is_asked_for_as_from_a_real_server(given: str, asked: str) -> None:
    assert WebhookTarget.from_config({"url": given}).url == asked


@pytest.mark.parametrize(("path", "asked"), [(None, "/"), ("/", "/"), ("/a/", "/a"), ("//a", "/a"), ("a?b", "/a%3Fb")])
def test_a_service_is_asked_by_its_name(path: str | None, asked: str) -> None:
    service = {"namespace": "n", "name": "s", **({"path": path} if path is not None else {})}
    assert WebhookTarget.from_config({"service": service}) == WebhookTarget(
        f"https://s.n.svc:443{asked}", service="n/s:443"
    )
