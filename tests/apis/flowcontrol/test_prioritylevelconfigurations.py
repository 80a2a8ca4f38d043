"""Priority levels: what of them is judged, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from podless.apis.flowcontrol.group import FLOW_SCHEMAS, PRIORITY_LEVELS
from podless.kinds.kind import Kind
from tests.apis.late import faults, reported
from tests.conftest import Client

GROUP, LEVELS = "/apis/flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"
SHARES = "nominalConcurrencyShares"
KEEPS_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
LIMITED: dict[str, Any] = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}

ODD: dict[str, Any] = {
    "nominalConcurrencyShares": -3,
    "limitResponse": {"type": "Reject", "queuing": {"queues": 5}},
    "lendablePercent": 200,
    "borrowingLimitPercent": -1,
}


@pytest.mark.parametrize(
    ("name", "spec", "fields"),
    [
        (
            "x",
            {"type": "Limited", "limited": ODD},
            "limited.nominalConcurrencyShares limited.limitResponse.queuing limited.lendablePercent "
            "limited.borrowingLimitPercent",
        ),
        ("x", {"type": "Exempt"}, "type"),
        ("exempt", {"type": "Exempt"}, ""),
    ],
)
def test_rules(name: str, spec: dict[str, Any], fields: str) -> None:
    found = faults(PRIORITY_LEVELS, spec, name=name)
    assert [fault.partition(":")[0].removeprefix("spec.") for fault in found] == fields.split()


def test_the_annotation_of_v1beta3_is_rejected_in_v1() -> None:
    found = faults(PRIORITY_LEVELS, LIMITED, name="x", annotations={KEEPS_ZERO: ""})
    assert found == [f"metadata.annotations: Forbidden: annotation '{KEEPS_ZERO}' is forbidden"]


@pytest.mark.parametrize(
    ("shares", "annotations", "stored"),
    [({}, {}, 30), ({SHARES: 0}, {}, 30), ({SHARES: 5}, {KEEPS_ZERO: ""}, 5), ({SHARES: 0}, {KEEPS_ZERO: ""}, 0)],
)
def test_v1beta3_has_zero_shares_with_an_annotation_only(
    shares: dict[str, int], annotations: dict[str, str], stored: int
) -> None:
    limited = {"limitResponse": {"type": "Reject"}, **shares}
    metadata = {"name": "x", "annotations": {"a": "b", **annotations}}
    given = {"metadata": metadata, "spec": {"type": "Limited", "limited": limited}}
    with Server(tls=False, kubernetes_version="1.31", default_accounts=False) as server:
        client = Client(server.url, server.token)
        made = client.post(f"{GROUP}/v1beta3/{LEVELS}", given)
        new, old = (client.send("GET", f"{GROUP}/{version}/{LEVELS}/x") for version in ("v1", "v1beta3"))
    assert [value.body["spec"]["limited"][SHARES] for value in (made, new, old)] == [stored] * 3
    assert new.body["metadata"]["annotations"] == {"a": "b"}
    assert old.body["metadata"]["annotations"] == {"a": "b"} | ({} if stored else {KEEPS_ZERO: ""})
    assert [*old.body["metadata"]][-1] == "managedFields"


@pytest.mark.parametrize("kind", [FLOW_SCHEMAS, PRIORITY_LEVELS])
def test_conditions_have_types_of_their_own(kind: Kind) -> None:
    found = reported(kind, {}, {"conditions": [{"type": "A"}, {"type": "A"}, {"status": "True"}]})
    assert found == [
        'status.conditions[1].type: Duplicate value: "A"',
        "status.conditions[2].type: Required value: must not be empty",
    ]


@pytest.mark.parametrize(("release", "status"), [("1.31", 200), ("1.32", 404)])
def test_releases_before_1_32_serve_v1beta3(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        assert Client(server.url, server.token).send("GET", f"{GROUP}/v1beta3/flowschemas").status == status
