from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.auth.access import OIDC
from podless.auth.oidc import OIDCIssuer, ProviderUnreachable
from podless.http.console import BEGIN, PROVIDER, RENEW, REVOKE, TOKEN, CodeLogin
from podless.http.message import HTTPRequest
from tests.auth.provider import Provider
from tests.http.test_console import ask, own

GIVEN = {"code": "c", "verifier": "v"}


@pytest.fixture(scope="module")
def server(provider: Provider) -> Iterator[Server]:
    oidc = OIDC(issuer=provider.issuer, client_id="podless", username_claim="email", ca_file=provider.authority)
    with Server(console=True, oidc=oidc) as running:
        yield running


def redeem(
    server: Server, body: object, headers: dict[str, str] | None = None, place: str = TOKEN
) -> tuple[int, dict[str, Any]]:
    status, _, text = ask(server, "POST", place, json.dumps(body), own(server) if headers is None else headers)
    return status, json.loads(text) if text.startswith(b"{") else {}


def test_a_page_is_told_where_to_go(server: Server, provider: Provider) -> None:
    status, headers, body = ask(server, "GET", PROVIDER)
    assert (status, json.loads(body)) == (200, {"issuer": provider.issuer})
    assert headers["cache-control"] == "no-store"
    assert json.loads(ask(server, "GET", BEGIN)[2]) == {
        "endpoint": f"{provider.issuer}/authorize",
        "client": "podless",
        "scope": "openid email offline_access",  # those that the provider offers
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


class Counted(OIDCIssuer):
    """A provider that answers when it is told to. asked: the number of discoveries."""

    def __init__(self) -> None:
        super().__init__(OIDC(issuer="https://127.0.0.1:1", client_id="podless"))
        self.asked = 0
        self.ready = asyncio.Event()

    async def read_discovery(self) -> dict[str, Any]:
        self.asked += 1
        await self.ready.wait()
        raise ProviderUnreachable("down")


async def test_requests_at_once_are_bounded() -> None:
    issuer = Counted()
    login = CodeLogin(issuer)
    request = HTTPRequest.of("POST", TOKEN, {"origin": "https://127.0.0.1:2"})
    waiting = [asyncio.ensure_future(login.answer_post(request, GIVEN)) for _ in range(4)]
    waiting += [asyncio.ensure_future(login.begin_login()) for _ in range(4)]
    await asyncio.sleep(0)
    assert (await login.answer_post(request, GIVEN))[0] == 429
    assert (await login.begin_login())[0] == 429
    issuer.ready.set()
    assert [status for status, _ in await asyncio.gather(*waiting)] == [502] * 8
    assert issuer.asked == 1  # one request told all of them


async def test_a_provider_that_failed_is_asked_again_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("podless.http.console.time.monotonic", lambda: now[0])
    issuer = Counted()
    issuer.ready.set()
    login = CodeLogin(issuer)
    for later in (0.0, 4.9, 0.2):
        now[0] += later
        assert await login.begin_login() == (502, {"message": "https://127.0.0.1:1 cannot be reached: down"})
    assert issuer.asked == 2


def test_a_refresh_token_gives_new_tokens_until_it_is_revoked(server: Server, provider: Provider) -> None:
    sent = {"client_id": "podless", "user": "ann", "nonce": "n", "scope": "openid offline_access"}
    provider._refreshes["first"] = sent
    status, told = redeem(server, {"refresh": "first"}, place=RENEW)
    assert (status, sorted(told)) == (200, ["refresh", "token"])
    assert redeem(server, {"refresh": "first"}, place=RENEW)[0] == 403  # it was used
    assert redeem(server, {"refresh": told["refresh"]}, place=REVOKE) == (200, {})
    assert redeem(server, {"refresh": told["refresh"]}, place=RENEW)[0] == 403
    assert provider.revoked == [told["refresh"]]
    for place in (RENEW, REVOKE):
        assert redeem(server, {}, place=place)[0] == 400
        assert redeem(server, {"refresh": "x"}, {}, place)[0] == 403  # no browser
        assert redeem(server, {"refresh": "x"}, {"Origin": "https://other.example.com"}, place)[0] == 403


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
