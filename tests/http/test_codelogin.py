from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.auth.access import OIDC
from podless.auth.issuer import Issuer
from podless.http.codelogin import BEGIN, PROVIDER, TOKEN, CodeLogin
from podless.http.message import Request
from tests.auth.provider import Provider
from tests.http.test_console import ask, own

GIVEN = {"code": "c", "verifier": "v"}


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    made = Provider(tmp_path_factory.mktemp("provider"), ("ann",))
    yield made
    made.server.shutdown()


@pytest.fixture(scope="module")
def server(provider: Provider) -> Iterator[Server]:
    oidc = OIDC(issuer=provider.issuer, client_id="podless", username_claim="email", ca_file=provider.authority)
    with Server(console=True, oidc=oidc) as running:
        yield running


def redeem(server: Server, body: object, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    status, _, text = ask(server, "POST", TOKEN, json.dumps(body), own(server) if headers is None else headers)
    return status, json.loads(text) if text.startswith(b"{") else {}


def test_a_page_is_told_where_to_go(server: Server, provider: Provider) -> None:
    status, headers, body = ask(server, "GET", PROVIDER)
    assert (status, json.loads(body)) == (200, {"issuer": provider.issuer})
    assert headers["cache-control"] == "no-store"
    assert json.loads(ask(server, "GET", BEGIN)[2]) == {
        "endpoint": f"{provider.issuer}/authorize",
        "client": "podless",
        "scope": "openid email",  # those that the provider offers
    }


def test_what_is_no_login_is_rejected(server: Server) -> None:
    assert redeem(server, GIVEN, {})[0] == 403  # no browser
    assert redeem(server, GIVEN, {"Origin": "https://other.example.com"})[0] == 403
    bad: list[object] = [{"code": "c"}, [], {"code": 1, "verifier": "v"}]
    assert [redeem(server, body)[0] for body in bad] == [400, 400, 400]
    assert redeem(server, "x" * 9000)[0] == 413
    assert ask(server, "GET", TOKEN)[0] == 405
    status, told = redeem(server, GIVEN)
    assert status == 403
    assert told["message"].endswith("rejects the login: invalid_grant: the code is not good")


def test_a_server_without_a_provider_says_so() -> None:
    with Server(console=True) as plain:
        assert json.loads(ask(plain, "GET", PROVIDER)[2]) == {"issuer": ""}
        assert ask(plain, "GET", BEGIN)[0] == 404
        assert redeem(plain, GIVEN)[0] == 404


def test_an_unreachable_provider_is_named() -> None:
    oidc = OIDC(issuer="https://127.0.0.1:1", client_id="podless")
    with Server(console=True, oidc=oidc) as lonely:
        status, _, body = ask(lonely, "GET", BEGIN)
        assert status == 502
        assert "https://127.0.0.1:1 cannot be reached" in json.loads(body)["message"]
        assert redeem(lonely, GIVEN)[0] == 502


def test_logins_at_once_are_bounded() -> None:
    class Slow(Issuer):
        async def discover(self) -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

    async def run() -> int:
        login = CodeLogin(Slow(OIDC(issuer="https://127.0.0.1:1", client_id="podless")))
        request = Request("POST", TOKEN, {"origin": "https://127.0.0.1:2"})
        waiting = [asyncio.ensure_future(login.redeem(request, GIVEN)) for _ in range(8)]
        await asyncio.sleep(0)
        status, _ = await login.redeem(request, GIVEN)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return status

    assert asyncio.run(run()) == 429


@pytest.mark.parametrize("answer", [{}, {"id_token": 7}])
def test_an_answer_without_a_token_is_no_login(
    server: Server, provider: Provider, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = (200, {"Content-Type": "application/json"}, json.dumps(answer).encode())
    monkeypatch.setattr(provider, "redeem", lambda form: told)
    assert redeem(server, GIVEN)[0] == 502


def test_a_provider_of_another_name_is_not_asked(tmp_path: Path) -> None:
    other = Provider(tmp_path)
    oidc = OIDC(issuer=f"{other.issuer}/realm", client_id="podless", ca_file=other.authority)
    try:
        with Server(console=True, oidc=oidc) as running:
            assert ask(running, "GET", BEGIN)[0] == 502
    finally:
        other.server.shutdown()
