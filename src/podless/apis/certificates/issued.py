"""Validates an issued PodCertificateRequest.

Source: ValidatePodCertificateRequestStatusUpdate in Kubernetes' pkg/apis/certificates/validation.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from podless.apis.certificates.certificatesigningrequests import CERTIFICATE
from podless.apis.shared.keypair import read_pem_blocks
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

if TYPE_CHECKING:
    from cryptography import x509

_MAX = 100 << 10  # maximum bytes of a certificate chain
_SKEW = timedelta(minutes=5)
_MARGIN = timedelta(minutes=10)
_SHORTEST = timedelta(hours=1)
_CHAIN, _FROM, _UNTIL, _REFRESH = (
    f"status.{name}" for name in ("certificateChain", "notBefore", "notAfter", "beginRefreshAt")
)
_CONSISTENT = "must be present and consistent with the issued certificate"
_TIMES = (
    (_FROM, _CONSISTENT),
    (_UNTIL, _CONSISTENT),
    (_REFRESH, "must be present and in the range [notbefore+10min, notafter-10min]"),
)


def validate_issued(status: Object, spec: Object, request: x509.CertificateSigningRequest | None) -> field.Errors:
    """Validate the status of an issued request, up to the first error.

    request: the certificate request in the spec, None if it is invalid.
    """
    chain = status.get("certificateChain") or ""
    if len(chain.encode()) > _MAX:
        yield field.too_long(_CHAIN, _MAX)
        return
    blocks = [*read_pem_blocks(chain.encode())]
    if fault := _find_leaf_fault(blocks):
        yield field.invalid(_CHAIN, chain, fault)
        return
    leaf = _load_certificate(blocks[0][1])
    assert leaf is not None
    wrong = [*_validate_domains(leaf)]
    yield from wrong
    if request is None:
        yield field.invalid("spec.stubPKCS10Request", field.OMITTED, "must be a valid PKCS#10 CSR")
    elif leaf.public_key() != request.public_key():
        yield field.invalid(_CHAIN, chain, "leaf certificate was not issued to the requested public key")
    elif missing := [(path, text) for path, text in _TIMES if not status.get(path.partition(".")[2])]:
        yield from (field.required(path, text) for path, text in missing)
    elif wrong:
        return
    elif (error := _find_time_fault(status, leaf, spec["maxExpirationSeconds"])) is not None:
        yield error
    elif fault := _find_chain_fault(blocks[1:]):
        yield field.invalid(_CHAIN, chain, fault)


def _validate_domains(leaf: x509.Certificate) -> field.Errors:
    """Validate the DNS names that a certificate is issued for."""
    from cryptography import x509

    alternative_names = (
        extension.value for extension in leaf.extensions if isinstance(extension.value, x509.SubjectAlternativeName)
    )
    for name in (name for names in alternative_names for name in each(names.get_values_for_type(x509.DNSName))):
        if not name:
            yield field.invalid(_CHAIN, name, "leaf certificate should not contain empty DNSName")
        if ".." in name:
            yield field.invalid(_CHAIN, name, "leaf certificate's DNSName should not contain '..'")
        if name.startswith(".") or name.endswith("."):
            yield field.invalid(_CHAIN, name, "leaf certificate's DNSName should not start or end with '.'")


def _find_leaf_fault(blocks: list[tuple[str, bytes]]) -> str:
    if not blocks:
        return "issued certificate chain must contain at least one certificate"
    sort, der = blocks[0]
    if sort != CERTIFICATE:
        return "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
    return "" if _load_certificate(der) is not None else "leaf certificate does not parse as valid X.509"


def _find_chain_fault(blocks: list[tuple[str, bytes]]) -> str:
    for sort, der in blocks:
        if sort != CERTIFICATE:
            return "issued certificate chain must consist entirely of CERTFICATE PEM blocks"
        if _load_certificate(der) is None:
            return "intermediate certificate does not parse as valid X.509"
    return ""


def _find_time_fault(status: Object, leaf: x509.Certificate, limit: int) -> FieldError | None:
    start, end, refresh = (datetime.fromisoformat(status[path.partition(".")[2]]) for path, _ in _TIMES)
    first, last = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    lifetime = last - first
    rules = (
        (start == first, _FROM, start, "must be set to the NotBefore time encoded in the leaf certificate"),
        (
            abs(start - clock.utc_now()) < _SKEW,
            _FROM,
            start,
            "must be set to within 5 minutes of kube-apiserver's current time",
        ),
        (end == last, _UNTIL, end, "must be set to the NotAfter time encoded in the leaf certificate"),
        (lifetime >= _SHORTEST, _CHAIN, lifetime, "leaf certificate lifetime must be >= 1 hour"),
        (
            lifetime <= timedelta(seconds=limit),
            _CHAIN,
            lifetime,
            f"leaf certificate lifetime must be <= spec.maxExpirationSeconds ({limit})",
        ),
        (refresh >= start + _MARGIN, _REFRESH, refresh, "must be at least 10 minutes after status.notBefore"),
        (refresh <= end - _MARGIN, _REFRESH, refresh, "must be at least 10 minutes before status.notAfter"),
    )
    for is_kept, path, value, text in rules:
        if not is_kept:
            return field.invalid(path, _format_value(value), text)
    return None


def _format_value(value: datetime | timedelta) -> object:
    """Return a time as in JSON, and a duration in nanoseconds."""
    if isinstance(value, timedelta):
        return int(value.total_seconds()) * 1_000_000_000
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")


def _load_certificate(der: bytes) -> x509.Certificate | None:
    from cryptography import x509

    try:
        certificate = x509.load_der_x509_certificate(der)
        certificate.public_key(), certificate.extensions  # parsed at their first use
    except Exception:  # cryptography raises various exceptions for invalid bytes
        return None
    return certificate
