"""Certificates are judged as Go judges them, in its words."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podless.remote import verification
from podless.remote.trust import Untrusted, judge_client, judge_server, parse_authorities

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
HOST = "hooks.tools.svc"


@dataclass
class Made:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: Any

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)


def make(
    name: str,
    by: Made | None = None,
    *,
    names: Sequence[str] = (),
    key: Any = None,
    ca: bool | None = None,
    extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
    begins: datetime.datetime = NOW - DAY,
    ends: datetime.datetime = NOW + DAY,
) -> Made:
    key = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else [])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(by.certificate.subject if by else subject)
    builder = builder.public_key(key.public_key()).serial_number(7).not_valid_before(begins).not_valid_after(ends)
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    if names:
        given: list[x509.GeneralName] = []
        for entry in names:
            digits = entry.replace(".", "").isdigit()
            given.append(x509.IPAddress(ipaddress.ip_address(entry)) if digits else x509.DNSName(entry))
        builder = builder.add_extension(x509.SubjectAlternativeName(given), critical=not name)
    signer = by.key if by else key
    return Made(builder.sign(signer, None if isinstance(signer, ed25519.Ed25519PrivateKey) else hashes.SHA256()), key)


def told(chain: Sequence[Made], roots: Sequence[Made], host: str = HOST) -> str:
    """What is said against a server, "" where it is trusted."""
    try:
        judge_server([one.der for one in chain], host, [root.certificate for root in roots], NOW)
    except Untrusted as error:
        return str(error).removeprefix("tls: failed to verify certificate: ")
    return ""


ROOT = make("root", ca=True)
LEAF = make("hook", ROOT, names=[HOST])


def test_a_certificate_that_an_authority_signed() -> None:
    assert told([LEAF], [ROOT]) == ""


def test_a_certificate_that_is_itself_trusted_need_not_be_an_authority() -> None:
    own = make("hook", names=[HOST])
    assert told([own], [own]) == ""
    assert told([LEAF], [LEAF]) == ""


def test_a_common_name_is_no_host_name() -> None:
    legacy = make(HOST, ROOT)
    assert told([legacy], [ROOT]) == "x509: certificate relies on legacy Common Name field, use SANs instead"
    other = make("hook", ROOT)
    assert told([other], [ROOT]) == f"x509: certificate is not valid for any names, but wanted to match {HOST}"


@pytest.mark.parametrize(
    ("names", "host", "text"),
    [
        (["*.tools.svc"], HOST, ""),
        (["HOOKS.tools.svc"], HOST, ""),
        (["*.svc"], HOST, f"x509: certificate is valid for *.svc, not {HOST}"),
        (["a.b", "127.0.0.1"], HOST, f"x509: certificate is valid for a.b, not {HOST}"),
        (["a.b", "127.0.0.1"], "127.0.0.1", ""),
        (["127.0.0.2"], "127.0.0.1", "x509: certificate is valid for 127.0.0.2, not 127.0.0.1"),
        (
            ["a.b"],
            "127.0.0.1",
            "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
        ),
        ([f"a{n}" for n in range(100)], HOST, f"x509: certificate is valid for 100 names, but none matched {HOST}"),
    ],
)
def test_names(names: list[str], host: str, text: str) -> None:
    assert told([make("hook", ROOT, names=names)], [ROOT], host) == text


def test_an_empty_subject_and_issuer() -> None:
    nobody = make("", ca=True)
    assert told([make("", nobody, names=[HOST])], [nobody]) == ""
    other = make("", ca=True)
    assert told([make("", nobody, names=[HOST])], [other]) == (
        'x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure"'
        ' while trying to verify candidate authority certificate "serial:7")'
    )


def test_of_two_authorities_of_one_name_either_may_have_signed() -> None:
    twin = make("root", ca=True)
    assert told([LEAF], [twin, ROOT]) == told([LEAF], [ROOT, twin]) == ""
    assert "x509: ECDSA verification failure" in told([LEAF], [twin])


def test_somebody_else() -> None:
    assert told([LEAF], [make("other", ca=True)]) == "x509: certificate signed by unknown authority"
    assert told([LEAF], []) == "x509: certificate signed by unknown authority"


def test_the_way_may_lead_over_others() -> None:
    middle = make("middle", ROOT, ca=True)
    leaf = make("hook", middle, names=[HOST])
    assert told([leaf, middle], [ROOT]) == ""
    assert told([leaf], [ROOT]) == "x509: certificate signed by unknown authority"
    assert told([leaf, middle], [middle]) == ""
    plain = make("middle", ROOT, ca=False)
    assert "parent certificate cannot sign this kind of certificate" in told(
        [make("hook", plain, names=[HOST]), plain], [ROOT]
    )


def test_many_certificates_are_not_looked_at_for_ever() -> None:
    loops = [make("root", ca=True) for _ in range(40)]
    assert told([LEAF, *loops], loops).startswith("x509: ")


def test_times() -> None:
    early = make("hook", ROOT, names=[HOST], begins=NOW + DAY, ends=NOW + 2 * DAY)
    late = make("hook", ROOT, names=[HOST], begins=NOW - 2 * DAY, ends=NOW - DAY)
    expired = "x509: certificate has expired or is not yet valid: current time 2026-06-01T00:00:00Z is"
    assert told([early], [ROOT]) == f"{expired} before 2026-06-02T00:00:00Z"
    assert told([late], [ROOT]) == f"{expired} after 2026-05-31T00:00:00Z"


def test_keys_that_openssl_would_refuse() -> None:
    small = rsa.generate_private_key(65537, 1024)
    root = make("root", ca=True, key=small)
    assert told([make("hook", root, names=[HOST], key=small)], [root]) == ""


def test_what_a_certificate_is_for() -> None:
    client = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    assert told([make("hook", ROOT, names=[HOST], extensions=[(server, False)])], [ROOT]) == ""
    wrong = make("hook", ROOT, names=[HOST], extensions=[(client, False)])
    assert told([wrong], [ROOT]) == "x509: certificate specifies an incompatible key usage"
    odd = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
    assert told([make("hook", ROOT, names=[HOST], extensions=[(odd, True)])], [ROOT]) == (
        "x509: unhandled critical extension"
    )


def test_an_authority_for_some_names_only() -> None:
    limits = x509.NameConstraints([x509.DNSName("svc")], [x509.DNSName("bad.svc")])
    root = make("root", ca=True, extensions=[(limits, True)])
    assert told([make("hook", root, names=[HOST])], [root]) == ""
    for name in ("example.com", "x.bad.svc"):
        assert "is not authorized to sign for this name" in told([make("hook", root, names=[name])], [root], name)


def test_a_critical_constraint_that_is_not_understood() -> None:
    nobody = x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")]))
    for limits in (x509.NameConstraints([nobody], None), x509.NameConstraints([x509.DNSName("svc")], [nobody])):
        root = make("root", ca=True, extensions=[(limits, True)])
        assert told([make("hook", root, names=[HOST])], [root]) == "x509: unhandled critical extension"
        loose = make("root", ca=True, extensions=[(limits, False)])
        assert told([make("hook", loose, names=[HOST])], [loose]) == ""


def test_an_authority_for_some_mailboxes_and_uris_only() -> None:
    limits = x509.NameConstraints([x509.RFC822Name("a@b.c"), x509.UniformResourceIdentifier("b.c")], None)
    root = make("root", ca=True, extensions=[(limits, True)])
    wrong = "x509: a root or intermediate certificate is not authorized to sign for this name: "
    for given, text in {
        x509.RFC822Name("a@B.C"): "",
        x509.RFC822Name("z@b.c"): f'{wrong}email address "z@b.c" is not permitted by any constraint',
        x509.UniformResourceIdentifier("spiffe://x.b.c/y"): "",
        x509.UniformResourceIdentifier("spiffe://c/y"): f'{wrong}URI "spiffe://c/y" is not permitted by any constraint',
        x509.UniformResourceIdentifier("urn:x"): (
            f'{wrong}URI with empty host ("urn:x") cannot be matched against constraints'
        ),
    }.items():
        names = x509.SubjectAlternativeName([x509.DNSName(HOST), given])
        assert told([make("hook", root, extensions=[(names, False)])], [root]) == text


def test_a_wildcard_stands_for_the_names_that_it_covers() -> None:
    root = make("root", ca=True, extensions=[(x509.NameConstraints(None, [x509.DNSName("bad.tools.svc")]), True)])
    assert "is excluded by constraint" in told([make("hook", root, names=["*.tools.svc"])], [root])
    assert told([make("hook", root, names=["*.tools.svc", "*.svc"])], [root]) != ""
    assert told([make("hook", root, names=[HOST, "*.svc"])], [root]) == ""


def test_names_of_no_kind_that_is_known() -> None:
    names = x509.SubjectAlternativeName([x509.RegisteredID(x509.ObjectIdentifier("1.2.3"))])
    client = make("", ROOT, extensions=[(names, True)])
    with pytest.raises(Untrusted, match="unhandled critical extension"):
        judge_client([client.der], [ROOT.certificate], NOW)


def test_nobody_is_trusted_whom_the_second_judge_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "accepts_chain", lambda chain, now: False)
    assert told([LEAF], [ROOT]) == "x509: certificate signed by unknown authority"
    monkeypatch.setattr(verification, "has_say", lambda chain: False)
    assert told([LEAF], [ROOT]) == ""


def test_authorities_are_taken_as_far_as_they_can_be_read() -> None:
    pem = ROOT.certificate.public_bytes(serialization.Encoding.PEM)
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    assert parse_authorities(b"text\n" + broken + pem + b"rest" + pem) == [ROOT.certificate] * 2
    assert parse_authorities(b"") == []


def test_what_is_no_certificate() -> None:
    for chain in ([], [b"x"], [LEAF.der, b""]):
        with pytest.raises(Untrusted, match="failed to parse certificate from server"):
            judge_server(chain, HOST, [ROOT.certificate], NOW)
