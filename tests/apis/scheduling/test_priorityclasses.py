"""PriorityClasses: their preemption policy."""

from __future__ import annotations

from tests.conftest import Client

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def test_an_empty_policy_is_missing(client: Client) -> None:
    answer = client.post(CLASSES, {"metadata": {"name": "p"}, "value": 1, "preemptionPolicy": ""})
    assert answer.body["details"]["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "preemptionPolicy"}
    ]
