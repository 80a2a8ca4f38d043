"""ClusterTrustBundle. Source: Kubernetes' pkg/apis/certificates/validation (ValidateClusterTrustBundle)."""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.certificates.certificatesigningrequests import CERTIFICATE, validate_signer_name
from podless.apis.shared.checks import validate_immutable
from podless.apis.shared.keypair import read_pem_headers
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import field, names
from podless.runtime.jsonobject import Object

_MAX = 1 << 20  # bytes
_HIDDEN = "<value omitted>"


class TrustBundleStrategy(TypedStrategy):
    """Strategy of ClusterTrustBundle. Its name must begin with its signer's, if it has one."""

    naming = names.ANY_NAMES  # the rule depends on the signer; see validate
    allow_unconditional_update = False
    selects = frozenset({"spec.signerName"})

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        name, spec, before = obj["metadata"]["name"], obj["spec"], old["spec"] if old is not None else None
        signer = spec.get("signerName") or ""
        yield from field.invalid_details("metadata.name", name, _name_faults(name, signer))
        if signer:
            yield from validate_signer_name(signer, "spec.signerName")
        if before is None or spec["trustBundle"] != before["trustBundle"]:
            yield from _validate_bundle(spec["trustBundle"])
        if before is not None:
            yield from validate_immutable("spec.signerName", signer, before.get("signerName", ""))

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"spec.signerName": obj["spec"].get("signerName", "")}


def _name_faults(name: str, signer: str) -> list[str]:
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return names.check_subdomain(name)
    prefix = f"{signer.replace('/', ':')}:"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return names.check_subdomain(name.removeprefix(prefix))


def _validate_bundle(bundle: str) -> field.Errors:
    path = "spec.trustBundle"
    if len(bundle.encode()) > _MAX:
        yield field.too_long(path, _MAX)
        return
    places: dict[bytes, list[int]] = {}
    is_sound = True
    for index, (block_type, der, has_headers) in enumerate(read_pem_headers(bundle.encode())):
        if fault := _find_fault(block_type, der, has_headers):
            is_sound = False
            yield field.invalid(path, _HIDDEN, f"entry {index} {fault}")
        else:
            places.setdefault(der, []).append(index)
    if is_sound:
        yield from (field.invalid(path, _HIDDEN, text) for text in _find_repeats(places))


def _find_repeats(indexes_by_anchor: dict[bytes, list[int]]) -> Iterator[str]:
    if not indexes_by_anchor:
        yield "at least one trust anchor must be provided"
    for indexes in indexes_by_anchor.values():
        if len(indexes) > 1:
            yield f"duplicate trust anchor (indices [{' '.join(map(str, indexes))}])"


def _find_fault(block_type: str, der: bytes, has_headers: bool) -> str:
    """Return the fault of a PEM block, "" if it is a CA certificate."""
    from cryptography import x509

    if block_type != CERTIFICATE:
        return f"has bad block type: {block_type}"
    if has_headers:
        return "has PEM block headers"
    try:
        certificate = x509.load_der_x509_certificate(der)
        constraints = [
            extension.value
            for extension in certificate.extensions
            if isinstance(extension.value, x509.BasicConstraints)
        ]
    except Exception:  # cryptography raises various exceptions for invalid bytes
        return "does not parse as X.509"
    return "" if constraints and constraints[0].ca else "does not have the CA bit set"


STRATEGY = TrustBundleStrategy()
