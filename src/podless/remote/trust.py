"""Verifies the certificates of servers and clients as Go does, with Go's texts.

OpenSSL differs. It accepts a Common Name as a host name, and rejects keys that Go accepts. It gives up if the first of
two CAs with one name is not the signer. Source: crypto/x509 and crypto/tls of Go 1.26, their documentation.
"""

from __future__ import annotations

import datetime
import ipaddress

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import MD5, SHA1
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podless.codec import gotext
from podless.meta.addresses import Address
from podless.remote import nameconstraints, verification
from podless.remote.nameconstraints import find_extension

_MIN_BITS, _MAX_BITS = 1024, 8192  # allowed bits of an RSA key
_MAX_CHECKS = 100  # maximum signature checks for one chain
_MAX_NAMES = 100  # maximum names in a message
_PEM = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
_HANDLED = (
    x509.BasicConstraints,
    x509.KeyUsage,
    x509.ExtendedKeyUsage,
    x509.CertificatePolicies,
    x509.CRLDistributionPoints,
)
_NAMES = (x509.DNSName, x509.IPAddress, x509.RFC822Name, x509.UniformResourceIdentifier)


class Untrusted(Exception):
    """A certificate is untrusted; the text is Go's."""


def parse_authorities(pem: bytes) -> list[x509.Certificate]:
    """Return the certificates in a PEM text. Ignores malformed ones, as Go does."""
    authorities = []
    for block in pem.split(_PEM[0])[1:]:
        body, end, _ = block.partition(_PEM[1])
        try:
            authorities.append(x509.load_pem_x509_certificate(_PEM[0] + body + end + b"\n"))
        except ValueError:
            continue
    return authorities


def judge_server(chain: list[bytes], host: str, roots: list[x509.Certificate], now: datetime.datetime) -> None:
    """Verify that a server is `host`. Raises Untrusted.

    chain: the certificates that it sent (DER), its own first. now: with a time zone.
    """
    try:
        certificates = [x509.load_der_x509_certificate(der) for der in chain]
        leaf = certificates[0]
        key = leaf.public_key()
    except (ValueError, UnsupportedAlgorithm, IndexError) as error:
        raise Untrusted(f"tls: failed to parse certificate from server: {error}") from None
    if isinstance(key, RSAPublicKey) and key.key_size > _MAX_BITS:
        raise Untrusted(f"tls: server sent certificate containing RSA key larger than {_MAX_BITS} bits")
    try:
        _ChainSearch(certificates[1:], roots, now, ExtendedKeyUsageOID.SERVER_AUTH).check_leaf(leaf, host)
    except Untrusted as error:
        raise Untrusted(f"tls: failed to verify certificate: x509: {error}") from None
    except ValueError as error:
        raise Untrusted(f"tls: failed to parse certificate from server: {error}") from None
    if isinstance(key, RSAPublicKey) and key.key_size < _MIN_BITS:
        raise Untrusted(f"tls: invalid signature by the server certificate: {_insecure_text(key)}")


def judge_client(chain: list[bytes], roots: list[x509.Certificate], now: datetime.datetime) -> None:
    """Verify the certificate of a client. chain, roots and now: as for `judge_server`. Raises Untrusted."""
    try:
        certificates = [x509.load_der_x509_certificate(der) for der in chain]
        _ChainSearch(certificates[1:], roots, now, ExtendedKeyUsageOID.CLIENT_AUTH).check_leaf(certificates[0], None)
    except (ValueError, UnsupportedAlgorithm, IndexError) as error:
        raise Untrusted(f"tls: failed to parse client certificate: {error}") from None


def _insecure_text(key: RSAPublicKey) -> str:
    link = "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size"
    return f"crypto/rsa: {key.key_size}-bit keys are insecure (see {link})"


class _ChainSearch:
    """Searches a chain from a certificate to a trusted one. use: the required extended key usage."""

    def __init__(
        self,
        intermediates: list[x509.Certificate],
        roots: list[x509.Certificate],
        now: datetime.datetime,
        use: x509.ObjectIdentifier,
    ) -> None:
        self.use = use
        self.intermediates = intermediates
        self.roots = roots
        self.now = now
        self.checks = 0

    def check_leaf(self, leaf: x509.Certificate, host: str | None) -> None:
        self.check_certificate(leaf, [])
        if host is not None:
            check_host(leaf, host)
        chains = [[leaf]] if leaf in self.roots else self.find_chains([leaf])
        fitting = [chain for chain in chains if all(_allows_usage(item, self.use) for item in chain)]
        if not fitting:
            raise Untrusted("certificate specifies an incompatible key usage")
        faults = [nameconstraints.find_fault(chain) for chain in fitting]
        if all(faults):
            problem = "a root or intermediate certificate is not authorized to sign for this name"
            raise Untrusted(f"{problem}: {faults[0]}")
        if not any(not fault and self.is_confirmed(chain) for chain, fault in zip(fitting, faults, strict=True)):
            raise Untrusted("certificate signed by unknown authority")

    def is_confirmed(self, chain: list[x509.Certificate]) -> bool:
        """Return whether the cryptography package accepts a chain too, if it can judge it."""
        return not verification.has_say(chain) or verification.accepts_chain(chain, self.now)

    def find_chains(self, chain: list[x509.Certificate]) -> list[list[x509.Certificate]]:
        """Return the chains from the last certificate to a trusted one. Raises Untrusted if there is none."""
        child = chain[-1]
        chains: list[list[x509.Certificate]] = []
        hint = ""
        failed: Untrusted | None = None  # the error of the last candidate
        for parent, trusted in [
            *((root, True) for root in self.roots),
            *((issuer, False) for issuer in self.intermediates),
        ]:
            if parent.subject.public_bytes() != child.issuer.public_bytes() or parent in chain:
                continue
            self.checks += 1
            if self.checks > _MAX_CHECKS:
                raise Untrusted("signature check attempts limit reached while verifying certificate chain")
            if problem := _explain_unsigned(child, parent):
                text, name = gotext.quote(problem), gotext.quote(_certificate_name(parent))
                because = f" (possibly because of {text} while trying to verify candidate authority certificate {name})"
                hint = hint or because
                continue
            try:
                self.check_certificate(parent, chain, issuer=not trusted)
                chains += [[*chain, parent]] if trusted else self.find_chains([*chain, parent])
                failed = None
            except Untrusted as error:
                failed = error
        if not chains:
            raise failed or Untrusted(f"certificate signed by unknown authority{hint}")
        return chains

    def check_certificate(
        self, certificate: x509.Certificate, chain: list[x509.Certificate], *, issuer: bool = False
    ) -> None:
        """Raise Untrusted for a certificate that is invalid at its place. issuer: it is an intermediate CA."""
        if any(extension.critical and not _is_handled(extension.value) for extension in certificate.extensions):
            raise Untrusted("unhandled critical extension")
        began, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        expired = "certificate has expired or is not yet valid: current time"
        if self.now < began:
            raise Untrusted(f"{expired} {_format_time(self.now)} is before {_format_time(began)}")
        if self.now > ends:
            raise Untrusted(f"{expired} {_format_time(self.now)} is after {_format_time(ends)}")
        if not chain:
            return
        basic = find_extension(certificate, x509.BasicConstraints)
        if issuer and (basic is None or not basic.ca):
            raise Untrusted("certificate is not authorized to sign other certificates")
        if basic is not None and basic.path_length is not None and len(chain) - 1 > basic.path_length:
            raise Untrusted("too many intermediates for path length constraint")


def _is_handled(extension: x509.ExtensionType) -> bool:
    """Return whether a critical extension is handled. Go also accepts some policy extensions."""
    if isinstance(extension, x509.NameConstraints):
        return nameconstraints.are_handled(extension)
    if isinstance(extension, x509.SubjectAlternativeName):
        return any(isinstance(name, _NAMES) for name in extension)
    return isinstance(extension, _HANDLED)


def _explain_unsigned(child: x509.Certificate, parent: x509.Certificate) -> str:
    """Return why a certificate is not signed by another one with the issuer's name; "" if it is."""
    basic, usage = find_extension(parent, x509.BasicConstraints), find_extension(parent, x509.KeyUsage)
    first = parent.version is x509.Version.v1
    if (basic is None and not first) or (basic is not None and not basic.ca) or (usage and not usage.key_cert_sign):
        return "x509: invalid signature: parent certificate cannot sign this kind of certificate"
    try:
        key = parent.public_key()
        if isinstance(child.signature_hash_algorithm, SHA1 | MD5):
            return f"x509: cannot verify signature: insecure algorithm {_describe_algorithm(child, key)}"
        if isinstance(key, RSAPublicKey) and key.key_size < _MIN_BITS:
            return _insecure_text(key)
        child.verify_directly_issued_by(parent)
    except InvalidSignature:
        if isinstance(key, RSAPublicKey):
            return "crypto/rsa: verification error"
        return f"x509: {'ECDSA' if isinstance(key, EllipticCurvePublicKey) else 'Ed25519'} verification failure"
    except (TypeError, ValueError, UnsupportedAlgorithm):
        return "x509: cannot verify signature: algorithm unimplemented"
    return ""


def _describe_algorithm(child: x509.Certificate, key: object) -> str:
    hashed = child.signature_hash_algorithm
    name = hashed.name.upper() if hashed is not None else ""
    return f"{name}-RSA" if isinstance(key, RSAPublicKey) else f"ECDSA-{name}"


def _certificate_name(certificate: x509.Certificate) -> str:
    for kind in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME):
        if attributes := certificate.subject.get_attributes_for_oid(kind):
            return str(attributes[0].value)
    return f"serial:{certificate.serial_number}"


def _format_time(time: datetime.datetime) -> str:
    return time.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _allows_usage(certificate: x509.Certificate, use: x509.ObjectIdentifier) -> bool:
    """Return whether a certificate's extended key usage allows this use, or is absent."""
    usage = find_extension(certificate, x509.ExtendedKeyUsage)
    return usage is None or any(allowed in (use, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE) for allowed in usage)


def _list_names(certificate: x509.Certificate) -> tuple[list[str], list[Address]]:
    extension = find_extension(certificate, x509.SubjectAlternativeName)
    if extension is None:
        return [], []
    addresses = [value for value in extension.get_values_for_type(x509.IPAddress) if isinstance(value, Address)]
    return extension.get_values_for_type(x509.DNSName), addresses


def check_host(certificate: x509.Certificate, host: str) -> None:
    """Verify that a certificate is valid for a host name or address; its Common Name is ignored. Raises Untrusted."""
    names, addresses = _list_names(certificate)
    host = host.strip("[]")
    common = [str(attribute.value) for attribute in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address in addresses if address is not None else any(_matches_host(name, host) for name in names):
        return
    if find_extension(certificate, x509.SubjectAlternativeName) is None and any(
        _matches_host(name, host) for name in common
    ):
        raise Untrusted("certificate relies on legacy Common Name field, use SANs instead")
    if address is not None and not addresses:
        raise Untrusted(f"cannot validate certificate for {host} because it doesn't contain any IP SANs")
    listed = names if address is None else list(map(str, addresses))
    if len(listed) >= _MAX_NAMES:
        kind = "names" if address is None else "IP SANs"
        raise Untrusted(f"certificate is valid for {len(listed)} {kind}, but none matched {host}")
    if not listed:
        raise Untrusted(f"certificate is not valid for any names, but wanted to match {host}")
    raise Untrusted(f"certificate is valid for {', '.join(listed)}, not {host}")


def _matches_host(pattern: str, host: str) -> bool:
    """Return whether a pattern matches the host; an asterisk stands for the first label."""
    name_pattern, name = pattern.lower().removesuffix("."), host.lower().removesuffix(".")
    if not name_pattern or not name:
        return False
    if name_pattern.startswith("*."):
        return "." in name and bool(name.partition(".")[0]) and name_pattern[2:] == name.partition(".")[2]
    return name_pattern == name
