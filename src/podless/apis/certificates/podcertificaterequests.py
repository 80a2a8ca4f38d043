"""PodCertificateRequest. Source: Kubernetes' pkg/apis/certificates/validation and pkg/registry/certificates."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from podless.apis.certificates.certificatesigningrequests import signer_name
from podless.apis.certificates.issued import validate_issued
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field, names
from podless.meta.conditions import find_true, validate_conditions
from podless.meta.objectmeta import check_annotations
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from cryptography import x509

SPEC = load_struct("certificates/v1", "PodCertificateRequestSpec")

_ENDS = ("Issued", "Denied", "Failed")
_MAX_UID = 128  # bytes
_SHORTEST, _LONGEST, _LONGEST_OWN = 3600, 91 * 86_400, 86_400  # seconds; the last one for Kubernetes' own signers
_MAX_REQUEST = 10 << 10  # bytes
_NAMES = (
    ("podName", names.check_subdomain, "podUID"),
    ("serviceAccountName", names.check_subdomain, "serviceAccountUID"),
    ("nodeName", names.check_subdomain, "nodeUID"),
)
_REQUEST = "spec.stubPKCS10Request"
_BARE_KEY = 'must be a domain-prefixed key (such as "acme.io/foo")'
_ONE_FORM = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
_ONE_END = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
_ENDED = "immutable after PodCertificateRequest is issued, denied, or failed"
_NOT_EMPTY = "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
_OPEN = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'


class PodRequestStrategy(KeptMetadataStrategy):
    """Strategy of PodCertificateRequest. The spec is immutable, and the result is set once."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(0, 1), on_status=(1, 1))
    selects = frozenset({"spec.signerName", "spec.podName", "spec.nodeName"})

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*_validate_spec(obj["spec"])]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        if obj["spec"] == old["spec"]:
            return []
        return [immutable_error("spec", gostructs.format_struct(SPEC, obj["spec"]))]

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*_validate_status(obj.get("status") or {}, old.get("status") or {}, old["spec"])]

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {name: obj["spec"][name.partition(".")[2]] for name in self.selects}


def load_request(spec: Object) -> x509.CertificateSigningRequest | None:
    """Return the certificate request in a spec, None if it is invalid."""
    from cryptography import x509

    try:
        request = x509.load_der_x509_csr(base64.b64decode(spec.get("stubPKCS10Request") or ""))
        request.public_key()
    except Exception:  # cryptography raises various exceptions for invalid bytes
        return None
    return request


def _validate_spec(spec: Object) -> field.Errors:
    signer = spec["signerName"]
    yield from signer_name(signer, "spec.signerName")
    yield from _validate_told(spec.get("unverifiedUserAnnotations") or {})
    for name, check, uid in _NAMES:
        yield from field.invalid_details(f"spec.{name}", spec[name], check(spec[name]))
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


def _validate_told(annotations: dict[str, str]) -> field.Errors:
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
    request = load_request(spec)
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
        yield from validate_issued(status, spec, load_request(spec))
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


STRATEGY = PodRequestStrategy()
