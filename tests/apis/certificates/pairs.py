"""Certificates and requests for tests."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def make_certificate(
    key: ec.EllipticCurvePrivateKey | None = None, *, hours: float = 4, ca: bool = True, domains: tuple[str, ...] = ()
) -> str:
    """Return a certificate in PEM that holds from now on, for `hours`."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x")])
    start = datetime.now(UTC).replace(microsecond=0)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(start).not_valid_after(start + timedelta(hours=hours))
    builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    if domains:
        builder = builder.add_extension(x509.SubjectAlternativeName(map(x509.DNSName, domains)), critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def make_request(key: Key) -> str:
    """Return a request without contents: PKCS#10 in DER, in base64."""
    digest = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    request = x509.CertificateSigningRequestBuilder(x509.Name([])).sign(key, digest)
    return base64.b64encode(request.public_bytes(Encoding.DER)).decode()
