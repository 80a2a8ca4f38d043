"""What the scale subresource asks of objects, and where it is told among other errors."""

from __future__ import annotations

from typing import Any

from podless.kinds.kind import Kind
from tests.kinds.test_kind import kind

SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
RULED = {
    "type": "object",
    "properties": {"replicas": {"type": "integer"}},
    "x-kubernetes-validations": [{"rule": "true"}],
}


def scaled() -> Kind:
    return kind("v1", subresources={"status": {}, "scale": SCALE}, status=RULED)


def paths(faults: Any) -> list[str]:
    return [str(fault).partition(":")[0] for fault in faults]


def test_scale_is_judged_after_values_and_before_it_is_said_that_rules_were_not() -> None:
    of = scaled()
    obj = {"spec": {"replicas": -1}, "status": {"replicas": "x"}}
    found = [*of.strategy.validate(of.versions[0], obj, None)]
    assert paths(found) == ["status.replicas", ".spec.replicas", ".status.replicas", "<nil>"]


def test_a_write_of_the_status_leaves_the_wanted_replicas_alone() -> None:
    of = scaled()
    old = {"spec": {"replicas": -1}, "status": {}}
    found = [*of.strategy.validate_status(of.versions[0], {**old, "status": {"replicas": "x"}}, old)]
    assert paths(found) == ["status.replicas", ".status.replicas", "<nil>"]
    assert not [*of.strategy.validate_status(of.versions[0], {**old, "status": {"replicas": 1}}, old)]
