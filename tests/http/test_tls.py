"""Certificates of the server: their names, their dates, and those that somebody else makes and changes."""

from __future__ import annotations

import shutil
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from podless import Server
from podless.http import tls
from podless.http.tls import BadCertificate, CertificateRotation, Certificates, own_names, parse_names
from podless.runtime.option import StartError


def served(url: str) -> x509.Certificate:
    """The certificate that a server shows."""
    host, _, port = url.removeprefix("https://").rpartition(":")
    return x509.load_pem_x509_certificate(ssl.get_server_certificate((host.strip("[]"), int(port))).encode())


def alternatives(certificate: x509.Certificate) -> set[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    dns = found.get_values_for_type(x509.DNSName)
    return {*dns, *map(str, found.get_values_for_type(x509.IPAddress))}


def test_the_dates_are_those_that_another_reader_finds(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    certificates.create_missing([])
    for path in (certificates.authority, certificates.files[0]):
        known = x509.load_pem_x509_certificate(path.read_bytes())
        assert tls.read_validity(path.read_text()) == (known.not_valid_before_utc, known.not_valid_after_utc)


@pytest.mark.parametrize("cut", [0, 40, 200, 400])
def test_a_certificate_that_is_cut_off_has_no_dates(tmp_path: Path, cut: int) -> None:
    certificates = Certificates(tmp_path)
    certificates.create_missing([])
    lines = certificates.authority.read_text().splitlines()
    body = "".join(lines[1:-1])[:cut]
    with pytest.raises(ValueError, match=r"cut off|not a certificate|range|padding|unpack"):
        tls.read_validity("\n".join([lines[0], body, lines[-1]]))


def test_a_certificate_is_renewed_by_its_dates_and_not_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates = Certificates(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(tls, "_SERVER_TIME", timedelta(days=20))
        certificates.create_missing([])
    first = certificates.files[0].read_bytes()
    certificates.files[0].touch()  # as a restored backup would
    certificates.create_missing([])
    second = certificates.files[0].read_bytes()
    assert second != first
    assert tls.read_validity(second.decode())[1] > datetime.now(UTC) + timedelta(days=300)
    certificates.create_missing([])
    assert certificates.files[0].read_bytes() == second


def test_names_may_be_added(tmp_path: Path) -> None:
    with Server(tmp_path, tls_names=("api.example.com", "192.0.2.7")) as server:
        assert {"api.example.com", "192.0.2.7", "localhost"} <= alternatives(served(server.url))


def test_a_server_in_memory_makes_its_certificate_for_the_first_connection() -> None:
    with Server(tls_names=("api.example.com",)) as server:
        folder = server.authority.parent
        assert {path.name for path in folder.iterdir()} == {"ca.crt", "ca.key", "token", "kubeconfig"}
        first = served(server.url)
        assert "api.example.com" in alternatives(first)
        first.verify_directly_issued_by(x509.load_pem_x509_certificate(server.authority.read_bytes()))
        assert served(server.url) == first
        assert (folder / "server.crt").exists()


def test_nothing_is_kept_in_step_before_it_is_used(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    rotation = CertificateRotation(certificates, [])
    rotation.reload_changed()
    assert not certificates.files[0].exists()
    rotation.make_context()
    first = certificates.files[0].read_bytes()
    certificates.files[0].unlink()
    rotation.reload_changed()
    assert certificates.files[0].read_bytes() != first


def test_who_listens_everywhere_is_good_for_the_hosts_names_and_addresses() -> None:
    with Server(bind="0.0.0.0") as server:
        assert {*own_names()} <= alternatives(served(server.url))
    assert "127.0.0.1" in own_names()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "gethostname", lambda: "not a name")
        assert "not a name" not in own_names()


@pytest.mark.parametrize("text", ["a b", "-,/", "x" * 64, "a..b", "ü.example.com"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(ValueError, match="neither a DNS name nor an address"):
        parse_names(text)


def test_what_is_a_name() -> None:
    assert parse_names("a.example.com, *.b.example.com,::1,,10.0.0.1") == (
        "a.example.com",
        "*.b.example.com",
        "::1",
        "10.0.0.1",
    )


@pytest.fixture
def given(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and key that somebody else looks after."""
    return renewed(tmp_path, "first")


def renewed(folder: Path, name: str) -> tuple[Path, Path]:
    made = Certificates(folder / name)
    (folder / name).mkdir()
    made.create_missing([f"{name}.example.com"])
    files = folder / "tls.crt", folder / "tls.key"
    for source, target in zip(made.files, files, strict=True):
        shutil.copy(source, target)
    return files


async def test_files_of_somebody_else_are_served_and_read_again(tmp_path: Path, given: tuple[Path, Path]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    certificates = Certificates(folder, given)
    certificates.create_missing(["ignored.example.com"])
    rotation = CertificateRotation(certificates, [])
    rotation.make_context()
    context = rotation.context
    rotation.reload_changed()
    assert shown(context) == "first.example.com"
    good = [path.read_bytes() for path in given]
    given[0].write_bytes(b"half of one")
    rotation.reload_changed()
    assert shown(context) == "first.example.com"
    renewed(tmp_path, "second")
    rotation.reload_changed()
    assert shown(context) == "second.example.com"
    assert [path.read_bytes() for path in given] != good
    assert {path.name for path in folder.iterdir()} == {"ca.crt", "ca.key"}


def shown(context: ssl.SSLContext) -> str:
    """The name in the certificate with which a context begins a connection now."""
    here, there, back = ssl.MemoryBIO(), ssl.MemoryBIO(), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    back.check_hostname, back.verify_mode = False, ssl.CERT_NONE
    server = context.wrap_bio(here, there, server_side=True)
    client = back.wrap_bio(there, here)
    for _ in range(3):
        for each in (client, server):
            try:
                each.do_handshake()
            except ssl.SSLWantReadError:
                continue
    certificate = client.getpeercert(binary_form=True)
    assert certificate is not None
    (name,) = (name for name in alternatives(x509.load_der_x509_certificate(certificate)) if "example" in name)
    return name


def test_a_server_with_files_of_somebody_else(tmp_path: Path, given: tuple[Path, Path]) -> None:
    with Server(tmp_path / "data", tls_cert=given[0], tls_key=given[1]) as server:
        assert "first.example.com" in alternatives(served(server.url))
    with pytest.raises(StartError, match="require each other"):
        Server(tls_cert=given[0])
    given[1].write_bytes(b"not a key")
    with (
        pytest.raises(BadCertificate, match="not a PEM file with a private key"),
        Server(tls_cert=given[0], tls_key=given[1]),
    ):
        pass
