"""CertificateSigningRequests: usages, signer names and issued certificates."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from podless.apis.certificates.certificatesigningrequests import validate_signer_name
from podless.apis.certificates.group import SIGNING_REQUESTS
from tests.apis.late import faults, reported


def spec(**more: Any) -> dict[str, Any]:
    return {"request": "", "usages": ["client auth"], "signerName": "example.com/a", **more}


def test_duplicate_usages_are_reported_after_unknown_ones() -> None:
    found = faults(SIGNING_REQUESTS, spec(usages=["x", "x", "y"]))[1:]
    assert [text[:34].rpartition(":")[0] for text in found] == [
        "spec.usages[0]: Unsupported value", "spec.usages[1]: Unsupported value",
        "spec.usages[2]: Unsupported value", "spec.usages[1]: Duplicate value",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a_b.c_d/x", ['"a_b.c_d": validating label "a_b"']),
        ("example.com/a_b.c_d", ['"a_b.c_d": validating label "a_b"']),
        (f"example.com/{'a' * 253}.{'b' * 253}", []),
        (f"{'a.' * 126}a/{'a' * 253}.{'b' * 64}", ["may not be more than 571 bytes"]),
    ],
)
def test_the_first_wrong_label_of_a_signer_name_is_reported(name: str, wanted: list[str]) -> None:
    errors = [str(error) for error in validate_signer_name(name, "spec.signerName")]
    assert [part in error for part, error in zip(wanted, errors, strict=True)] == [True] * len(wanted)


def test_a_certificate_has_no_headers() -> None:
    body = base64.encodebytes(b"x").decode()
    block = f"-----BEGIN CERTIFICATE-----\nA: b\n\n{body}-----END CERTIFICATE-----\n"
    status = {"certificate": base64.b64encode(block.encode()).decode()}
    assert reported(SIGNING_REQUESTS, spec(), status)[-1] == (
        'status.certificate: Invalid value: "<certificate data>": no PEM block headers are permitted'
    )


_APPROVED = {"type": "Approved", "status": "True", "message": "a"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([{**_APPROVED, "message": "b"}], [_APPROVED]),
        ([_APPROVED, {**_APPROVED, "message": "b"}], [_APPROVED, {**_APPROVED, "message": "b"}]),
        ([], []),
    ],
)
def test_a_status_write_keeps_the_conditions_of_the_approver(given: list[Any], wanted: list[Any]) -> None:
    strategy, version = SIGNING_REQUESTS.strategy, SIGNING_REQUESTS.versions[0]
    old = {"metadata": {}, "spec": spec(), "status": {"conditions": [dict(_APPROVED)]}}
    obj = {"metadata": {}, "spec": spec(), "status": {"conditions": [dict(one) for one in given]}}
    strategy.prepare_status(version, obj, old)
    kept = [
        {name: condition[name] for name in ("type", "status", "message")} for condition in obj["status"]["conditions"]
    ]
    assert kept == wanted
