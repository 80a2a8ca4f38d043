"""ClusterTrustBundles. The texts are those of kube-apiserver 1.37."""

from __future__ import annotations

import pytest

from podless.apis.certificates.group import TRUST_BUNDLES
from tests.apis.certificates.pairs import make_certificate
from tests.apis.late import changed, faults

CA = make_certificate()
EMPTY = "-----BEGIN {0}-----\nAAAA\n-----END {0}-----\n"


@pytest.mark.parametrize(
    ("bundle", "told"),
    [
        (CA, None),
        (CA + make_certificate(), None),
        ("", "at least one trust anchor must be provided"),
        ("x", "at least one trust anchor must be provided"),
        (CA + CA, "duplicate trust anchor (indices [0 1])"),
        (make_certificate(ca=False), "entry 0 does not have the CA bit set"),
        (EMPTY.format("CERTIFICATE"), "entry 0 does not parse as X.509"),
        (CA + EMPTY.format("X"), "entry 1 has bad block type: X"),
        (CA.replace("E-----\n", "E-----\nA: b\n\n", 1), "entry 0 has PEM block headers"),
    ],
)
def test_a_bundle_has_certificates_of_authorities(bundle: str, told: str | None) -> None:
    found = faults(TRUST_BUNDLES, {"trustBundle": bundle})
    assert found == ([] if told is None else [f'spec.trustBundle: Invalid value: "<value omitted>": {told}'])


def test_a_bundle_is_bounded() -> None:
    (text,) = faults(TRUST_BUNDLES, {"trustBundle": "x" * ((1 << 20) + 1)})
    assert text == "spec.trustBundle: Too long: may not be more than 1048576 bytes"


@pytest.mark.parametrize(
    ("name", "signer", "told"),
    [
        ("example.com:s:a", "example.com/s", ""),
        ("a:b", "", 'ClusterTrustBundle without signer name must not have ":" in its name'),
        (
            "a",
            "example.com/s",
            "ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:",
        ),
        ("example.com:s:A_", "example.com/s", "a lowercase RFC 1123 subdomain must consist"),
    ],
)
def test_the_name_says_which_signer_it_is_for(name: str, signer: str, told: str) -> None:
    found = faults(TRUST_BUNDLES, {"trustBundle": CA, "signerName": signer}, name=name)
    assert [text.startswith(f'metadata.name: Invalid value: "{name}": {told}') for text in found] == [True] * bool(told)


def test_only_a_changed_bundle_is_read_again_and_the_signer_stays() -> None:
    assert changed(TRUST_BUNDLES, {"trustBundle": "x"}, {"trustBundle": "x"}) == []
    assert len(changed(TRUST_BUNDLES, {"trustBundle": "x"}, {"trustBundle": "y"})) == 1
    found = changed(TRUST_BUNDLES, {"trustBundle": CA}, {"trustBundle": CA, "signerName": "example.com/s"})
    assert found[-1] == 'spec.signerName: Invalid value: "example.com/s": field is immutable'
