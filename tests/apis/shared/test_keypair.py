"""Certificates and keys that make a pair, and those that do not."""

from __future__ import annotations

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from podless.apis.shared.keypair import find_key_pair_fault

KEY, OTHER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
ODD = b"-----BEGIN ODD-----\nAAAA\n-----END ODD-----\n"


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, form: PrivateFormat = PrivateFormat.PKCS8) -> bytes:
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def certificate() -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    now = datetime.datetime(2024, 1, 1)
    builder = x509.CertificateBuilder(name, name, KEY.public_key(), 1, now, now + datetime.timedelta(1))
    return builder.sign(KEY, hashes.SHA256()).public_bytes(Encoding.PEM)


CERTIFICATE = certificate()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (CERTIFICATE, pem(KEY), ""),
        (b"text\n" + ODD + CERTIFICATE, ODD + pem(KEY, PrivateFormat.TraditionalOpenSSL), ""),
        (b"", b"", "tls: failed to find any PEM data in certificate input"),
        (CERTIFICATE, b"x", "tls: failed to find any PEM data in key input"),
        (pem(KEY), CERTIFICATE, "PEM inputs may have been switched"),
        (ODD, pem(KEY), "following types: [ODD]"),
        (CERTIFICATE, CERTIFICATE, "tls: found a certificate rather than a key"),
        (CERTIFICATE, ODD, 'type ending in "PRIVATE KEY" in key input'),
        (CERTIFICATE, pem(OTHER), "tls: private key does not match public key"),
        (CERTIFICATE, pem(rsa.generate_private_key(65537, 1024)), "tls: private key type does not match"),
        (ODD.replace(b"ODD", b"CERTIFICATE"), pem(KEY), "x509: malformed certificate"),
        (CERTIFICATE, ODD.replace(b"ODD", b"PRIVATE KEY"), "tls: failed to parse private key"),
    ],
)
def test_what_is_said_of_a_pair(first: bytes, second: bytes, expected: str) -> None:
    found = find_key_pair_fault(first, second)
    assert expected in found
    assert bool(expected) == bool(found)
