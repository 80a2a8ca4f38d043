"""Printer columns of certificates.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, NONE, Columns, Object, at, string
from podless.codec.gotime import human_duration
from podless.runtime.meter import each


def _requested_duration(obj: Object) -> str:
    seconds = at(obj, "spec", "expirationSeconds", default=None)
    return NONE if seconds is None else human_duration(seconds)


def _decision(obj: Object) -> str:
    """What has come of a request for a certificate."""
    held = {one["type"] for one in each(at(obj, "status", "conditions", default=()))}
    word = next((name for name in ("Denied", "Approved") if name in held), "Pending")
    failed = ",Failed" if "Failed" in held else ""
    return f"{word}{failed}{',Issued' if at(obj, 'status', 'certificate') else ''}"


COLUMNS: Columns = {
    "certificatesigningrequests": (
        NAME,
        AGE,
        string("SignerName", "CertificateSigningRequestSpec.signerName"),
        string("Requestor", "CertificateSigningRequestSpec.username"),
        string("RequestedDuration", "CertificateSigningRequestSpec.expirationSeconds", _requested_duration),
        string("Condition", "What has come of the request.", _decision),
    )
}
