"""Client certificates: the server's own, those of another authority, and those that are no good."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import logging
import re
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from podless import Server
from podless.auth.certificates import Certificate
from podless.cli import main
from podless.http import clientcertificates
from podless.http.tls import Certificates

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority that is not the server's."""
    made = Certificates(tmp_path_factory.mktemp("other"))
    made.create_missing([])
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
    connection = http.client.HTTPSConnection(server.url.removeprefix("https://"), context=made, timeout=60)
    connection.request("POST", WHO, b"{}", {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_name_and_organizations_are_user_and_groups(served: Server, tmp_path: Path) -> None:
    certificate, key = Certificates(served.authority.parent).issue_client("zoe", ["crew", "devs"], 1)
    status, body = ask(served, context(tmp_path, certificate, key))
    info = body["status"]["userInfo"]
    assert (status, info["username"], info["groups"]) == (201, "zoe", ["crew", "devs", "system:authenticated"])
    assert info["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


def test_a_certificate_goes_before_a_token(served: Server, tmp_path: Path) -> None:
    certificate, key = Certificates(served.authority.parent).issue_client("zoe", [], 1)
    status, body = ask(served, context(tmp_path, certificate, key), Authorization="Bearer nonsense")
    assert (status, body["status"]["userInfo"]["username"]) == (201, "zoe")


def test_another_authority_may_be_trusted_too(served: Server, other: Certificates, tmp_path: Path) -> None:
    status, body = ask(served, context(tmp_path, *other.issue_client("yan", [], 1)))
    assert (status, body["status"]["userInfo"]["username"]) == (201, "yan")


def signed_by_itself(folder: Path, began: timedelta, ends: timedelta) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mallory")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now + began).not_valid_after(now + ends)
    pem = made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    return context(folder, pem, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


DAY = timedelta(days=1)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_certificate_of_anybody_else_is_nobodys(served: Server, tmp_path: Path, version: ssl.TLSVersion) -> None:
    untrusted = Certificates(tmp_path)
    untrusted.create_missing([])
    unknown = [context(tmp_path, *untrusted.issue_client("mallory", ["system:masters"], 1))]
    unknown += [signed_by_itself(tmp_path, -DAY, DAY), signed_by_itself(tmp_path, -2 * DAY, -DAY)]
    for made in unknown:
        made.maximum_version = version
        for _ in range(2):  # what is remembered of one does not make it trusted
            status, body = ask(served, made)
            assert (status, body["reason"], body["message"]) == (401, "Unauthorized", "Unauthorized")
        assert ask(served, made, Authorization=f"Bearer {served.token}")[0] == 201
        assert ask(served, made, Authorization="Bearer nonsense")[0] == 401


def test_certificates_of_an_untrusted_authority_are_rejected(served: Server, tmp_path: Path) -> None:
    untrusted = Certificates(tmp_path)
    untrusted.create_missing([])
    authority = context(tmp_path, untrusted.authority.read_bytes(), (tmp_path / "ca.key").read_bytes())
    with contextlib.suppress(OSError, http.client.HTTPException):
        ask(served, authority)
    assert ask(served, context(tmp_path, *untrusted.issue_client("mallory", ["system:masters"], 1)))[0] == 401


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_that_goes_on_is_judged_again(
    served: Server, tmp_path: Path, version: ssl.TLSVersion, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No certificate is sent where a session goes on. early: nobody asks before the context is let go of."""
    trusted = clientcertificates.Handshake.is_trusted

    def ask_late(self: clientcertificates.Handshake, certificate: bytes) -> bool:
        self.end_handshake()
        return trusted(self, certificate)

    if early:
        monkeypatch.setattr(clientcertificates.Handshake, "is_trusted", ask_late)
    address = served.url.removeprefix("https://").split(":")
    own = Certificates(served.authority.parent).issue_client("zoe", [], 1)
    unknown = signed_by_itself(tmp_path, -DAY, DAY)
    for made, status in ((unknown, b"401"), (context(tmp_path, *own), b"403")):
        made.maximum_version = version
        session = None
        for again in (False, True):
            plain = socket.create_connection((address[0], int(address[1])), 10)
            with made.wrap_socket(plain, session=session) as tls:
                tls.sendall(b"GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n")
                assert tls.recv(16).split()[1] == status
                assert tls.session_reused == again
                session = tls.session


def test_untrusted_certificates_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clientcertificates, "_MAX", 2)
    monkeypatch.setattr(clientcertificates, "_CONTEXTS", 2)
    with Server(tmp_path / "data") as server:
        for _ in range(5):
            assert ask(server, signed_by_itself(tmp_path, -DAY, DAY))[0] == 401


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_after_the_handshake_no_record_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: ssl.TLSVersion
) -> None:
    heard: list[bytes] = []
    judge_message = clientcertificates.TLSContext.judge_message

    def note(self: clientcertificates.TLSContext, *told: Any) -> None:
        heard.append(told[-1])
        judge_message(self, *told)

    monkeypatch.setattr(clientcertificates.TLSContext, "judge_message", note)
    with Server(tmp_path / "data") as server:
        made = signed_by_itself(tmp_path, -DAY, DAY)
        made.maximum_version = version
        connection = http.client.HTTPSConnection(server.url.removeprefix("https://"), context=made, timeout=60)
        told = []
        for _ in range(3):
            connection.request("GET", "/version", headers={"Authorization": f"Bearer {server.token}"})
            assert connection.getresponse().read()
            told.append(len(heard))
        connection.close()
    assert told[0] > 0
    assert len(set(told)) == 1


def test_a_certificate_for_servers_only_is_nobodys(served: Server, tmp_path: Path) -> None:
    folder = served.authority.parent
    made = context(tmp_path, (folder / "server.crt").read_bytes(), (folder / "server.key").read_bytes())
    assert ask(served, made)[0] == 401


OWN, FOREIGN = "own", "foreign"
ANY = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE])
UNKNOWN = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4.5"), b"\x05\x00")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    ("signer", "extensions", "status", "why"),
    [
        (FOREIGN, [], 401, "certificate signed by unknown authority"),
        (FOREIGN, [(ANY, False)], 401, "certificate signed by unknown authority"),
        (FOREIGN, [(UNKNOWN, True)], 401, "unhandled critical extension"),
        (OWN, [(ANY, False)], 201, ""),
        (OWN, [(UNKNOWN, True)], 401, "unhandled critical extension"),
        (OWN, [(UNKNOWN, False)], 201, ""),
    ],
)
def test_a_certificate_is_judged_as_go_judges_it(
    served: Server,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    version: ssl.TLSVersion,
    signer: str,
    extensions: list[tuple[x509.ExtensionType, bool]],
    status: int,
    why: str,
) -> None:
    """The foreign authority has the name of the server's own, and its certificates do not say which key signed them."""
    monkeypatch.setattr(clientcertificates, "_SAY", 0)
    folder = served.authority.parent
    authority = x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())
    signing = load_pem_private_key((folder / "ca.key").read_bytes(), None)
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().issuer_name(authority.subject).public_key(key.public_key())
    made = made.subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "zoe")]))
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - DAY).not_valid_after(now + DAY)
    for extension, critical in extensions:
        made = made.add_extension(extension, critical=critical)
    assert isinstance(signing, ec.EllipticCurvePrivateKey)
    pem = made.sign(signing if signer == OWN else ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    shown = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    client = context(tmp_path, pem.public_bytes(Encoding.PEM), shown)
    client.maximum_version = version
    with caplog.at_level(logging.WARNING):
        got, body = ask(served, client)
    assert got == status
    if status == 401:
        assert (body["kind"], body["reason"]) == ("Status", "Unauthorized")
    told = [record.getMessage() for record in caplog.records if "client certificate" in record.getMessage()]
    assert len(told) == bool(why)
    assert all(why in text for text in told)


def test_a_certificate_ends_on_a_connection_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = ((("organizationName", "crew"),), (("commonName", "zoe"),))
    certificate = Certificate(b"der", {"subject": subject, "notAfter": "Jan  1 00:00:10 2030 GMT"})
    end = ssl.cert_time_to_seconds("Jan  1 00:00:10 2030 GMT")
    monkeypatch.setattr("podless.runtime.clock.system.time", lambda: end - 1.0)
    assert certificate.user is not None
    monkeypatch.setattr("podless.runtime.clock.system.time", lambda: end)
    assert certificate.user is None


def test_older_tls_is_not_spoken(other: Certificates) -> None:
    assert other.make_context().minimum_version == ssl.TLSVersion.TLSv1_2


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
    assert (code, text) == (1, f"podless: {tmp_path}/kubeconfig: no server was started on this folder\n")
    with Server(tmp_path, tls=False):
        code, _, text = printed(capsys, "--data", str(tmp_path), "--user", "zoe")
    assert code == 1
    assert "serves plain HTTP" in text
    code, _, text = printed(capsys, "--data", str(served.authority.parent), "--user", "x" * 100)
    assert code == 1
    assert text.startswith("podless: a certificate cannot contain this")
