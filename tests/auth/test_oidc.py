"""Tokens of an identity provider, which is faked with a certificate and keys of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from podless import Server
from podless.app import StartError
from podless.auth.access import OIDC, BadAccess
from tests.auth.provider import Provider
from tests.conftest import Client

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture(scope="module")
def served(provider: Provider) -> Iterator[Server]:
    oidc = OIDC(
        issuer=provider.issuer,
        client_id="podless",
        username_claim="email",
        groups_claim="roles",
        groups_prefix="corp:",
        ca_file=provider.authority,
        required={"tenant": "us"},
    )
    provider.sign("one")
    with Server(oidc=oidc) as server:
        yield server


def who(server: Server, token: str) -> Any:
    return Client(server.url, token).send("POST", WHO, {})


ZOE = {"email": "zoe@example.com", "tenant": "us", "jti": "j-1"}


def test_claims_are_user_and_groups(served: Server, provider: Provider) -> None:
    answer = who(served, provider.sign(**ZOE, roles=["dev", "ops"]))
    assert answer.body["status"]["userInfo"] == {
        "username": "zoe@example.com",
        "groups": ["corp:dev", "corp:ops", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": ["JTI=j-1"]},
    }
    one = who(served, provider.sign(**ZOE, roles="dev", email_verified=True))
    assert one.body["status"]["userInfo"]["groups"] == ["corp:dev", "system:authenticated"]


BAD: list[dict[str, Any]] = [
    {"aud": "somebody-else"},
    {"aud": None},
    {"exp": 1},
    {"exp": None},
    {"nbf": int(time.time()) + 3600},
    {"iss": "https://others.example.com"},
    {"email": None},
    {"email": ""},
    {"email": 7},
    {"email_verified": False},
    {"email_verified": "yes"},
    {"tenant": "them"},
    {"tenant": None},
    {"roles": [1]},
    {"roles": {"a": "b"}},
]


@pytest.mark.parametrize("claims", BAD)
def test_what_is_wrong_with_a_token_makes_it_nobodys(
    served: Server, provider: Provider, claims: dict[str, Any]
) -> None:
    assert who(served, provider.sign(**(ZOE | claims))).status == 401


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"aud": "somebody-else"}, "the claim aud is not the client ID podless"),
        ({"exp": 1}, "it has expired"),
        ({"email": None}, "it has no claim email with a user name"),
        ({"email_verified": False}, "the claim email_verified is not true"),
        ({"tenant": "them"}, "the claim tenant is not us"),
        ({"roles": [1]}, "the claim roles is not a list of strings"),
    ],
)
def test_the_log_says_once_why_a_token_of_the_provider_was_rejected(
    provider: Provider, claims: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings: dict[str, Any] = {"username_claim": "email", "groups_claim": "roles", "required": {"tenant": "us"}}
    oidc = OIDC(issuer=provider.issuer, client_id="podless", ca_file=provider.authority, **settings)
    with Server(oidc=oidc) as server:
        token = provider.sign(**(ZOE | claims))
        for _ in range(3):
            assert who(server, token).status == 401
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("oidc:")]
    assert lines == [f"oidc: rejected a token of {provider.issuer}: {said}"]


def test_the_log_says_why_a_provider_cannot_be_reached(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    with Server(oidc=OIDC(issuer=provider.issuer, client_id="podless")) as server:
        assert who(server, provider.sign("one")).status == 401
    assert "its certificate is not trusted" in caplog.text
    assert "--oidc-ca-file" in caplog.text


def test_another_key_of_the_name_is_not_the_providers(served: Server, provider: Provider) -> None:
    plain = jwt.decode(provider.sign(**ZOE), options={"verify_signature": False})
    forged = jwt.encode(plain, rsa.generate_private_key(65537, 2048), "RS256", headers={"kid": "one"})
    assert who(served, forged).status == 401
    public = provider.shown("one")["n"]
    assert who(served, jwt.encode(plain, public, "HS256", headers={"kid": "one"})).status == 401
    assert who(served, jwt.encode(plain, "", "none", headers={"kid": "one"})).status == 401


def test_keys_are_fetched_again_for_a_new_one_but_not_at_once(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    oidc = OIDC(issuer=provider.issuer, client_id="podless", ca_file=provider.authority)
    monkeypatch.setattr("podless.auth.oidc._MIN_INTERVAL", 1e9)  # longer than any machine takes for what follows
    with Server(oidc=oidc) as server:
        provider.fetched = 0
        assert who(server, provider.sign("one")).body["status"]["userInfo"]["username"] == f"{provider.issuer}#u-1"
        new = provider.sign("two")
        for number in range(5):
            assert who(server, provider.sign(f"unknown-{number}")).status == 401
        assert provider.fetched == 1
        monkeypatch.setattr("podless.auth.oidc._MIN_INTERVAL", 0.0)
        assert who(server, new).status == 201
        assert provider.fetched == 2


def test_a_provider_that_nobody_vouches_for_vouches_for_nobody(provider: Provider) -> None:
    with Server(oidc=OIDC(issuer=provider.issuer, client_id="podless")) as server:
        assert who(server, provider.sign("one")).status == 401
        assert Client(server.url, server.token).send("GET", "/api").status == 200


def test_a_token_ends_in_time(served: Server, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    token = provider.sign(**ZOE)
    assert who(served, token).status == 201
    later = time.time() + 61
    monkeypatch.setattr("podless.runtime.clock.system.time", lambda: later)
    assert who(served, token).status == 401


def test_what_cannot_work_is_said() -> None:
    for settings in (
        {"issuer": "http://example.com"},
        {"client_id": ""},
        {"algorithms": ("HS256",)},
    ):
        given: dict[str, Any] = {"issuer": "https://example.com", "client_id": "x"} | settings
        with pytest.raises(BadAccess):
            OIDC(**given)


def test_authorities_that_cannot_be_read_are_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("nonsense")
    for name, text in (
        ("ca", "ca: not a PEM file with certificates"),
        ("not-there", "not-there: no such file or directory"),
    ):
        oidc = OIDC(issuer="https://id.example.com", client_id="podless", ca_file=tmp_path / name)
        with pytest.raises(StartError, match=text), Server(oidc=oidc):
            pass
