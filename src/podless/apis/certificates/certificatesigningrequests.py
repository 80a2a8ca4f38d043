"""CertificateSigningRequest. Source: Kubernetes' pkg/apis/certificates/validation and pkg/registry/certificates."""

from __future__ import annotations

import base64
from collections.abc import Callable

import cryptography.hazmat.backends.openssl.backend  # noqa: F401 (else the first check of a signature imports it)
from cryptography import x509

from podless.apis.shared import checks
from podless.apis.shared.keypair import read_pem_blocks, read_pem_headers
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gotext
from podless.codec.gotext import Named
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import MetadataPolicy, ReadPolicy, Strategy
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

REQUEST, CERTIFICATE = "CERTIFICATE REQUEST", "CERTIFICATE"
_APPROVED, _DENIED, _FAILED = "Approved", "Denied", "Failed"
_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)  # fmt: skip
_STATUSES = ("False", "True", "Unknown")
_LEGACY = "kubernetes.io/legacy-unknown"
_SHORTEST = 600  # seconds
_SIGNER = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
_MAX_DOMAIN, _MAX_SIGNER = 253, 571  # bytes
_HIDDEN = "<certificate data>"


class SigningRequestStrategy(TypedStrategy):
    """Strategy of CertificateSigningRequest, whose spec is immutable. Approval has its own subresource."""

    reset_fields: tuple[tuple[str, ...], ...] = (("spec",), ("status",))
    status_resets = (("spec",), ("status", "conditions"))
    metadata = MetadataPolicy(on_status=(1, 1))
    reads = ReadPolicy(by_namespace=False)
    naming = names.ANY_NAMES
    selects = frozenset({"spec.signerName"})
    sets_approval = sets_certificate = False  # what a subresource may change, beside the other conditions

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        obj["spec"] = old["spec"]

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Keep the spec, and the conditions of the approver if none was added or removed."""
        super().prepare_status(version, obj, old)
        for kind in (_APPROVED, _DENIED):
            _keep_conditions(obj, old, kind)
        _set_times(obj, old)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        yield from _validate_spec(obj["spec"])
        yield from _validate_conditions(obj, old)
        yield from _validate_certificate(obj, old)
        if old is not None:
            yield from self._validate_decision(obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        return _STATUS.validate(version, obj, old)

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"spec.signerName": obj["spec"]["signerName"]}

    def for_subresource(self, subresource: str) -> Strategy[Kind]:
        return _APPROVAL if subresource == "approval" else self

    def _validate_decision(self, obj: Object, old: Object) -> field.Errors:
        path = "status.conditions"
        for kind in (_APPROVED, _DENIED, _FAILED):
            now, before = _list_conditions(obj, kind), _list_conditions(old, kind)
            if len(now) < len(before):
                yield field.forbidden(path, f'updates may not remove a condition of type "{kind}"')
            elif self.sets_approval or kind == _FAILED:
                continue
            elif len(now) > len(before):
                yield field.forbidden(path, f'updates may not add a condition of type "{kind}"')
            elif now != before:
                yield field.forbidden(path, f'updates may not modify a condition of type "{kind}"\n')
        certificate, certificate_before = (state["status"].get("certificate") for state in (obj, old))
        if certificate != certificate_before and not self.sets_certificate:
            yield field.forbidden("status.certificate", "updates may not set certificate content")
        elif certificate != certificate_before and certificate_before:
            yield field.forbidden("status.certificate", "updates may not modify existing certificate content")


class _Status(SigningRequestStrategy):
    """Strategy of the status subresource, which the signer writes."""

    sets_certificate = True


class _Approval(SigningRequestStrategy):
    """Strategy of the approval subresource, which the approver writes."""

    sets_approval = True
    reset_fields = (("spec",), ("status", "certificate"))

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        obj["spec"] = old["spec"]
        _set_times(obj, old)
        obj["status"].pop("certificate", None)
        if certificate := old["status"].get("certificate"):
            obj["status"]["certificate"] = certificate


def decode_request(spec: Object) -> bytes | None:
    """Return the DER of the certificate request; None if its first PEM block has another type."""
    for block_type, der in read_pem_blocks(base64.b64decode(spec.get("request") or "")):
        return der if block_type == REQUEST else None
    return None


def _validate_spec(spec: Object) -> field.Errors:
    if fault := _find_request_fault(spec):
        yield field.invalid("spec.request", spec.get("request"), fault)
    usages, seen = spec.get("usages") or [], set[str]()
    if not usages:
        yield field.required("spec.usages")
    for index, usage in enumerate(each(usages)):
        yield from field.one_of(f"spec.usages[{index}]", usage, _USAGES)
    for index, usage in enumerate(each(usages)):
        yield from checks.validate_unique(f"spec.usages[{index}]", Named(usage), seen)
    signer, seconds = spec["signerName"], spec.get("expirationSeconds")
    if signer == _LEGACY:
        text = "the legacy signerName is not allowed via this API version"
        yield field.invalid("spec.signerName", signer, text)
    else:
        yield from validate_signer_name(signer, "spec.signerName")
    if seconds is not None and seconds < _SHORTEST:
        text = f"may not specify a duration less than {_SHORTEST} seconds (10 minutes)"
        yield field.invalid("spec.expirationSeconds", seconds, text)


def _find_request_fault(spec: Object) -> str:
    """Return the fault of the certificate request, or ""."""
    der = decode_request(spec)
    if der is None:
        return f"PEM block type must be {REQUEST}"
    try:
        sound = x509.load_der_x509_csr(der).is_signature_valid
    except Exception:  # cryptography raises various exceptions for invalid bytes
        return "asn1: syntax error: data truncated"
    return "" if sound else "x509: certificate request signature is not valid"


def validate_signer_name(name: str, path: str) -> field.Errors:
    """Validate a signer name: DOMAIN/PATH."""
    if not name:
        yield field.required(path)
        return
    segments = name.split("/")
    if len(segments) != 2:
        yield field.invalid(path, name, _SIGNER)
        return
    domain, signer_path = segments
    if len(domain.encode()) > _MAX_DOMAIN:
        yield field.too_long(path, _MAX_DOMAIN)
    yield from _validate_labels(path, domain, names.check_label_name)
    if "." not in domain:
        yield field.invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _validate_labels(path, signer_path, names.check_subdomain)
    if len(name.encode()) > _MAX_SIGNER:
        yield field.too_long(path, _MAX_SIGNER)


def _validate_labels(path: str, text: str, check: Callable[[str], list[str]]) -> list[FieldError]:
    """Return the errors of the first invalid label in the domain or path of a signer name."""
    for label in each(text.split(".")):
        if faults := check(label):
            texts = (f"validating label {gotext.quote(label)}: {fault}" for fault in faults)
            return field.invalid_details(path, text, texts)
    return []


def _validate_conditions(obj: Object, old: Object | None) -> field.Errors:
    path, seen = "status.conditions", set[str]()
    before = [condition.get("type") for condition in each(_list_conditions(old or {}))]
    may_repeat = len(before) != len(set(before))  # an object that repeats a type already may do so
    for index, condition in enumerate(each(_list_conditions(obj))):
        kind, status = condition.get("type") or "", condition.get("status") or ""
        if not kind and "" not in before:
            yield field.required(f"{path}[{index}].type")
        allowed = ("True",) if kind in (_APPROVED, _DENIED, _FAILED) else _STATUSES
        if not status:
            yield field.required(f"{path}[{index}].status")
        elif status not in allowed:
            yield field.not_supported(f"{path}[{index}].status", status, allowed)
        opposite = {_APPROVED: _DENIED, _DENIED: _APPROVED}.get(kind)
        if opposite in seen and not {_APPROVED, _DENIED} <= set(before):
            field_path = path if has("ConflictsOfConditions") else f"{path}[{index}].type"
            yield field.invalid(field_path, kind, "Approved and Denied conditions are mutually exclusive")
        if kind in seen and not may_repeat:
            yield field.duplicate(f"{path}[{index}].type", Named(kind))
        seen.add(kind)


def _validate_certificate(obj: Object, old: Object | None) -> field.Errors:
    certificate = obj["status"].get("certificate")
    if not certificate or (old is not None and certificate == old["status"].get("certificate")):
        return
    if fault := _find_certificate_fault(base64.b64decode(certificate)):
        yield field.invalid("status.certificate", _HIDDEN, fault)


def _find_certificate_fault(pem: bytes) -> str:
    has_certificate = False
    for block_type, der, has_headers in read_pem_headers(pem):
        if block_type != CERTIFICATE:
            return f"only CERTIFICATE PEM blocks are allowed, found {gotext.quote(block_type)}"
        if has_headers:
            return "no PEM block headers are permitted"
        has_certificate = True
        try:
            x509.load_der_x509_certificate(der)
        except Exception:  # as in _find_request_fault
            return "x509: malformed certificate"
    return "" if has_certificate else "must contain at least one CERTIFICATE PEM block"


def _list_conditions(obj: Object, kind: str = "") -> list[Object]:
    """Return the conditions of an object, or those of one type."""
    conditions: list[Object] = (obj.get("status") or {}).get("conditions") or []
    return [condition for condition in each(conditions) if condition.get("type") == kind] if kind else conditions


def _keep_conditions(obj: Object, old: Object, kind: str) -> None:
    """Restore the conditions of a type, unless their number has changed."""
    conditions_before = _list_conditions(old, kind)
    indexes = [index for index, condition in enumerate(each(_list_conditions(obj))) if condition.get("type") == kind]
    if len(indexes) == len(conditions_before):
        for position, condition_before in zip(each(indexes), conditions_before, strict=True):
            obj["status"]["conditions"][position] = condition_before


def _set_times(obj: Object, old: Object) -> None:
    """Set missing times of conditions. An unchanged condition keeps its lastTransitionTime."""
    now = clock.now()
    since = {
        (item.get("type"), item.get("status")): item.get("lastTransitionTime")
        for item in each(_list_conditions(old)[::-1])
    }
    for item in each(_list_conditions(obj)):
        if item.get("lastUpdateTime") is None:
            item["lastUpdateTime"] = now
        if item.get("lastTransitionTime") is None:
            item["lastTransitionTime"] = since.get((item.get("type"), item.get("status"))) or now


_STATUS, _APPROVAL = _Status(), _Approval()
STRATEGY = SigningRequestStrategy()
