"""DeviceClasses: devices that are alike."""

from __future__ import annotations

from podless.apis.resource.group import DEVICE_CLASSES
from tests.apis.late import changed, faults

LONG = {"config": [{"opaque": {"driver": "d", "parameters": {"a": "b" * 10240}}}]}


def test_rules() -> None:
    assert faults(DEVICE_CLASSES, {"selectors": [{}], "extendedResourceName": "cpu"}) == [
        "spec.selectors[0].cel: Required value",
        'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
    ]
    (text,) = faults(DEVICE_CLASSES, {"selectors": [{"cel": {"expression": "device.driver"}}]})
    assert text == (
        'spec.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type,'
        " not string"
    )


def test_what_is_told_as_before_may_be_long() -> None:
    assert len(faults(DEVICE_CLASSES, LONG)) == 1
    assert not changed(DEVICE_CLASSES, LONG, {**LONG, "extendedResourceName": "a.b/c"})


def test_of_a_prefix_only_the_name_is_checked() -> None:
    strategy = DEVICE_CLASSES.strategy
    assert not strategy.naming[True]("Bad_")
    assert strategy.naming[False]("x" * 254) == ["must be no more than 253 bytes"]
