"""Chains of certificates, drawn: good ones above all, with one or two things wrong or odd."""

from __future__ import annotations

import datetime
import functools
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import strategies as st

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
HOST = "a.example.com"
ODD = x509.ObjectIdentifier("1.2.3.4")

Extensions = tuple[tuple[x509.ExtensionType, bool], ...]


@dataclass(frozen=True)
class Drawn:
    """What one certificate of a chain is like; by default as an authority should be, or what it signed."""

    extensions: Extensions = ()
    basic: tuple[bool, int | None] | None = None
    begins: int = -1
    ends: int = 1
    forged: bool = False
    names: tuple[x509.GeneralName, ...] = ()
    critical_names: bool = False


@dataclass(frozen=True)
class Chain:
    """A chain from the leaf to the root."""

    parts: tuple[Drawn, ...]
    made: list[x509.Certificate] = field(default_factory=list, compare=False, repr=False)

    def certificates(self) -> list[x509.Certificate]:
        """Made once; keys are always the same ones, by place."""
        if not self.made:
            self.made.extend(_make(self.parts, place) for place in range(len(self.parts)))
        return self.made

    def ders(self) -> list[bytes]:
        return [one.public_bytes(serialization.Encoding.DER) for one in self.certificates()]


@functools.cache
def _key(place: int) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _subject(place: int) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"c{place}")])


def _make(parts: Sequence[Drawn], place: int) -> x509.Certificate:
    drawn, above = parts[place], min(place + 1, len(parts) - 1)
    builder = x509.CertificateBuilder().subject_name(_subject(place)).issuer_name(_subject(above))
    builder = builder.public_key(_key(place).public_key()).serial_number(place + 1)
    builder = builder.not_valid_before(NOW + drawn.begins * DAY).not_valid_after(NOW + drawn.ends * DAY)
    if drawn.basic is not None:
        builder = builder.add_extension(x509.BasicConstraints(*drawn.basic), critical=True)
    if drawn.names:
        builder = builder.add_extension(x509.SubjectAlternativeName(drawn.names), critical=drawn.critical_names)
    for extension, critical in drawn.extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(_key(100 if drawn.forged else above), hashes.SHA256())


def _directory(name: str) -> x509.DirectoryName:
    return x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))


DOMAINS = ["example.com", "a.example.com", "b.example.com", "com", "other.org", "a.other.org", "A.Example.COM"]
WILD = ["*.example.com", "*.a.example.com", "*.other.org", "*.com", "a_b.example.com", "a*.example.com"]
DNS = st.sampled_from([*DOMAINS, *WILD]).map(x509.DNSName)
ADDRESSES = st.sampled_from(["10.0.0.1", "10.1.0.1", "192.168.0.1", "::1", "fd00::1"])
MAILBOXES = st.sampled_from(["x@example.com", "X@example.com", "x@a.example.com", "y@other.org", "x@EXAMPLE.com"])
URIS = st.sampled_from(
    [
        "https://a.example.com/x",
        "https://example.com",
        "https://A.example.com:8443/",
        "https://user@b.example.com/",
        "https://10.0.0.1/",
        "https://[::1]/x",
        "spiffe://other.org/y",
        "urn:x:y",
    ]
)
NAMES = st.one_of(
    DNS,
    ADDRESSES.map(lambda one: x509.IPAddress(ipaddress.ip_address(one))),
    MAILBOXES.map(x509.RFC822Name),
    URIS.map(x509.UniformResourceIdentifier),
    st.just(_directory("somebody")),
    st.just(x509.RegisteredID(ODD)),
)
_PARENTS = [*DOMAINS, "", ".example.com", ".a.example.com", ".com"]
_NETWORKS = st.sampled_from(["10.0.0.0/8", "10.0.0.0/24", "0.0.0.0/0", "::/0", "fd00::/8", "192.168.0.1/32"])
LIMITS = st.one_of(
    st.sampled_from(_PARENTS).map(x509.DNSName),
    st.sampled_from(_PARENTS).map(x509.DNSName),
    _NETWORKS.map(lambda one: x509.IPAddress(ipaddress.ip_network(one))),
    st.sampled_from([*_PARENTS, "x@example.com", "x@EXAMPLE.COM"]).map(x509.RFC822Name._init_without_validation),
    st.sampled_from(_PARENTS).map(x509.UniformResourceIdentifier),
    st.just(_directory("somebody")),
    st.just(x509.RegisteredID(ODD)),
)


def _constraints(permitted: list[x509.GeneralName], excluded: list[x509.GeneralName]) -> x509.NameConstraints:
    return x509.NameConstraints(permitted or None, excluded or None)


CONSTRAINTS = st.one_of(
    st.builds(_constraints, st.lists(LIMITS, min_size=1, max_size=2), st.just([])),
    st.builds(_constraints, st.just([]), st.lists(LIMITS, min_size=1, max_size=2)),
    st.builds(_constraints, st.lists(LIMITS, min_size=1, max_size=2), st.lists(LIMITS, min_size=1, max_size=2)),
)


def _usage(sign: bool, other: bool) -> x509.KeyUsage:
    return x509.KeyUsage(other, False, False, False, False, sign, other, False, False)


KEY_USAGES = st.sampled_from([_usage(True, True), _usage(True, False), _usage(False, True)])
_PURPOSES = [
    ExtendedKeyUsageOID.CLIENT_AUTH,
    ExtendedKeyUsageOID.SERVER_AUTH,
    ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    ODD,
]
USES = st.lists(st.sampled_from(_PURPOSES), min_size=1, max_size=2, unique=True).map(x509.ExtendedKeyUsage)
UNKNOWN = st.just(x509.UnrecognizedExtension(ODD, b"\x05\x00"))
POLICIES = st.just(x509.CertificatePolicies([x509.PolicyInformation(ODD, None)]))
KEY_NAME = st.just(x509.SubjectKeyIdentifier(b"12345678"))


@st.composite
def _extensions(draw: Any, leaf: bool) -> Extensions:
    found = []
    # one in so many has it
    for strategy, chance in (
        (CONSTRAINTS, 3),
        (KEY_USAGES, 4),
        (USES, 4),
        (UNKNOWN, 12),
        (POLICIES, 12),
        (KEY_NAME, 12),
    ):
        if draw(st.integers(0, chance)) == chance and not (leaf and strategy is CONSTRAINTS and draw(st.booleans())):
            found.append((draw(strategy), draw(st.booleans())))
    return tuple(found)


@st.composite
def _part(draw: Any, place: int) -> Drawn:
    leaf = place == 0
    basics: list[Any] = (
        [None, None, (False, None), (True, None)]
        if leaf
        else [(True, None)] * 6
        + [
            (True, 0),
            (True, 1),
            (False, None),
            None,
        ]
    )
    given = (
        draw(st.lists(NAMES, max_size=3))
        if leaf
        else draw(st.one_of(st.just([]), st.just([]), st.lists(NAMES, max_size=2)))
    )
    if leaf and draw(st.integers(0, 3)):
        given = [x509.DNSName(HOST), *given]
    begins, ends = draw(st.sampled_from([(-1, 1)] * 12 + [(-2, -1), (1, 2), (0, 1), (-1, 0)]))
    return Drawn(
        draw(_extensions(leaf)),
        draw(st.sampled_from(basics)),
        begins,
        ends,
        draw(st.integers(0, 20)) == 20,
        tuple(given),
        draw(st.booleans()),
    )


@st.composite
def chains(draw: Any) -> Chain:
    """From one certificate, which trusts itself, to four."""
    return Chain(tuple(draw(_part(place)) for place in range(draw(st.sampled_from([1, 2, 2, 3, 3, 4])))))
