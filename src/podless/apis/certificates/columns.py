"""Printer columns of certificates.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, NONE, Columns, Object, at, string
from podless.codec.gotime import format_human_duration
from podless.runtime.meter import each


def _requested_duration(obj: Object) -> str:
    seconds = at(obj, "spec", "expirationSeconds", default=None)
    return NONE if seconds is None else format_human_duration(seconds)


def _read_decision(obj: Object) -> str:
    """Return the state of a certificate request as kubectl shows it."""
    types = {condition["type"] for condition in each(at(obj, "status", "conditions", default=()))}
    word = next((name for name in ("Denied", "Approved") if name in types), "Pending")
    failed = ",Failed" if "Failed" in types else ""
    return f"{word}{failed}{',Issued' if at(obj, 'status', 'certificate') else ''}"


def _read_signer(obj: Object) -> str:
    return at(obj, "spec", "signerName", default="") or NONE


def _pod_state(obj: Object) -> str:
    types = [condition["type"] for condition in each(at(obj, "status", "conditions", default=()))]
    return next((type_ for type_ in reversed(types) if type_ in ("Issued", "Denied", "Failed")), "Pending")


def _condition_text(obj: Object) -> str:
    annotations = at(obj, "spec", "unverifiedUserAnnotations", default={})
    return ",".join(f"{key}={value}" for key, value in sorted(annotations.items())) or NONE


COLUMNS: Columns = {
    "certificatesigningrequests": (
        NAME,
        AGE,
        string("SignerName", "CertificateSigningRequestSpec.signerName"),
        string("Requestor", "CertificateSigningRequestSpec.username"),
        string("RequestedDuration", "CertificateSigningRequestSpec.expirationSeconds", _requested_duration),
        string("Condition", "Decision on the request and whether the certificate is issued.", _read_decision),
    ),
    "clustertrustbundles": (NAME, string("SignerName", "ClusterTrustBundleSpec.signerName", _read_signer)),
    "podcertificaterequests": (
        NAME,
        string("PodName", "PodCertificateRequestSpec.podName"),
        string("ServiceAccountName", "PodCertificateRequestSpec.serviceAccountName"),
        string("NodeName", "PodCertificateRequestSpec.nodeName"),
        string("SignerName", "PodCertificateRequestSpec.signerName"),
        string("State", "State of the request, such as Issued, Denied or Failed.", _pod_state),
        string("UnverifiedUserAnnotations", "PodCertificateRequestSpec.unverifiedUserAnnotations", _condition_text),
    ),
}
