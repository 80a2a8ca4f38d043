"""Logins in a real browser: at an OpenID Connect provider, and with a client certificate."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import NoEncryption, load_pem_private_key, pkcs12

from podless import Server
from podless.auth.access import OIDC
from podless.http.tls import Certificates
from tests.auth.provider import Provider
from tests.console.browser import CHROMIUM, DRIVER, Browser, editor, write

pytestmark = [
    pytest.mark.clients,
    pytest.mark.hangs_after(400),
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="chromium and chromedriver are not installed"),
]

SECRETS = "#/list/core/v1/secrets"


@pytest.fixture(scope="module")
def server(provider: Provider) -> Iterator[Server]:
    oidc = OIDC(issuer=provider.issuer, client_id="podless", username_claim="email", ca_file=provider.authority)
    with Server(console=True, oidc=oidc) as running:
        provider.redirects = (f"{running.url}/console/",)
        running.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "ann"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [
                    {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann@example.com"},
                ],
            }
        )
        yield running


@pytest.fixture
def browser(server: Server, provider: Provider, opened: Browser) -> Browser:
    """A browser whose user is logged in nowhere, on a page that asks for a login."""
    opened.open(f"{server.url}/console/")
    opened.driver.delete_all_cookies()
    opened.run("sessionStorage.clear()")
    opened.open(f"{server.url}/console/{SECRETS}")
    opened.driver.refresh()
    provider.claims = {"exp": seconds_of(server) + 7200}
    opened.find("h1", "podless console")
    return opened


def seconds_of(server: Server) -> int:
    """Return the Unix time of the server, which other tests advance."""
    return int(server.clock.now().timestamp())


def log_in(browser: Browser, user: str) -> None:
    """Go to the provider and choose a user there."""
    browser.click("button", "Log in with 127.0.0.1")
    browser.find("h1", "Who are you?")
    browser.click(f"#{user}")


def test_a_provider_logs_in_and_leads_back_to_the_page(browser: Browser) -> None:
    log_in(browser, "ann")
    browser.find(".user-name", "ann@example.com")
    browser.find("h1", "Secret")
    assert browser.driver.current_url.partition("/console/")[2] == SECRETS
    assert sorted(browser.run("return Object.keys(sessionStorage)")) == ["podless.refresh", "podless.token"]
    assert browser.run("return localStorage.length + document.cookie.length") == 0
    assert not [line for line in browser.errors() if "Security Policy" in line]


def test_a_user_without_rights_logs_in_and_is_told_so(browser: Browser) -> None:
    log_in(browser, "bob")
    browser.find(".user-name", "bob@example.com")
    browser.find("[role=alert]", 'User "bob@example.com" cannot list resource "secrets"')


def test_the_rejection_of_a_provider_is_shown(browser: Browser) -> None:
    log_in(browser, "nobody")
    browser.find("[role=alert]", "access_denied: unknown user")
    assert browser.run("return sessionStorage.length") == 0


def test_a_return_that_this_tab_did_not_ask_for_is_rejected(server: Server, browser: Browser) -> None:
    log_in(browser, "ann")
    browser.find(".user-name", "ann@example.com")
    browser.open(f"{server.url}/console/?code=other&state=other")
    browser.find(".user-name", "ann@example.com")  # a session goes on
    browser.run("sessionStorage.clear()")
    browser.open(f"{server.url}/console/?code=other&state=other&again")
    browser.find("[role=alert]", "not begun in this tab")
    sent = '{"state": "mine", "verifier": "v", "nonce": "n", "hash": ""}'
    browser.run("sessionStorage.setItem('podless.oidc', arguments[0])", sent)
    browser.open(f"{server.url}/console/?code=other&state=other")
    browser.find("[role=alert]", "not begun in this tab")
    browser.run("sessionStorage.setItem('podless.oidc', arguments[0])", sent)
    browser.open(f"{server.url}/console/?code=other&state=mine")
    browser.find("[role=alert]", "invalid_grant")
    assert "?" not in browser.driver.current_url
    assert browser.run("return sessionStorage.length") == 0


def test_the_token_of_another_login_is_rejected(browser: Browser, provider: Provider) -> None:
    provider.claims = {"nonce": "another"}
    log_in(browser, "ann")
    browser.find("[role=alert]", "the token of another login")
    assert browser.run("return sessionStorage.length") == 0


def test_who_logs_out_is_asked_again(browser: Browser, provider: Provider) -> None:
    log_in(browser, "ann")
    browser.find(".user-name", "ann@example.com")
    browser.click("button[aria-label='Log out']")
    browser.find("h1", "podless console")
    assert browser.run("return sessionStorage.length") == 0
    log_in(browser, "bob")
    browser.find(".user-name", "bob@example.com")
    assert provider.asked[-1]["prompt"] == "login"


def test_a_session_outlives_its_token_until_the_user_logs_out(
    server: Server, browser: Browser, provider: Provider
) -> None:
    provider.claims = {"exp": seconds_of(server) + 600}
    log_in(browser, "ann")
    browser.find("h1", "Secret")
    before = browser.run("return sessionStorage.getItem('podless.token')")
    provider.claims = {"exp": seconds_of(server) + 7200}
    server.clock.advance(minutes=20)
    renewed = "return sessionStorage.getItem('podless.token')"
    browser.wait(lambda: browser.run(renewed) not in (None, before), "no new token")  # the page asks every ten seconds
    assert not browser.all(".login-card")
    browser.driver.refresh()
    browser.find("h1", "Secret")
    last = browser.run("return sessionStorage.getItem('podless.refresh')")
    browser.click("button[aria-label='Log out']")
    browser.find("h1", "podless console")
    browser.wait(lambda: last in provider.revoked, "the refresh token was not revoked")


def test_edits_survive_a_login_after_the_token_expired(
    server: Server, browser: Browser, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"size": "small"}})
    place = "#/object/core/v1/configmaps/kept?ns=default&tab=yaml"
    provider.claims = {"exp": seconds_of(server) + 600}
    log_in(browser, "ann")
    browser.find(".user-name", "ann@example.com")
    browser.open(f"{server.url}/console/{place}")
    write(browser, "size: small", "size: large")
    browser.find(".edit-actions", "Changed")
    monkeypatch.setattr(provider, "_refreshes", {})  # the provider ended the session
    server.clock.advance(minutes=20)
    browser.find("dialog.login-again [role=alert]", "no longer accepts")
    assert browser.run("return sessionStorage.length") == 0
    assert "size: large" in editor(browser)
    browser.type("dialog input[type=password]", provider.sign(email="ann@example.com", exp=seconds_of(server) + 900))
    browser.click("dialog button[type=submit]")
    browser.gone("dialog")
    assert "size: large" in editor(browser)
    browser.click("button", "Save")
    browser.wait(lambda: (server.get("configmaps", "kept") or {})["data"]["size"] == "large", "not saved")


def test_nothing_of_a_session_is_left_for_another_user(server: Server, browser: Browser) -> None:
    log_in(browser, "bob")
    browser.find("[role=alert]", 'User "bob@example.com" cannot list')
    browser.click("button[aria-label='Log out']")
    browser.find("h1", "podless console")
    browser.type("input[type=password]", server.token)
    browser.click("button[type=submit]")
    browser.find(".user-name", "admin")
    browser.open(f"{server.url}/console/#/access")
    browser.find(".empty", "The server rejected nothing")


@pytest.mark.skipif(shutil.which("pk12util") is None, reason="pk12util of libnss3-tools is not installed")
def test_a_client_certificate_logs_in(tmp_path: Path) -> None:
    with Server(tmp_path / "data", console=True) as server:
        certificate, key = Certificates(tmp_path / "data").issue_client("carol", ["system:masters"], 1)
        keep_certificate(tmp_path, certificate, key)
        browser = Browser(home=tmp_path)
        try:
            browser.open(f"{server.url}/console/{SECRETS}")
            browser.click("button", "Continue with a client certificate")
            browser.find(".user-name", "carol")
            browser.find("h1", "Secret")
            assert browser.run("return sessionStorage.getItem('podless.token')") is None
            browser.click("button[aria-label='Log out']")
            browser.type("input[type=password]", "wrong")
            browser.click("button[type=submit]")
            browser.find(".user-name", "carol")  # the certificate comes before the token
        finally:
            browser.close()


def test_a_browser_without_a_certificate_is_told_so(browser: Browser) -> None:
    browser.click("button", "Continue with a client certificate")
    browser.find("[role=alert]", "no client certificate")


def keep_certificate(home: Path, certificate: bytes, key: bytes) -> None:
    """Put a certificate where a browser of that home folder finds it."""
    private = load_pem_private_key(key, None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    packed = pkcs12.serialize_key_and_certificates(
        b"carol", private, x509.load_pem_x509_certificate(certificate), None, NoEncryption()
    )
    (home / "carol.p12").write_bytes(packed)
    database = home / ".pki" / "nssdb"
    database.mkdir(parents=True)
    subprocess.run(["certutil", "-N", "-d", f"sql:{database}", "--empty-password"], check=True)
    subprocess.run(["pk12util", "-i", home / "carol.p12", "-d", f"sql:{database}", "-W", "", "-K", ""], check=True)
