"""PodCertificateRequest. Source: Kubernetes' pkg/apis/certificates/validation and pkg/registry/certificates."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from podless.apis.certificates.certificatesigningrequests import CERTIFICATE, validate_signer_name
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.keypair import read_pem_blocks
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.meta.objectmeta import check_annotations
from podless.meta.validation import find_true, validate_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs

if TYPE_CHECKING:
    from cryptography import x509

_ENDS = ("Issued", "Denied", "Failed")
_MAX_UID = 128  # bytes
_SHORTEST, _LONGEST, _LONGEST_OWN = 3600, 91 * 86_400, 86_400  # seconds; the last one for Kubernetes' own signers
_MAX_REQUEST = 10 << 10  # bytes
_NAMES = (
    ("podName", "podUID"),
    ("serviceAccountName", "serviceAccountUID"),
    ("nodeName", "nodeUID"),
)
_REQUEST = "spec.stubPKCS10Request"
_BARE_KEY = 'must be a domain-prefixed key (such as "acme.io/foo")'
_ONE_FORM = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
_ONE_END = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
_ENDED = "immutable after PodCertificateRequest is issued, denied, or failed"
_NOT_EMPTY = "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
_OPEN = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'

_MAX_CHAIN = 100 << 10  # maximum bytes of a certificate chain
_SKEW = timedelta(minutes=5)
_MARGIN = timedelta(minutes=10)
_SHORTEST_LIFE = timedelta(hours=1)
_CHAIN, _FROM, _UNTIL, _REFRESH = (
    f"status.{name}" for name in ("certificateChain", "notBefore", "notAfter", "beginRefreshAt")
)
_CONSISTENT = "must be present and consistent with the issued certificate"
_TIMES = (
    (_FROM, _CONSISTENT),
    (_UNTIL, _CONSISTENT),
    (_REFRESH, "must be present and in the range [notbefore+10min, notafter-10min]"),
)


class PodRequestStrategy(KeptMetadataStrategy):
    """Strategy of PodCertificateRequest. The spec is immutable, and the result is set once."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(0, 1), on_status=(1, 1))
    selects = frozenset({"spec.signerName", "spec.podName", "spec.nodeName"})

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        if old is None:
            yield from _validate_spec(obj["spec"])
        elif obj["spec"] != old["spec"]:
            text = gostructs.format_struct("certificates/v1.PodCertificateRequestSpec", obj["spec"])
            yield immutable_error("spec", text)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        return _validate_status(obj.get("status") or {}, old.get("status") or {}, old["spec"])

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {name: obj["spec"][name.partition(".")[2]] for name in self.selects}


def _load_request(spec: Object) -> x509.CertificateSigningRequest | None:
    from cryptography import x509

    try:
        request = x509.load_der_x509_csr(base64.b64decode(spec.get("stubPKCS10Request") or ""))
        request.public_key()
    except Exception:  # cryptography raises various exceptions for invalid bytes
        return None
    return request


def _validate_spec(spec: Object) -> field.Errors:
    signer = spec["signerName"]
    yield from validate_signer_name(signer, "spec.signerName")
    yield from _validate_annotations(spec.get("unverifiedUserAnnotations") or {})
    for name, uid in _NAMES:
        yield from field.invalid_details(f"spec.{name}", spec[name], names.check_subdomain(spec[name]))
        if not spec[uid]:
            yield field.invalid(f"spec.{uid}", "", "must not be empty")
        elif len(spec[uid].encode()) > _MAX_UID:
            yield field.too_long(f"spec.{uid}", _MAX_UID)
    seconds = spec["maxExpirationSeconds"]
    maximum = _LONGEST_OWN if _is_own(signer) else _LONGEST
    if not _SHORTEST <= seconds <= maximum:
        yield field.invalid("spec.maxExpirationSeconds", seconds, f"must be in the range [{_SHORTEST}, {maximum}]")
    if not spec.get("stubPKCS10Request"):
        yield field.invalid("spec", field.OMITTED, _ONE_FORM)
    else:
        yield from _validate_request(spec)


def _validate_annotations(annotations: dict[str, str]) -> field.Errors:
    """Validate annotations, whose keys must have a domain."""
    path = "spec.unverifiedUserAnnotations"
    errors = check_annotations(annotations, path)
    yield from errors
    wrong = {error.value for error in errors}
    for key in map(str.lower, each(annotations)):
        if key not in wrong and "/" not in key:
            yield field.invalid(path, key, _BARE_KEY)


def _is_own(signer: str) -> bool:
    """Return whether Kubernetes defines the signer."""
    host = signer.partition("/")[0]
    return host == "kubernetes.io" or host.endswith(".kubernetes.io")


def _validate_request(spec: Object) -> field.Errors:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    if len(base64.b64decode(spec["stubPKCS10Request"])) > _MAX_REQUEST:
        yield field.too_long(_REQUEST, _MAX_REQUEST)
        return
    request = _load_request(spec)
    if request is None:
        yield field.invalid(_REQUEST, field.OMITTED, "must be a valid PKCS#10 CSR")
        return
    key: Any = request.public_key()
    if isinstance(key, ec.EllipticCurvePublicKey):
        if key.curve.name not in ("secp256r1", "secp384r1", "secp521r1"):
            key_type = f"curve P-{key.curve.key_size}"
            yield field.invalid(_REQUEST, key_type, "elliptic public keys must use curve P256, P384, or P521")
            return
    elif isinstance(key, rsa.RSAPublicKey):
        if (size := -(-key.key_size // 8) * 8) not in (3072, 4096):
            text = "RSA keys must have modulus size 3072 or 4096"
            yield field.invalid(_REQUEST, f"{size}-bit modulus", text)
            return
    elif not isinstance(key, ed25519.Ed25519PublicKey):
        text = "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
        yield field.invalid(_REQUEST, field.OMITTED, text)
        return
    if not request.is_signature_valid:
        yield field.invalid(_REQUEST, field.OMITTED, "invalid signature")


def _validate_status(status: Object, old: Object, spec: Object) -> field.Errors:
    conditions = status.get("conditions") or []
    errors = [*_validate_ends(conditions), *validate_conditions(conditions, "status.conditions")]
    if errors:
        yield from errors
        return
    end = find_true(conditions, *_ENDS)
    if find_true(old.get("conditions"), *_ENDS):
        if status != old:
            yield field.invalid("status", field.OMITTED, _ENDED)
    elif end == "Issued":
        yield from _validate_issued(status, spec, _load_request(spec))
    elif end:
        if any(value for name, value in status.items() if name != "conditions"):
            yield field.invalid("status", field.OMITTED, _NOT_EMPTY)
    elif status != old:
        yield field.invalid("status", field.OMITTED, _OPEN)


def _validate_ends(conditions: list[Object]) -> field.Errors:
    """Require exactly the conditions that end a request: at most one, with status True."""
    ends = 0
    for index, condition in enumerate(each(conditions)):
        path = f"status.conditions.[{index}]"  # kube-apiserver's path has the additional dot
        if condition["type"] not in _ENDS:
            yield field.not_supported(f"{path}.type", condition["type"], _ENDS)
            continue
        ends += 1
        if ends > 1:
            yield field.invalid(f"{path}.type", condition["type"], _ONE_END)
        if condition["status"] != "True":
            yield field.not_supported(f"{path}.status", condition["status"], ("True",))


def _validate_issued(status: Object, spec: Object, request: x509.CertificateSigningRequest | None) -> field.Errors:
    """Validate the status of an issued request, up to the first error. request: None if the spec's is invalid."""
    chain = status.get("certificateChain") or ""
    if len(chain.encode()) > _MAX_CHAIN:
        yield field.too_long(_CHAIN, _MAX_CHAIN)
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

    extensions = (extension.value for extension in leaf.extensions)
    alternatives = (value for value in extensions if isinstance(value, x509.SubjectAlternativeName))
    for name in (name for value in alternatives for name in each(value.get_values_for_type(x509.DNSName))):
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
        (lifetime >= _SHORTEST_LIFE, _CHAIN, lifetime, "leaf certificate lifetime must be >= 1 hour"),
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


STRATEGY = PodRequestStrategy()
