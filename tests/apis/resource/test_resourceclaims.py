"""ResourceClaims and templates of them: what is wanted, and what was given."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.resource.group import RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from podless.runtime.jsonobject import Object
from tests.apis.late import changed, decoded, faults, reported

WANTED: Object = {"deviceClassName": "gpu"}
SPEC: Object = {
    "devices": {
        "requests": [
            {"name": "one", "exactly": WANTED},
            {"name": "any", "firstAvailable": [{"name": "big", **WANTED}, {"name": "small", **WANTED}]},
        ]
    }
}
DEVICE: Object = {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
GIVEN: Object = {"devices": {"results": [{"request": "any/big", **DEVICE}]}}
_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


def claim(**more: Any) -> Object:
    return {"devices": {**SPEC["devices"], **more}}


def request(**wanted: Any) -> Object:
    return {"devices": {"requests": [{"name": "one", "exactly": {**WANTED, **wanted}}]}}


def test_one_device_is_wanted_where_nothing_is_said() -> None:
    one, any_ = decoded(RESOURCE_CLAIMS, SPEC)["spec"]["devices"]["requests"]
    assert one["exactly"] == {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    assert [choice["count"] for choice in any_["firstAvailable"]] == [1, 1]
    assert "count" not in decoded(RESOURCE_CLAIMS, request(allocationMode="All"))["spec"]["devices"]["requests"][0]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (SPEC, ""),
        (request(count=-1), "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"),
        (
            request(allocationMode="All", count=2),
            "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is"
            " 'All'",
        ),
        (
            request(allocationMode="Some"),
            'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All",'
            ' "ExactCount"',
        ),
        (
            {"devices": {"requests": [{"name": "one"}]}},
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
        ),
        (
            {"devices": {"requests": [{"name": "one", "exactly": WANTED}] * 2}},
            'spec.devices.requests[1]: Duplicate value: "one"',
        ),
        (
            {"devices": {"requests": [{"name": "one", "exactly": WANTED}] * 33}},
            "spec.devices.requests: Too many: 33: must have at most 32 items",
        ),
        (
            request(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
            'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "b": must be empty for operator'
            " `Exists`",
        ),
        (
            claim(constraints=[{"requests": ["any/middle"], "matchAttribute": "a.b/c"}]),
            f'spec.devices.constraints[0].requests[0]: Invalid value: "any/middle": {_REFERENCE}',
        ),
        (
            claim(constraints=[{"matchAttribute": "name"}]),
            'spec.devices.constraints[0].matchAttribute: Invalid value: "name": a fully qualified name must be a domain'
            " and a name separated by a slash",
        ),
        (
            claim(config=[{"opaque": {"driver": "d", "parameters": [1]}}]),
            'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
        ),
        (
            claim(config=[{"opaque": {"driver": "d", "parameters": {"a": "b" * 10240}}}]),
            "spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes",
        ),
        (claim(config=[{}]), "spec.devices.config[0].opaque: Required value"),
    ],
)
def test_rules(spec: Object, wanted: str) -> None:
    assert faults(RESOURCE_CLAIMS, spec) == ([wanted] if wanted else [])


def test_a_claim_stays() -> None:
    assert not changed(RESOURCE_CLAIMS, SPEC, SPEC)
    assert not changed(RESOURCE_CLAIMS, {"devices": {}}, {"devices": {"requests": []}})
    (text,) = changed(RESOURCE_CLAIMS, SPEC, {})
    assert text == (
        'spec: Invalid value: {"Devices":{"Requests":null,"Constraints":null,"Config":null}}: field is immutable'
    )


def test_a_template_stays_and_has_little_metadata() -> None:
    assert faults(RESOURCE_CLAIM_TEMPLATES, {"metadata": {"name": "x", "labels": {"a": "b"}}, "spec": SPEC}) == [
        "spec.metadata.name: Forbidden: cannot be set"
    ]
    (text,) = changed(RESOURCE_CLAIM_TEMPLATES, {"spec": SPEC}, {"spec": {}})
    assert text.startswith('spec: Invalid value: {"Spec":{"Devices":{"Requests":null')


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ({"allocation": GIVEN}, ""),
        ({"allocation": GIVEN, "devices": [DEVICE]}, ""),
        (
            {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]},
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
        ),
        (
            {"devices": [DEVICE]},
            'status.devices[0]: Invalid value: {"Driver":"gpu.example.com","Pool":"node-1","Device":"gpu-0",'
            '"ShareID":""}: must be an allocated device in the claim',
        ),
        (
            {"allocation": {"devices": {"results": [{"request": "none", **DEVICE}]}}},
            f'status.allocation.devices.results[0].request: Invalid value: "none": {_REFERENCE}',
        ),
        (
            {"allocation": {"devices": {"results": [{"request": "one", **DEVICE, "shareID": "x"}]}}},
            'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID'
            " length: 1",
        ),
        (
            {"allocation": GIVEN, "devices": [{**DEVICE, "networkData": {"ips": ["10.0.0.1"]}}]},
            'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form,'
            " (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
        ),
        (
            {"allocation": GIVEN, "devices": [{**DEVICE, "networkData": {"ips": ["2001:DB8::1/64"]}}]},
            'status.devices[0].networkData.ips[0]: Invalid value: "2001:DB8::1/64": must be in canonical form'
            ' ("2001:db8::1/64")',
        ),
    ],
)
def test_what_is_given(status: Object, wanted: str) -> None:
    assert reported(RESOURCE_CLAIMS, SPEC, status) == ([wanted] if wanted else [])


def test_what_was_given_stays_and_of_what_is_given_back_nothing_is_told() -> None:
    before = {"allocation": GIVEN, "devices": [DEVICE]}
    (text,) = reported(RESOURCE_CLAIMS, SPEC, {"allocation": {"devices": {}}}, before)
    assert text.startswith('status.allocation: Invalid value: {"Devices":{"Results":null')
    status: Object = {"devices": [DEVICE]}
    assert not reported(RESOURCE_CLAIMS, SPEC, status, before)
    assert "devices" not in status
