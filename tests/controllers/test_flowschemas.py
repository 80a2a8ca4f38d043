"""The status of a FlowSchema says whether its priority level is there."""

from __future__ import annotations

from typing import Any

from tests.conftest import Client
from tests.eventually import until

FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMA = {"metadata": {"name": "mine"}, "spec": {"priorityLevelConfiguration": {"name": "mine"}}}
LEVEL = {
    "metadata": {"name": "mine"},
    "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}},
}


def told(client: Client) -> dict[str, Any]:
    conditions = client.get(f"{FLOWS}/flowschemas/mine").body["status"].get("conditions")
    found: dict[str, Any] = conditions[0] if conditions else {}
    return found


def test_a_level_that_is_missing_or_comes_or_goes_is_told(client: Client) -> None:
    assert client.post(f"{FLOWS}/flowschemas", SCHEMA).status == 201
    until(lambda: told(client).get("status") == "True")
    assert told(client)["message"].endswith('named "mine" but there is no such object')
    entry = client.get(f"{FLOWS}/flowschemas/mine").body["metadata"]["managedFields"][0]
    assert (entry["manager"], entry["operation"]) == ("api-priority-and-fairness-config-consumer-v1", "Apply")

    assert client.post(f"{FLOWS}/prioritylevelconfigurations", LEVEL).status == 201
    until(lambda: told(client).get("reason") == "Found")
    assert told(client)["status"] == "False"
    client.send("DELETE", f"{FLOWS}/prioritylevelconfigurations/mine")
    until(lambda: told(client).get("reason") == "NotFound")
    client.send("DELETE", f"{FLOWS}/flowschemas/mine")


def test_what_is_there_from_the_start_is_not_written_again(client: Client) -> None:
    metadata = client.get(f"{FLOWS}/flowschemas/exempt").body["metadata"]
    assert metadata["generation"] == 1
    assert [entry["manager"] for entry in metadata["managedFields"]] == ["api-priority-and-fairness-config-producer-v1"]
