"""Whether a server or a client is who it should be, by its certificates: judged as Go judges it, in its words.

OpenSSL's judgement differs: it takes a Common Name for a host name, refuses keys that Go takes, and gives up where the
first of two authorities of one name did not sign. Source: crypto/x509 and crypto/tls of Go 1.24, their documentation.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Callable, Iterable
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import MD5, SHA1
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podless.meta import gotext
from podless.meta.addresses import Address, Network

_LEAST_BITS, _MOST_BITS = 1024, 8192  # of an RSA key
_MOST_CHECKS = 100  # signatures that are looked at for one server
_MOST_NAMES = 100  # that a message lists
_PEM = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
_KNOWN = (
    x509.BasicConstraints,
    x509.KeyUsage,
    x509.ExtendedKeyUsage,
    x509.SubjectAlternativeName,
    x509.NameConstraints,
    x509.CertificatePolicies,
)


T = TypeVar("T", bound=x509.ExtensionType)


class Untrusted(Exception):
    """A certificate is not to be trusted; the text is Go's."""


def authorities(pem: bytes) -> list[x509.Certificate]:
    """The certificates in a text; what is none is left out, as in Go."""
    found = []
    for block in pem.split(_PEM[0])[1:]:
        body, end, _ = block.partition(_PEM[1])
        try:
            found.append(x509.load_pem_x509_certificate(_PEM[0] + body + end + b"\n"))
        except ValueError:
            continue
    return found


def judge(chain: list[bytes], host: str, roots: list[x509.Certificate], now: datetime.datetime) -> None:
    """Whether a server is `host`. chain: what it sent (DER), its own certificate first. now: with a zone.

    Raises Untrusted.
    """
    try:
        certificates = [x509.load_der_x509_certificate(der) for der in chain]
        leaf = certificates[0]
        key = leaf.public_key()
    except (ValueError, UnsupportedAlgorithm, IndexError) as error:
        raise Untrusted(f"tls: failed to parse certificate from server: {error}") from None
    if isinstance(key, RSAPublicKey) and key.key_size > _MOST_BITS:
        raise Untrusted(f"tls: server sent certificate containing RSA key larger than {_MOST_BITS} bits")
    try:
        _Judge(certificates[1:], roots, now, ExtendedKeyUsageOID.SERVER_AUTH).judge(leaf, host)
    except Untrusted as error:
        raise Untrusted(f"tls: failed to verify certificate: x509: {error}") from None
    except ValueError as error:
        raise Untrusted(f"tls: failed to parse certificate from server: {error}") from None
    if isinstance(key, RSAPublicKey) and key.key_size < _LEAST_BITS:
        raise Untrusted(f"tls: invalid signature by the server certificate: {_insecure(key)}")


def judge_client(chain: list[bytes], roots: list[x509.Certificate], now: datetime.datetime) -> None:
    """Whether a client is who its certificate says. chain, roots and now: as for `judge`. Raises Untrusted."""
    try:
        certificates = [x509.load_der_x509_certificate(der) for der in chain]
        _Judge(certificates[1:], roots, now, ExtendedKeyUsageOID.CLIENT_AUTH).judge(certificates[0], None)
    except (ValueError, UnsupportedAlgorithm, IndexError) as error:
        raise Untrusted(f"tls: failed to parse client certificate: {error}") from None


def _insecure(key: RSAPublicKey) -> str:
    where = "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size"
    return f"crypto/rsa: {key.key_size}-bit keys are insecure (see {where})"


class _Judge:
    """Looks for a way from a certificate to one that is trusted. use: what the certificates have to be good for."""

    def __init__(
        self,
        others: list[x509.Certificate],
        roots: list[x509.Certificate],
        now: datetime.datetime,
        use: x509.ObjectIdentifier,
    ) -> None:
        self.use = use
        self.others = others
        self.roots = roots
        self.now = now
        self.checks = 0

    def judge(self, leaf: x509.Certificate, host: str | None) -> None:
        self.valid(leaf, [])
        if host is not None:
            check_host(leaf, host)
        chains = [[leaf]] if leaf in self.roots else self.chains([leaf])
        if not any(all(_fits(one, self.use) for one in chain) for chain in chains):
            raise Untrusted("certificate specifies an incompatible key usage")

    def chains(self, below: list[x509.Certificate]) -> list[list[x509.Certificate]]:
        """Ways from the last of some certificates to a trusted one. Raises Untrusted where there is none."""
        child = below[-1]
        found: list[list[x509.Certificate]] = []
        hint = ""
        for parent, trusted in [*((one, True) for one in self.roots), *((one, False) for one in self.others)]:
            if parent.subject.public_bytes() != child.issuer.public_bytes() or parent in below:
                continue
            self.checks += 1
            if self.checks > _MOST_CHECKS:
                raise Untrusted("signature check attempts limit reached while verifying certificate chain")
            why = _unsigned(child, parent)
            try:
                if why:
                    raise Untrusted(why)
                self.valid(parent, below, issuer=not trusted)
            except Untrusted as error:
                told, name = gotext.quote(str(error) if why else f"x509: {error}"), gotext.quote(_called(parent))
                because = f" (possibly because of {told} while trying to verify candidate authority certificate {name})"
                hint = hint or because
                continue
            if trusted:
                found.append([*below, parent])
                continue
            try:
                found += self.chains([*below, parent])
            except Untrusted:
                continue
        if not found:
            raise Untrusted(f"certificate signed by unknown authority{hint}")
        return found

    def valid(self, certificate: x509.Certificate, below: list[x509.Certificate], *, issuer: bool = False) -> None:
        """Raises Untrusted for one that may not be where it is. issuer: it is neither the first nor trusted."""
        began, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        expired = "certificate has expired or is not yet valid: current time"
        if self.now < began:
            raise Untrusted(f"{expired} {_time(self.now)} is before {_time(began)}")
        if self.now > ends:
            raise Untrusted(f"{expired} {_time(self.now)} is after {_time(ends)}")
        if any(one.critical and not isinstance(one.value, _KNOWN) for one in certificate.extensions):
            raise Untrusted("unhandled critical extension")
        if not below:
            return
        _check_constraints(certificate, below)
        basic = _extension(certificate, x509.BasicConstraints)
        if issuer and (basic is None or not basic.ca):
            raise Untrusted("certificate is not authorized to sign other certificates")
        if basic is not None and basic.path_length is not None and len(below) - 1 > basic.path_length:
            raise Untrusted("too many intermediates for path length constraint")


def _extension(certificate: x509.Certificate, kind: type[T]) -> T | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _unsigned(child: x509.Certificate, parent: x509.Certificate) -> str:
    """Why a certificate counts as not signed by another one of the right name; "" where it is signed."""
    basic, usage = _extension(parent, x509.BasicConstraints), _extension(parent, x509.KeyUsage)
    first = parent.version is x509.Version.v1
    if (basic is None and not first) or (basic is not None and not basic.ca) or (usage and not usage.key_cert_sign):
        return "x509: invalid signature: parent certificate cannot sign this kind of certificate"
    try:
        key = parent.public_key()
        if isinstance(child.signature_hash_algorithm, SHA1 | MD5):
            return f"x509: cannot verify signature: insecure algorithm {_algorithm(child, key)}"
        if isinstance(key, RSAPublicKey) and key.key_size < _LEAST_BITS:
            return _insecure(key)
        child.verify_directly_issued_by(parent)
    except InvalidSignature:
        if isinstance(key, RSAPublicKey):
            return "crypto/rsa: verification error"
        return f"x509: {'ECDSA' if isinstance(key, EllipticCurvePublicKey) else 'Ed25519'} verification failure"
    except (TypeError, ValueError, UnsupportedAlgorithm):
        return "x509: cannot verify signature: algorithm unimplemented"
    return ""


def _algorithm(child: x509.Certificate, key: object) -> str:
    hashed = child.signature_hash_algorithm
    name = hashed.name.upper() if hashed is not None else ""
    return f"{name}-RSA" if isinstance(key, RSAPublicKey) else f"ECDSA-{name}"


def _called(certificate: x509.Certificate) -> str:
    for kind in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME):
        if found := certificate.subject.get_attributes_for_oid(kind):
            return str(found[0].value)
    return f"serial:{certificate.serial_number}"


def _time(time: datetime.datetime) -> str:
    return time.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _fits(certificate: x509.Certificate, use: x509.ObjectIdentifier) -> bool:
    """Whether a certificate may be used so, or stand for the authorities of one that is."""
    usage = _extension(certificate, x509.ExtendedKeyUsage)
    return usage is None or any(one in (use, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE) for one in usage)


def _names(certificate: x509.Certificate) -> tuple[list[str], list[Address]]:
    given = _extension(certificate, x509.SubjectAlternativeName)
    if given is None:
        return [], []
    addresses = [one for one in given.get_values_for_type(x509.IPAddress) if isinstance(one, Address)]
    return given.get_values_for_type(x509.DNSName), addresses


def check_host(certificate: x509.Certificate, host: str) -> None:
    """Whether a certificate is for a host name or address; its Common Name does not count. Raises Untrusted."""
    names, addresses = _names(certificate)
    host = host.strip("[]")
    common = [str(one.value) for one in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address in addresses if address is not None else any(_matches(name, host) for name in names):
        return
    if _extension(certificate, x509.SubjectAlternativeName) is None and any(_matches(name, host) for name in common):
        raise Untrusted("certificate relies on legacy Common Name field, use SANs instead")
    if address is not None and not addresses:
        raise Untrusted(f"cannot validate certificate for {host} because it doesn't contain any IP SANs")
    told = names if address is None else list(map(str, addresses))
    if len(told) >= _MOST_NAMES:
        kind = "names" if address is None else "IP SANs"
        raise Untrusted(f"certificate is valid for {len(told)} {kind}, but none matched {host}")
    if not told:
        raise Untrusted(f"certificate is not valid for any names, but wanted to match {host}")
    raise Untrusted(f"certificate is valid for {', '.join(told)}, not {host}")


def _matches(pattern: str, host: str) -> bool:
    """Whether a name is that of the host; an asterisk stands for its first label."""
    one, other = pattern.lower().removesuffix("."), host.lower().removesuffix(".")
    if not one or not other:
        return False
    if one.startswith("*."):
        return "." in other and bool(other.partition(".")[0]) and one[2:] == other.partition(".")[2]
    return one == other


def _check_constraints(parent: x509.Certificate, below: Iterable[x509.Certificate]) -> None:
    """Whether an authority may speak for the names of those below it. Raises Untrusted."""
    limits = _extension(parent, x509.NameConstraints)
    if limits is None:
        return
    for certificate in below:
        names, addresses = _names(certificate)
        for name in names:
            _check(f"DNS name {gotext.quote(name)}", limits, x509.DNSName, _under(name))
        for address in addresses:
            _check(f"IP address {gotext.quote(str(address))}", limits, x509.IPAddress, _in_network(address))


def _under(name: str) -> Callable[[x509.GeneralName], bool]:
    def inside(limit: x509.GeneralName) -> bool:
        domain = str(limit.value).lower().lstrip(".")
        return not domain or f".{name.lower()}".endswith(f".{domain}")

    return inside


def _in_network(address: Address) -> Callable[[x509.GeneralName], bool]:
    return lambda limit: isinstance(limit.value, Network) and address in limit.value


def _check(
    what: str, limits: x509.NameConstraints, kind: type[x509.GeneralName], inside: Callable[[x509.GeneralName], bool]
) -> None:
    for limit in limits.excluded_subtrees or ():
        if isinstance(limit, kind) and inside(limit):
            told = f"{what} is excluded by constraint {gotext.quote(str(limit.value))}"
            raise Untrusted(f"a root or intermediate certificate is not authorized to sign for this name: {told}")
    permitted = [limit for limit in limits.permitted_subtrees or () if isinstance(limit, kind)]
    if permitted and not any(map(inside, permitted)):
        told = f"{what} is not permitted by any constraint"
        raise Untrusted(f"a root or intermediate certificate is not authorized to sign for this name: {told}")
