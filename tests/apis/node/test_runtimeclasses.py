"""RuntimeClasses: their tolerations."""

from __future__ import annotations

from tests.conftest import Client

CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


def test_tolerations_are_validated_as_those_of_pods_and_must_be_unique(client: Client) -> None:
    same = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
    tolerations = [{"key": "k", "operator": "X"}, {**same, "tolerationSeconds": 1}, {**same, "tolerationSeconds": 2}]
    body = {"metadata": {"name": "r"}, "handler": "h", "scheduling": {"tolerations": tolerations}}
    causes = client.post(CLASSES, body).body["details"]["causes"]
    assert [(cause["field"], cause["reason"]) for cause in causes] == [
        ("scheduling.tolerations[0].operator", "FieldValueNotSupported"),
        ("scheduling.tolerations[2]", "FieldValueDuplicate"),
    ]
