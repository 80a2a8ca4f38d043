"""Client certificates: the server's own, those of another authority, and those that are no good."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.auth.certificates import Certificate
from podless.cli import main
from podless.http.tls import Certificates

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority that is not the server's."""
    made = Certificates(tmp_path_factory.mktemp("other"))
    made.ensure([])
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, other: Certificates) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("data"), client_ca=other.authority) as server:
        yield server


def context(folder: Path, certificate: bytes, key: bytes) -> ssl.SSLContext:
    (folder / "client.pem").write_bytes(certificate + key)
    made = ssl.create_default_context()
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.load_cert_chain(folder / "client.pem")
    return made


def ask(server: Server, made: ssl.SSLContext, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPSConnection(server.url.removeprefix("https://"), context=made, timeout=10)
    connection.request("POST", WHO, b"{}", {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_name_and_organizations_are_user_and_groups(served: Server, tmp_path: Path) -> None:
    certificate, key = Certificates(served.authority.parent).client("zoe", ["crew", "devs"], 1)
    status, body = ask(served, context(tmp_path, certificate, key))
    info = body["status"]["userInfo"]
    assert (status, info["username"], info["groups"]) == (201, "zoe", ["crew", "devs", "system:authenticated"])
    assert info["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


def test_a_certificate_goes_before_a_token(served: Server, tmp_path: Path) -> None:
    certificate, key = Certificates(served.authority.parent).client("zoe", [], 1)
    status, body = ask(served, context(tmp_path, certificate, key), Authorization="Bearer nonsense")
    assert (status, body["status"]["userInfo"]["username"]) == (201, "zoe")


def test_another_authority_may_be_trusted_too(served: Server, other: Certificates, tmp_path: Path) -> None:
    status, body = ask(served, context(tmp_path, *other.client("yan", [], 1)))
    assert (status, body["status"]["userInfo"]["username"]) == (201, "yan")


def test_a_certificate_of_anybody_else_gets_no_connection(served: Server, tmp_path: Path) -> None:
    stranger = Certificates(tmp_path)
    stranger.ensure([])
    made = context(tmp_path, *stranger.client("mallory", ["system:masters"], 1))
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.BadStatusLine)):
        ask(served, made)


def test_the_servers_own_certificate_is_nobodys(served: Server, tmp_path: Path) -> None:
    folder = served.authority.parent
    made = context(tmp_path, (folder / "server.crt").read_bytes(), (folder / "server.key").read_bytes())
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.BadStatusLine)):
        ask(served, made)


def test_a_certificate_ends_on_a_connection_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = ((("organizationName", "crew"),), (("commonName", "zoe"),))
    certificate = Certificate(b"der", {"subject": subject, "notAfter": "Jan  1 00:00:10 2030 GMT"})
    end = ssl.cert_time_to_seconds("Jan  1 00:00:10 2030 GMT")
    monkeypatch.setattr("podless.auth.certificates.time.time", lambda: end - 1.0)
    assert certificate.user is not None
    monkeypatch.setattr("podless.auth.certificates.time.time", lambda: end)
    assert certificate.user is None


def test_older_tls_is_not_spoken(other: Certificates) -> None:
    assert other.context().minimum_version == ssl.TLSVersion.TLSv1_2


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    code = main(["kubeconfig", *arguments])
    out = capsys.readouterr()
    return code, json.loads(out.out) if out.out else None, out.err


@pytest.mark.clients
def test_kubectl_with_a_kubeconfig_of_its_own(
    served: Server, kubectl: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(served.authority.parent)
    code, shown, _ = printed(capsys, "--data", folder, "--user", "zoe", "--group", "crew", "--group", "readers")
    assert code == 0
    config = tmp_path / "zoe"
    config.write_text(json.dumps(shown))
    assert re.search(r"Username +zoe\nGroups +\[crew readers ", kubectl("auth", "whoami", kubeconfig=config))
    assert 'User "zoe" cannot list' in kubectl("get", "configmaps", kubeconfig=config)
    kubectl("create", "rolebinding", "readers", "--clusterrole=view", "--group=readers", kubeconfig=served.kubeconfig)
    assert kubectl("get", "leases", kubeconfig=config).startswith("Error from server (Forbidden)")
    assert kubectl("get", "serviceaccounts", kubeconfig=config).startswith(("NAME", "No resources"))
    assert "serviceaccounts" in kubectl("auth", "can-i", "--list", kubeconfig=config)


def test_a_kubeconfig_names_the_server_of_the_last_start_or_another(
    served: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(served.authority.parent)
    _, shown, _ = printed(capsys, "--data", folder)
    assert shown == json.loads(served.kubeconfig.read_text())
    _, shown, _ = printed(capsys, "--data", folder, "--user", "zoe", "--server", "https://api.example.com")
    cluster, user = shown["clusters"][0]["cluster"], shown["users"][0]["user"]
    assert cluster["server"] == "https://api.example.com"
    assert base64.b64decode(cluster["certificate-authority-data"]) == served.authority.read_bytes()
    assert set(user) == {"client-certificate-data", "client-key-data"}


def test_a_kubeconfig_that_cannot_be_made_says_why(
    served: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, text = printed(capsys, "--data", str(tmp_path))
    assert (code, text) == (1, f"podless: {tmp_path}/kubeconfig: no server has been started on this folder\n")
    with Server(tmp_path, tls=False):
        code, _, text = printed(capsys, "--data", str(tmp_path), "--user", "zoe")
    assert code == 1
    assert "has no TLS" in text
    code, _, text = printed(capsys, "--data", str(served.authority.parent), "--user", "x" * 100)
    assert code == 1
    assert text.startswith("podless: no certificate can say that")
