"""The document about subresources, sentence by sentence, as far as a server of today keeps what it proposed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.conftest import CRONTABS
from tests.clients.documents import SUBRESOURCES, Document, crontab, crontabs
from tests.conftest import CRDS, Client

pytestmark = pytest.mark.clients

OBJECTS = "/apis/stable.example.com/v1/namespaces/default/crontabs"
ONE = f"{OBJECTS}/my-new-cron-object"
_SPEC = {"type": "object", "properties": {"replicas": {"type": "integer"}, "image": {"type": "string"}}}
_STATUS = {
    "type": "object",
    "properties": {"replicas": {"type": "integer"}, "labelSelector": {"type": "string"}, "state": {"type": "string"}},
}
_SCHEMA = {"type": "object", "properties": {"spec": _SPEC, "status": _STATUS, "other": {"type": "integer"}}}
_SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


@pytest.fixture(autouse=True)
def document() -> Document:
    return Document(SUBRESOURCES)


def definition(schema: Any = _SCHEMA, **scale: Any) -> dict[str, Any]:
    made = crontabs(schema)
    made["spec"]["versions"][0]["subresources"] = {"status": {}, "scale": _SCALE | scale}
    return made


@pytest.fixture
def defined(client: Client) -> Iterator[Client]:
    assert client.post(CRDS, definition(labelSelectorPath=".status.labelSelector")).status == 201
    yield client
    client.send("DELETE", CRONTABS)
    while client.get(CRONTABS).status != 404:
        pass


def make(client: Client, **fields: Any) -> Any:
    return client.post(OBJECTS, crontab(**fields))


def test_status_changes_are_ignored_on_the_main_endpoint(defined: Client) -> None:
    made = make(defined, spec={"replicas": 1}, status={"state": "given"})
    assert made.status == 201
    assert "status" not in made.body
    defined.merge(f"{ONE}/status", {"status": {"state": "said"}})
    changed = defined.merge(ONE, {"spec": {"image": "new"}, "status": {"state": "other"}})
    assert (changed.status, changed.body["status"]) == (200, {"state": "said"})


def test_generation_counts_changes_of_what_is_wanted(defined: Client) -> None:
    assert make(defined, spec={"replicas": 1}).body["metadata"]["generation"] == 1
    assert defined.merge(ONE, {"spec": {"replicas": 2}}).body["metadata"]["generation"] == 2
    assert defined.merge(f"{ONE}/status", {"status": {"state": "x"}}).body["metadata"]["generation"] == 2
    assert defined.merge(ONE, {"metadata": {"labels": {"a": "b"}}}).body["metadata"]["generation"] == 2


def test_the_status_endpoint_takes_the_whole_object_and_only_its_status(defined: Client) -> None:
    obj = make(defined, spec={"replicas": 1}).body
    obj |= {"spec": {"replicas": 99}, "status": {"state": "said"}}
    obj["metadata"]["labels"] = {"not": "considered"}
    written = defined.send("PUT", f"{ONE}/status", obj)
    assert written.status == 200
    assert (written.body["spec"], written.body["status"]) == ({"replicas": 1}, {"state": "said"})
    assert "labels" not in written.body["metadata"]
    assert written.body["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]
    assert defined.get(f"{ONE}/status").body == defined.get(ONE).body


def test_the_status_is_validated_there_and_nothing_else(defined: Client) -> None:
    obj = make(defined, spec={"replicas": 1}).body
    refused = defined.send("PUT", f"{ONE}/status", obj | {"status": {"state": 7}})
    assert refused.status == 422
    assert "status.state: Invalid value" in refused.body["message"]
    assert defined.send("PUT", f"{ONE}/status", obj | {"other": "wrong", "status": {}}).status == 200


def test_junctors_at_the_root_are_forbidden(client: Client) -> None:
    for junctor in ("oneOf", "anyOf"):
        refused = client.post(CRDS, definition(_SCHEMA | {junctor: [{"required": ["spec"]}]}))
        assert refused.status == 422
        assert (
            "fields are allowed at the root of the schema if the status subresource is enabled"
            in refused.body["message"]
        )


def test_scale_is_read_and_only_its_replicas_are_written(defined: Client) -> None:
    make(defined, spec={"replicas": 3})
    defined.merge(f"{ONE}/status", {"status": {"replicas": 2, "labelSelector": "app=cron"}})
    scale = defined.get(f"{ONE}/scale").body
    assert (scale["spec"], scale["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "app=cron"})
    assert scale["metadata"]["resourceVersion"] == defined.get(ONE).body["metadata"]["resourceVersion"]
    scale["spec"]["replicas"] = 5
    scale["status"] = {"replicas": 77, "selector": "other=1"}
    assert defined.send("PUT", f"{ONE}/scale", scale).body["spec"] == {"replicas": 5}
    obj = defined.get(ONE).body
    assert (obj["spec"], obj["status"]) == ({"replicas": 5}, {"replicas": 2, "labelSelector": "app=cron"})
    outdated = defined.send("PUT", f"{ONE}/scale", scale)
    assert (outdated.status, outdated.body["reason"]) == (409, "Conflict")


def test_replicas_are_not_negative(defined: Client) -> None:
    make(defined, spec={"replicas": 3})
    scale = defined.get(f"{ONE}/scale").body
    scale["spec"]["replicas"] = -1
    assert defined.send("PUT", f"{ONE}/scale", scale).status == 422
    assert defined.merge(ONE, {"spec": {"replicas": -1}}).status == 422


def test_a_scale_without_replicas_is_an_error_and_without_status_is_none(defined: Client) -> None:
    make(defined, spec={})
    refused = defined.get(f"{ONE}/scale")
    assert refused.status == 500
    assert 'the spec replicas field ".spec.replicas" does not exist' in refused.body["message"]
    defined.merge(ONE, {"spec": {"replicas": 1}})
    assert defined.get(f"{ONE}/scale").body["status"] == {"replicas": 0}


def test_no_other_subresource_and_only_some_verbs(defined: Client) -> None:
    make(defined, spec={"replicas": 1})
    assert defined.get(f"{ONE}/log").status == 404
    assert defined.send("DELETE", f"{ONE}/status").status == 405
    assert defined.post(f"{ONE}/scale", {}).status == 405


def test_paths_are_below_spec_and_status(client: Client) -> None:
    for scale in (
        {"specReplicasPath": ".status.replicas"},
        {"specReplicasPath": "spec.replicas"},
        {"statusReplicasPath": ".spec.replicas"},
        {"labelSelectorPath": ".metadata.labels"},
    ):
        assert client.post(CRDS, definition(**scale)).status == 422, scale
