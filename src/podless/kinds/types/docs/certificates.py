"""Texts of certificates.k8s.io."""

from __future__ import annotations

from podless.kinds.types.docs.common import CONDITION

_ASKER = "Of whoever made the request, filled in by the server:"

TEXTS: dict[str, dict[str, str]] = {
    "CertificateSigningRequestSpec": {
        "": "What certificate is asked for, and of whom. It never changes.",
        "expirationSeconds": "For how many seconds the certificate should hold, 600 at least; the signer may choose "
        "another time.",
        "extra": f"{_ASKER} all else that is known, by key.",
        "groups": f"{_ASKER} the groups.",
        "request": "The request, PKCS#10 in PEM, in base64.",
        "signerName": "Who is to sign, such as kubernetes.io/kube-apiserver-client.",
        "uid": f"{_ASKER} the UID.",
        "usages": "For what the key is to be used, such as client auth.",
        "username": f"{_ASKER} the name.",
    },
    "CertificateSigningRequestCondition": {
        "": "That a request is approved, denied or has failed.",
        **CONDITION,
        "lastUpdateTime": "When the condition was last written.",
        "status": "True; Approved, Denied and Failed can be nothing else.",
        "type": "Approved, Denied or Failed. Approved and Denied are never taken back.",
    },
    "CertificateSigningRequestStatus": {
        "": "What has become of a request.",
        "certificate": "The certificate and those above it in PEM, in base64; once it is there it never changes.",
        "conditions": "Whether the request is approved, denied or has failed.",
    },
    "CertificateSigningRequest": {
        "": "Asks for a certificate, which somebody approves and a signer then issues.",
        "spec": "What certificate is asked for, and of whom.",
        "status": "What has become of the request.",
    },
}
