"""The errors of Go's crypto/tls for a certificate and a key that do not match."""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Iterator

from podless.runtime.meter import each

_BEGIN, _END = b"-----BEGIN ", b"-----END "
_KEY = "PRIVATE KEY"
_NO_PEM = "tls: failed to find any PEM data in {} input"
_SKIPPED = "after skipping PEM blocks of the following types"


def find_key_pair_fault(certificate: bytes, key: bytes) -> str:
    """Return why a certificate and a key do not match, or "". Both are PEM."""
    certificates, other_types = [], []
    for type_, der in read_pem_blocks(certificate):
        if type_ == "CERTIFICATE":
            certificates.append(der)
        else:
            other_types.append(type_)
    if not certificates:
        return _no_certificate(other_types)
    skipped = []
    for type_, der in read_pem_blocks(key):
        if type_ == _KEY or type_.endswith(f" {_KEY}"):
            return _find_mismatch(certificates[0], der)
        skipped.append(type_)
    return _no_key(skipped)


def read_pem_blocks(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield type and DER of each PEM block. Ignores malformed blocks."""
    return ((type_, der) for type_, der, _ in read_pem_headers(text))


def read_pem_headers(text: bytes) -> Iterator[tuple[str, bytes, bool]]:
    """Yield type, DER and whether there are headers, for each PEM block. Malformed blocks are skipped."""
    type_, body, has_headers = b"", list[bytes](), False
    for line in each(text.splitlines()):
        line = line.rstrip()
        if line.startswith(_BEGIN) and line.endswith(b"-----"):
            type_, body, has_headers = line[len(_BEGIN) : -5], [], False
        elif type_ and line == b"%b%b-----" % (_END, type_):
            with contextlib.suppress(binascii.Error):
                der = base64.b64decode(b"".join(body), validate=True)
                yield type_.decode("utf-8", "replace"), der, has_headers
            type_ = b""
        elif type_ and b":" in line:  # a header of an old key
            has_headers = True
        elif type_:
            body.append(line)


def _no_certificate(other_types: list[str]) -> str:
    if not other_types:
        return _NO_PEM.format("certificate")
    if len(other_types) == 1 and other_types[0].endswith(_KEY):
        hint = "but did find a private key; PEM inputs may have been switched"
        return f"tls: failed to find certificate PEM data in certificate input, {hint}"
    return f'tls: failed to find "CERTIFICATE" PEM block in certificate input {_SKIPPED}: [{" ".join(other_types)}]'


def _no_key(skipped: list[str]) -> str:
    if not skipped:
        return _NO_PEM.format("key")
    if skipped == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return f'tls: failed to find PEM block with type ending in "{_KEY}" in key input {_SKIPPED}: [{" ".join(skipped)}]'


def _find_mismatch(certificate: bytes, key: bytes) -> str:
    # a slow import, needed only for Secrets of this type
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        public = x509.load_der_x509_certificate(certificate).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "x509: malformed certificate"
    try:
        key_of_pair = load_der_private_key(key, None).public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse private key"
    if type(key_of_pair) is not type(public):
        return "tls: private key type does not match public key type"
    return "" if key_of_pair == public else "tls: private key does not match public key"
