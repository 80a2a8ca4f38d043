"""StorageClasses: the order of errors, and allowed topologies."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.storage.group import CSI_STORAGE_CAPACITIES, STORAGE_CLASSES
from podless.meta import field
from tests.conftest import Client

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


def faults(**given: Any) -> list[str]:
    version = STORAGE_CLASSES.versions[0]
    head = {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "c"}, "provisioner": "p"}
    obj = STORAGE_CLASSES.strategy.decode(STORAGE_CLASSES, version, {**head, **given}, [])
    return [str(error) for error in STORAGE_CLASSES.strategy.validate(version, obj, None)]


def term(*keys: str) -> dict[str, Any]:
    return {"matchLabelExpressions": [{"key": key, "values": ["v"]} for key in keys]}


@pytest.mark.parametrize(
    ("terms", "wanted"),
    [
        ([term()], [0]),
        ([term("a"), term()], [1, 1]),
        ([term("a"), term("b"), term("a"), term("a")], [2, 3, 3]),
        ([term("a")] * 400, field.MAX),
    ],
)
def test_a_term_is_reported_for_each_equal_one_before_it(terms: list[Any], wanted: Any) -> None:
    """An empty term is reported once more for each term of the class."""
    found = faults(allowedTopologies=terms)
    if isinstance(wanted, int):
        assert len(found) == wanted
    else:
        assert found == [f'allowedTopologies[{place}].matchLabelExpressions: Duplicate value: ""' for place in wanted]


def test_a_repeated_key_is_reported_after_its_name() -> None:
    found = faults(allowedTopologies=[term("a b", "a b")])
    assert [text.partition(": ")[2].partition(":")[0] for text in found] == ["Invalid value"] * 2 + ["Duplicate value"]


def test_changes_are_reported_after_what_is_invalid(client: Client) -> None:
    client.post(CLASSES, {"metadata": {"name": "changed"}, "provisioner": "p"})
    change = {"provisioner": "a b", "parameters": {"a": "b"}, "volumeBindingMode": "X"}
    causes = client.merge(f"{CLASSES}/changed", change).body["details"]["causes"]
    assert [(cause["field"], cause["reason"]) for cause in causes] == [
        ("provisioner", "FieldValueInvalid"),
        ("volumeBindingMode", "FieldValueNotSupported"),
        ("parameters", "FieldValueInvalid"),
        ("provisioner", "FieldValueInvalid"),
        ("volumeBindingMode", "FieldValueInvalid"),
    ]


_ZONE = "failure-domain.beta.kubernetes.io/zone"
_GONE = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'


def test_deprecated_labels_are_told() -> None:
    obj = {"allowedTopologies": [term("a"), term("b", _ZONE)]}
    assert STORAGE_CLASSES.strategy.list_warnings(STORAGE_CLASSES.versions[0], obj, None) == [
        f"allowedTopologies[1].matchLabelExpressions[1].key: {_GONE}"
    ]
    selector = {"matchExpressions": [{"key": _ZONE, "operator": "Exists"}], "matchLabels": {_ZONE: "a", "b": "c"}}
    version = CSI_STORAGE_CAPACITIES.versions[0]
    assert CSI_STORAGE_CAPACITIES.strategy.list_warnings(version, {"nodeTopology": selector}, None) == [
        f"nodeTopology.matchExpressions[0].key: {_ZONE} is {_GONE}",
        f"nodeTopology.matchLabels.{_ZONE}: {_GONE}",
    ]
    assert not CSI_STORAGE_CAPACITIES.strategy.list_warnings(version, {}, None)
