"""DeviceTaintRules. The texts are those of kube-apiserver 1.37."""

from __future__ import annotations

from podless.apis.resource.group import DEVICE_TAINT_RULES
from podless.runtime.jsonobject import Object
from tests.apis.late import changed, decoded, faults, made, reported

TAINT: Object = {"key": "a", "effect": "NoSchedule"}


def test_rules() -> None:
    assert faults(DEVICE_TAINT_RULES, {"taint": TAINT, "deviceSelector": {"driver": "x.y", "device": "d"}}) == []
    found = faults(DEVICE_TAINT_RULES, {})
    assert [text.partition(":")[0] for text in found] == ["spec.taint.key", "spec.taint.key", "spec.taint.effect"]
    assert found[-1] == "spec.taint.effect: Required value"
    found = faults(DEVICE_TAINT_RULES, {"taint": TAINT, "deviceSelector": {"driver": "", "pool": "", "device": "_"}})
    places = ["spec.deviceSelector.driver", "spec.deviceSelector.pool", "spec.deviceSelector.device"]
    assert [text.partition(":")[0] for text in found] == places


def test_only_a_changed_effect_is_validated() -> None:
    odd = {"taint": TAINT | {"effect": "x"}}
    assert changed(DEVICE_TAINT_RULES, odd, odd) == []
    (text,) = changed(DEVICE_TAINT_RULES, {"taint": TAINT}, odd)
    assert text.startswith('spec.taint.effect: Unsupported value: "x"')


def test_a_taint_is_as_old_as_its_effect() -> None:
    early = {"timeAdded": "2020-01-01T00:00:00Z"}
    version, strategy = DEVICE_TAINT_RULES.by_version["v1"], DEVICE_TAINT_RULES.strategy
    old = made(DEVICE_TAINT_RULES, {"taint": TAINT | early})
    for effect, kept in (("NoSchedule", True), ("None", False)):
        obj = decoded(DEVICE_TAINT_RULES, {"taint": TAINT | early | {"effect": effect}})
        strategy.prepare_update(version, obj, old)
        assert (obj["spec"]["taint"]["timeAdded"] == early["timeAdded"]) is kept
    assert made(DEVICE_TAINT_RULES, {"taint": TAINT})["spec"]["taint"]["timeAdded"]


def test_a_status_has_few_conditions() -> None:
    condition = {"status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "R", "message": ""}
    many = [condition | {"type": f"c{place}"} for place in range(9)]
    assert reported(DEVICE_TAINT_RULES, {"taint": TAINT}, {"conditions": many[:8]}) == []
    (text,) = reported(DEVICE_TAINT_RULES, {"taint": TAINT}, {"conditions": many})
    assert text == "status.conditions: Too many: 9: must have at most 8 items"
