"""PodCertificateRequests. The texts are those of kube-apiserver 1.37."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from podless.apis.certificates.group import POD_REQUESTS
from podless.runtime.clock import CURRENT, Clock
from podless.runtime.jsonobject import Object
from tests.apis.certificates.pairs import make_certificate, make_request
from tests.apis.late import changed, faults, reported

KEY = ec.generate_private_key(ec.SECP256R1())
SPEC: Object = {
    "signerName": "example.com/s",
    "podName": "p",
    "podUID": "u",
    "serviceAccountName": "sa",
    "serviceAccountUID": "v",
    "nodeName": "n",
    "nodeUID": "w",
    "stubPKCS10Request": make_request(KEY),
}
BROKEN = base64.b64encode(base64.b64decode(SPEC["stubPKCS10Request"])[:-1] + b"\0").decode()
REQUEST = "spec.stubPKCS10Request: Invalid value: "


@pytest.fixture(autouse=True)
def _when_it_was_issued() -> Iterator[None]:
    """Certificates have to begin within minutes of the present time, and a run of all tests takes longer."""
    clock = Clock()
    clock.shift = START.timestamp() - clock.time()
    mark = CURRENT.set(clock)
    yield
    CURRENT.reset(mark)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"stubPKCS10Request": make_request(ed25519.Ed25519PrivateKey.generate())}, []),
        ({"stubPKCS10Request": "AAAA"}, [f"{REQUEST}must be a valid PKCS#10 CSR"]),
        ({"stubPKCS10Request": BROKEN}, [f"{REQUEST}invalid signature"]),
        (
            {"stubPKCS10Request": make_request(rsa.generate_private_key(65537, 1024))},
            [f'{REQUEST}"1024-bit modulus": RSA keys must have modulus size 3072 or 4096'],
        ),
        (
            {"stubPKCS10Request": make_request(ec.generate_private_key(ec.SECP224R1()))},
            [f'{REQUEST}"curve P-224": elliptic public keys must use curve P256, P384, or P521'],
        ),
        (
            {"stubPKCS10Request": None},
            [
                "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be"
                " set"
            ],
        ),
        (
            {"maxExpirationSeconds": 10, "signerName": "kubernetes.io/x"},
            ["spec.maxExpirationSeconds: Invalid value: 10: must be in the range [3600, 86400]"],
        ),
        ({"podUID": ""}, ['spec.podUID: Invalid value: "": must not be empty']),
        ({"nodeUID": "x" * 129}, ["spec.nodeUID: Too long: may not be more than 128 bytes"]),
        (
            {"unverifiedUserAnnotations": {"a": "b", "x.y/a": "b"}},
            [
                'spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as'
                ' "acme.io/foo")'
            ],
        ),
    ],
)
def test_a_request(given: Object, told: list[str]) -> None:
    assert faults(POD_REQUESTS, SPEC | given) == told


def test_a_request_never_changes() -> None:
    (text,) = changed(POD_REQUESTS, SPEC, SPEC | {"podName": "q"})
    assert text.endswith("field is immutable")


def _condition(type_: str, status: str = "True") -> Object:
    return {"type": type_, "status": status, "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "R", "message": ""}


def _issued(chain: str, **other: Any) -> Object:
    leaf = x509.load_pem_x509_certificate(chain.encode())
    start, end = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    times = {"notBefore": start, "notAfter": end, "beginRefreshAt": start + (end - start) / 2}
    shown = {name: _show(time) for name, time in times.items()}
    return {"conditions": [_condition("Issued")], "certificateChain": chain} | shown | other


def _show(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


LEAF = make_certificate(KEY)
GOOD = _issued(LEAF)
START = x509.load_pem_x509_certificate(LEAF.encode()).not_valid_before_utc
CHAIN = "status.certificateChain: Invalid value: "


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (GOOD, ""),
        (
            GOOD | {"certificateChain": "x"},
            f'{CHAIN}"x": issued certificate chain must contain at least one certificate',
        ),
        (
            GOOD | {"certificateChain": make_certificate()},
            "leaf certificate was not issued to the requested public key",
        ),
        (GOOD | {"certificateChain": f"{LEAF}-----BEGIN X-----\nAAAA\n-----END X-----\n"}, "CERTFICATE PEM blocks"),
        (GOOD | {"notBefore": None}, "must be present and consistent with the issued certificate"),
        (GOOD | {"notAfter": GOOD["notBefore"]}, "must be set to the NotAfter time encoded in the leaf certificate"),
        (GOOD | {"beginRefreshAt": GOOD["notBefore"]}, "must be at least 10 minutes after status.notBefore"),
        (
            GOOD | {"beginRefreshAt": _show(START + timedelta(hours=4))},
            "must be at least 10 minutes before status.notAfter",
        ),
        (
            _issued(make_certificate(KEY, hours=0.5)),
            f"{CHAIN}1800000000000: leaf certificate lifetime must be >= 1 hour",
        ),
        (
            _issued(make_certificate(KEY, domains=("a.example.com", "a..b"))),
            f"{CHAIN}\"a..b\": leaf certificate's DNSName should not contain '..'",
        ),
        (
            _issued(make_certificate(KEY, hours=48, domains=("a.",))),
            f"{CHAIN}\"a.\": leaf certificate's DNSName should not start or end with '.'",
        ),
        (_issued(make_certificate(KEY, hours=48)), "must be <= spec.maxExpirationSeconds (86400)"),
        ({"conditions": [_condition("Denied")]}, ""),
        (
            {"conditions": [_condition("Denied")], "notAfter": GOOD["notAfter"]},
            "non-condition status fields must be empty when denying or failing the PodCertificateRequest",
        ),
        ({"notAfter": GOOD["notAfter"]}, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'),
        (
            {"conditions": [_condition("x")]},
            'status.conditions.[0].type: Unsupported value: "x": supported values: "Issued", "Denied", "Failed"',
        ),
        ({"conditions": [_condition("Failed"), _condition("Denied")]}, "There may be at most one condition"),
        ({"conditions": [_condition("Failed", "False")]}, 'status.conditions.[0].status: Unsupported value: "False"'),
    ],
)
def test_a_request_is_answered(status: Object, told: str) -> None:
    found = reported(POD_REQUESTS, SPEC, status)
    assert [told in text for text in found] == [True] * bool(told)


def test_a_request_is_answered_once() -> None:
    assert reported(POD_REQUESTS, SPEC, GOOD, before=GOOD) == []
    (text,) = reported(POD_REQUESTS, SPEC, {"conditions": [_condition("Denied")]}, before=GOOD)
    assert text == "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"
