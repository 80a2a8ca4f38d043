"""ResourceSlices: the devices that drivers offer."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.resource.group import RESOURCE_SLICES
from podless.runtime.jsonobject import Object
from tests.apis.late import changed, decoded, faults, made

POOL: Object = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
SPEC: Object = {"driver": "gpu.example.com", "pool": POOL, "nodeName": "node-1"}
_ONE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def device(**more: Any) -> Object:
    return {**SPEC, "devices": [{"name": "gpu-0", **more}]}


def memory(value: str, **policy: Any) -> Object:
    return device(allowMultipleAllocations=True, capacity={"memory": {"value": value, "requestPolicy": policy}})


_POLICY = "spec.devices[0].capacity[memory].requestPolicy"


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (SPEC, ""),
        (device(attributes={"model": {"string": "a"}, "x.y/z": {"version": "1.2.3-rc.1+5"}}), ""),
        (
            {**SPEC, "allNodes": True},
            f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {_ONE}, but multiple fields are set',
        ),
        ({"driver": "d", "pool": POOL}, f"spec: Required value: {_ONE}"),
        (
            {**SPEC, "pool": {**POOL, "resourceSliceCount": 0}},
            "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        ),
        (
            {**SPEC, "devices": [], "sharedCounters": []},
            'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
        ),
        (
            {**SPEC, "devices": [{"name": f"d{n}"} for n in range(129)]},
            "spec.devices: Too many: 129: must have at most 128 items",
        ),
        (
            {**SPEC, "devices": [{"name": f"d{n}", "taints": [{"key": "a", "effect": "None"}]} for n in range(65)]},
            "spec.devices: Too many: 65: must have at most 64 items",
        ),
        (
            device(attributes={"model": {"int": 1, "bool": True}}),
            'spec.devices[0].attributes[model]: Invalid value: {"IntValue":1,"BoolValue":true,"StringValue":null,'
            '"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly'
            " one value must be specified",
        ),
        (
            device(attributes={"v": {"version": "1.02.3"}}),
            'spec.devices[0].attributes[v].version: Invalid value: "1.02.3": must be a string compatible with'
            " semver.org spec 2.0.0",
        ),
        (
            device(attributes={"/v": {"int": 1}}),
            'spec.devices[0].attributes: Invalid value: "": the domain must not be empty',
        ),
        (
            device(nodeName="n"),
            "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if"
            " `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
        ),
        (
            device(bindingConditions=["a"], bindingFailureConditions=["a"]),
            'spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap'
            " with bindingConditions",
        ),
        (
            device(capacity={"memory": {"value": "1", "requestPolicy": {"default": "1"}}}),
            f"{_POLICY}: Forbidden: allowMultipleAllocations must be true",
        ),
        (memory("10Gi", default="1Gi", validValues=["1Gi", "2Gi"]), ""),
        (
            memory("10Gi", default="3Gi", validValues=["1Gi", "2Gi"]),
            f'{_POLICY}.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy',
        ),
        (
            memory("10", validRange={"min": "1"}),
            f"{_POLICY}.default: Required value: required when validRange is defined",
        ),
        (
            memory("10", default="4", validRange={"min": "1", "step": "2"}),
            f'{_POLICY}.validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)',
        ),
    ],
)
def test_rules(spec: Object, wanted: str) -> None:
    assert faults(RESOURCE_SLICES, spec) == ([wanted] if wanted else [])


def test_a_step_of_nothing_is_no_crash() -> None:
    (text,) = faults(RESOURCE_SLICES, memory("10", default="4", validRange={"min": "1", "step": "0"}))
    assert "not a multiple" in text


def test_it_stays_of_one_driver_pool_and_node() -> None:
    other = {"driver": "d", "pool": {**POOL, "name": "p"}, "nodeName": "n"}
    assert changed(RESOURCE_SLICES, SPEC, other) == [
        'spec.pool.name: Invalid value: "p": field is immutable',
        'spec.driver: Invalid value: "d": field is immutable',
        'spec.nodeName: Invalid value: "n": field is immutable',
    ]


def test_what_is_of_features_that_are_off_is_dropped() -> None:
    spec = made(RESOURCE_SLICES, device(attributes={"a": {"int": 1, "ints": [1]}}, nodeAllocatableResourceMappings={}))
    assert spec["spec"]["devices"] == [{"name": "gpu-0", "attributes": {"a": {"int": 1}}}]


def test_a_taint_is_of_now() -> None:
    (taint,) = decoded(RESOURCE_SLICES, device(taints=[{"key": "a", "effect": "None"}]))["spec"]["devices"][0]["taints"]
    assert taint["timeAdded"].endswith("Z")


def test_a_driver_in_capitals_is_warned_of() -> None:
    obj = made(RESOURCE_SLICES, {**SPEC, "driver": "GPU"})
    assert RESOURCE_SLICES.strategy.list_warnings(RESOURCE_SLICES.by_version["v1"], obj, None) == [
        'spec.driver: driver names should be lowercase; "GPU" contains uppercase characters'
    ]
