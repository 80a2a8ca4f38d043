"""Claims of volumes: where their contents come from is said in two ways, and both are kept in step."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from tests.conftest import Client

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "one"}
OTHER = {"apiGroup": "a.example.com", "kind": "Other", "name": "one"}


def claim(**spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"generateName": "claim-"}, "spec": wanted | spec}


def sources(body: dict[str, Any]) -> list[Any]:
    return [body["spec"].get(name) for name in ("dataSource", "dataSourceRef")]


def test_a_source_that_never_was_one_is_dropped_where_it_is_said_in_the_old_way_alone(client: Client) -> None:
    assert sources(client.post(CLAIMS, claim(dataSource=SNAPSHOT)).body) == [SNAPSHOT, SNAPSHOT]
    assert sources(client.post(CLAIMS, claim(dataSource=OTHER)).body) == [None, None]
    assert sources(client.post(CLAIMS, claim(dataSourceRef=OTHER)).body) == [OTHER, OTHER]
    refused = client.post(CLAIMS, claim(dataSource=OTHER, dataSourceRef=SNAPSHOT))
    assert refused.status == 422, refused.body
    assert "must match dataSourceRef" in refused.body["message"]


def test_a_source_in_another_namespace_is_dropped_from_a_new_claim_and_refused_for_one_that_has_a_source(
    client: Client,
) -> None:
    elsewhere = SNAPSHOT | {"namespace": "other"}
    assert sources(client.post(CLAIMS, claim(dataSourceRef=elsewhere)).body) == [None, None]
    made = client.post(CLAIMS, claim(dataSourceRef=SNAPSHOT)).body
    made["spec"]["dataSourceRef"] = elsewhere
    refused = client.send("PUT", f"{CLAIMS}/{made['metadata']['name']}", made)
    assert refused.status == 422, refused.body


def test_the_group_of_a_source_is_judged_while_there_is_none(client: Client) -> None:
    odd = SNAPSHOT | {"apiGroup": "A_b"}
    assert "spec.dataSourceRef.apiGroup" in client.post(CLAIMS, claim(dataSourceRef=odd)).body["message"]
    made = client.post(CLAIMS, claim(dataSourceRef=SNAPSHOT)).body
    made["spec"] |= {"dataSource": odd, "dataSourceRef": odd}
    refused = client.send("PUT", f"{CLAIMS}/{made['metadata']['name']}", made)
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["spec"]


def test_a_class_of_attributes_stays_once_it_is_applied(client: Client) -> None:
    made = client.post(CLAIMS, claim(volumeAttributesClassName="gold")).body["metadata"]["name"]
    path = f"{CLAIMS}/{made}"
    client.merge(f"{path}/status", {"status": {"phase": "Bound"}})
    gone = {"spec": {"volumeAttributesClassName": None}}
    assert "volumeAttributesClassName" not in client.merge(path, gone).body["spec"]
    client.merge(path, {"spec": {"volumeAttributesClassName": "gold"}})
    client.merge(f"{path}/status", {"status": {"currentVolumeAttributesClassName": "gold"}})
    for name, told in ((None, "nil"), ("", "empty string")):
        (cause,) = client.merge(path, {"spec": {"volumeAttributesClassName": name}}).body["details"]["causes"]
        assert cause["message"] == (
            f"Forbidden: update to {told} is forbidden when status.currentVolumeAttributesClassName is not nil"
        )
    assert client.merge(path, {"spec": {"volumeAttributesClassName": "iron"}}).status == 200


def test_states_of_resizes(client: Client) -> None:
    name = client.post(CLAIMS, claim()).body["metadata"]["name"]
    wrong = {"status": {"allocatedResourceStatuses": {"cpu": "Done"}}}
    causes = client.merge(f"{CLAIMS}/{name}/status", wrong).body["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["status.allocatedResourceStatuses"] * 2


@pytest.mark.parametrize(("release", "said"), [("1.31", ["previous value"]), ("1.32", [])])
def test_bound_claims_shrink_to_recover_where_the_gate_is_on(release: str, said: list[str]) -> None:
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        client = Client(server.url, server.token)
        path = f"{CLAIMS}/{client.post(CLAIMS, claim()).body['metadata']['name']}"
        client.merge(f"{path}/status", {"status": {"phase": "Bound", "capacity": {"storage": "1Mi"}}})
        answer = client.merge(path, {"spec": {"resources": {"requests": {"storage": "1Ki"}}}})
        causes = [cause["message"] for cause in answer.body["details"]["causes"]]
        assert causes == [f"Forbidden: field can not be less than {(said or ['status.capacity'])[0]}"]
        answer = client.merge(path, {"spec": {"resources": {"requests": {"storage": "512Mi"}}}})
        causes = [cause["message"] for cause in answer.body.get("details", {}).get("causes", [])]
        assert causes == [f"Forbidden: field can not be less than {text}" for text in said]
