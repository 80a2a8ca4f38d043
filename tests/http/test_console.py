from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from podless import Server
from podless.http.console import LINK, POLICY, CodeLogin, Console, is_foreign
from podless.http.message import HTTPRequest, Response

HOST = "127.0.0.1:6443"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(console=True, anonymous=False) as running:
        yield running


def ask(
    server: Server, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    place = urlsplit(server.url)
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=60, context=context)
    try:
        connection.request(method, path, body.encode() if body else None, headers or {})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def own(server: Server) -> dict[str, str]:
    return {"Origin": server.url}


def code_of(server: Server) -> str:
    return json.dumps({"code": server.make_console_link().rpartition("/")[2]})


def test_the_page_needs_no_login_and_has_a_strict_policy(server: Server) -> None:
    status, headers, body = ask(server, "GET", "/console/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-cache"
    assert b"<div id=root>" in body.replace(b'"', b"")
    assert ask(server, "GET", "/api")[0] == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/console/"), ("GET", "/console/no"), ("PUT", "/console/"), ("POST", LINK), ("GET", "/console")],
)
def test_no_answer_can_be_framed_read_elsewhere_or_sets_a_cookie(server: Server, method: str, path: str) -> None:
    _, headers, _ = ask(server, method, path, headers=own(server))
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "no-referrer"
    assert not {"set-cookie", "access-control-allow-origin"} & headers.keys()


@pytest.mark.parametrize(
    "path", ["/console", "//evil.example/console", "/console//evil.example", "/console?to=//evil.example"]
)
def test_no_path_leads_to_another_site(server: Server, path: str) -> None:
    _, headers, _ = ask(server, "GET", path)
    assert headers.get("location", "/console/") == "/console/"


def test_a_page_elsewhere_cannot_use_the_certificate_of_a_user() -> None:
    passed: list[str] = []

    def handler(request: HTTPRequest) -> Response:
        passed.append(request.path)
        return Response(200)

    handle = Console(lambda: "token", CodeLogin(None)).wrap_handler(handler)

    def send(certified: bool, **headers: str) -> None:
        request = HTTPRequest.of("POST", "/api/v1/namespaces", {"host": HOST, **headers})
        request.certificate = object() if certified else None  # type: ignore[assignment]
        handle(request)

    send(True, origin="https://evil.example")
    assert passed == []
    send(True, origin=f"https://{HOST}")
    send(True)  # no browser
    send(False, origin="https://evil.example")  # such a page has no token
    assert len(passed) == 3


def test_files_with_hashed_names_may_be_kept_and_are_compressed(server: Server) -> None:
    body = ask(server, "GET", "/console/")[2].decode()
    script = body.partition('src="')[2].partition('"')[0]
    status, headers, packed = ask(server, "GET", script, headers={"Accept-Encoding": "gzip, br"})
    assert status == 200
    assert "immutable" in headers["cache-control"]
    assert headers["content-encoding"] == "gzip"
    plain = ask(server, "GET", script)
    assert len(packed) < len(plain[2])
    assert ask(server, "GET", script, headers={"If-None-Match": plain[1]["etag"]})[0] == 304
    assert ask(server, "HEAD", script)[2] == b""


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/console", 308),
        ("GET", "/console/nothing", 404),
        ("GET", "/console/../kubeconfig", 404),
        ("GET", "/console/assets/..%2f..%2flinks.py", 404),
        ("POST", "/console/", 405),
        ("GET", LINK, 405),
        ("GET", "/consoles", 401),
    ],
)
def test_other_paths(server: Server, method: str, path: str, status: int) -> None:
    assert ask(server, method, path)[0] == status


def test_a_link_gives_the_token_once(server: Server) -> None:
    code = code_of(server)
    status, headers, body = ask(server, "POST", LINK, code, own(server))
    assert (status, headers["cache-control"]) == (200, "no-store")
    assert json.loads(body) == {"token": server.token}
    assert ask(server, "POST", LINK, code, own(server))[0] == 403


def test_other_sites_get_nothing(server: Server) -> None:
    code = code_of(server)
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {},
    ):
        status, answered, body = ask(server, "POST", LINK, code, headers)
        assert (status, body) == (403, b"")
        assert "access-control-allow-origin" not in answered
    assert ask(server, "GET", "/console/", headers={"Origin": "https://evil.example"})[0] == 403
    assert ask(server, "POST", LINK, code, own(server))[0] == 200  # it is not used up


@pytest.mark.parametrize("body", ["", "{", "[]", '{"code": 1}', '{"code": "no"}', '"' + "x" * 2000 + '"'])
def test_broken_codes_are_rejected(server: Server, body: str) -> None:
    status, _, text = ask(server, "POST", LINK, body, own(server))
    assert status in (400, 403, 413)
    assert b"Traceback" not in text


@pytest.mark.parametrize(
    ("headers", "foreign"),
    [
        ({}, False),
        ({"origin": f"https://{HOST}"}, False),
        ({"origin": "https://127.0.0.1:6444"}, True),
        ({"origin": "null"}, True),
        ({"sec-fetch-site": "same-origin"}, False),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, False),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, True),
    ],
)
def test_who_is_foreign(headers: dict[str, str], foreign: bool) -> None:
    assert is_foreign({"host": HOST, **headers}) is foreign


def test_without_the_option_there_is_no_console() -> None:
    with Server() as plain:
        assert ask(plain, "GET", "/console/", headers={"Authorization": f"Bearer {plain.token}"})[0] == 404
        assert plain.make_console_link() == ""
