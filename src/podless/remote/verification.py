"""Lets the cryptography package verify a chain, so that two implementations must agree before a certificate is trusted.

Its verifier follows the rules of the Web PKI, which are stricter than Go's for keys, signatures and the form of names.
Its result does not count for such certificates: `has_say`. Requirements that can be set are set to Go's.
"""

from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    SECP384R1,
    SECP521R1,
    EllipticCurve,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.oid import SignatureAlgorithmOID
from cryptography.x509.verification import Criticality, ExtensionPolicy, PolicyBuilder, Store, VerificationError

_MIN_BITS = 2048  # minimum bits of an RSA key in the Web PKI
_CURVES: tuple[type[EllipticCurve], ...] = (SECP256R1, SECP384R1, SECP521R1)
_SIGNATURES = {
    SignatureAlgorithmOID.RSA_WITH_SHA256,
    SignatureAlgorithmOID.RSA_WITH_SHA384,
    SignatureAlgorithmOID.RSA_WITH_SHA512,
    SignatureAlgorithmOID.ECDSA_WITH_SHA256,
    SignatureAlgorithmOID.ECDSA_WITH_SHA384,
    SignatureAlgorithmOID.ECDSA_WITH_SHA512,
}
_HANDLED = (
    x509.AuthorityKeyIdentifier,
    x509.BasicConstraints,
    x509.ExtendedKeyUsage,
    x509.KeyUsage,
    x509.SubjectAlternativeName,
    x509.SubjectKeyIdentifier,
)
_LIMITS = (x509.DNSName, x509.IPAddress)


def accepts_chain(chain: list[x509.Certificate], now: datetime.datetime) -> bool:
    """Return whether the first certificate of a chain is valid if the last one is trusted."""
    issuer_policy = ExtensionPolicy.permit_all().require_present(x509.BasicConstraints, Criticality.AGNOSTIC, None)
    policy = PolicyBuilder().store(Store([chain[-1]])).time(now)
    policy = policy.extension_policies(ca_policy=issuer_policy, ee_policy=ExtensionPolicy.permit_all())
    policy = policy.max_chain_depth(len(chain))
    try:
        policy.build_client_verifier().verify(chain[0], chain[1:-1])
    except VerificationError:
        return False
    return True


def has_say(chain: list[x509.Certificate]) -> bool:
    """Return whether the verifier decides about such a chain as Go does."""
    # the verifier applies a leaf's constraints to the leaf itself
    has_constraints = any(isinstance(extension.value, x509.NameConstraints) for extension in chain[0].extensions)
    return len(chain) > 1 and not has_constraints and all(map(_is_plain, chain))


def _is_plain(certificate: x509.Certificate) -> bool:
    key = certificate.public_key()
    if isinstance(key, RSAPublicKey):
        strong = key.key_size >= _MIN_BITS
    else:
        strong = isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, _CURVES)
    return (
        strong
        and certificate.version is x509.Version.v3
        and bool(certificate.issuer)
        and certificate.signature_algorithm_oid in _SIGNATURES
        and all(map(_is_judged, certificate.extensions))
    )


def _is_judged(extension: x509.Extension[x509.ExtensionType]) -> bool:
    value = extension.value
    if isinstance(value, x509.NameConstraints):
        limits = (*(value.permitted_subtrees or ()), *(value.excluded_subtrees or ()))
        return all(isinstance(limit, _LIMITS) and not str(limit.value).startswith(".") for limit in limits)
    return isinstance(value, _HANDLED) or not extension.critical
