"""Reads a certificate's validity period without the cryptography package, whose import takes long.

Source: RFC 5280, section 4.1.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

_SEQUENCE, _INTEGER, _VERSION, _UTC_TIME, _TIME = 0x30, 0x02, 0xA0, 0x17, 0x18
_END = "-----END CERTIFICATE-----"


def read_validity(pem: str) -> tuple[datetime, datetime]:
    """Return notBefore and notAfter of the first certificate in a PEM text. Raises ValueError."""
    start = pem.find("-----BEGIN CERTIFICATE-----")
    end = pem.find(_END, start)
    if start < 0 or end < 0:
        raise ValueError("no certificate")
    der = ssl.PEM_cert_to_DER_cert(pem[start : end + len(_END)])
    try:
        certificate = _parts(_parts(der)[0][1])
        fields = [field for field in _parts(certificate[0][1]) if field[0] != _VERSION]
    except IndexError:
        raise ValueError("not a certificate") from None
    # the fields before: serial number, algorithm, issuer
    if [tag for tag, _ in fields[:4]] != [_INTEGER, _SEQUENCE, _SEQUENCE, _SEQUENCE]:
        raise ValueError("not a certificate")
    begins, ends = (_moment(tag, text) for tag, text in _parts(fields[3][1]))
    return begins, ends


def _parts(data: bytes) -> list[tuple[int, bytes]]:
    """Return tags and contents of consecutive DER elements."""
    elements, offset = [], 0
    while offset < len(data):
        if offset + 2 > len(data):
            raise ValueError("cut off")
        tag, length = data[offset], data[offset + 1]
        offset += 2
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[offset : offset + count], "big")
            offset += count
        if offset + length > len(data):
            raise ValueError("cut off")
        elements.append((tag, data[offset : offset + length]))
        offset += length
    return elements


def _moment(tag: int, text: bytes) -> datetime:
    if tag not in (_UTC_TIME, _TIME):
        raise ValueError("not a time")
    year = text.decode("ascii")
    if tag == _UTC_TIME:
        year = f"{'19' if year[:2] >= '50' else '20'}{year}"
    return datetime.strptime(year, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
