"""ReplicationControllers: what they take from their template, and that their pods outlive them."""

from __future__ import annotations

from typing import Any

from podless.apis.core.group import REPLICATION_CONTROLLERS
from tests.apis.late import decoded, faults, made, template
from tests.conftest import Client

PATH = "/api/v1/namespaces/default/replicationcontrollers"


def test_labels_of_the_template_are_taken_over() -> None:
    obj = decoded(REPLICATION_CONTROLLERS, {"template": template()})
    assert obj["spec"]["selector"] == {"app": "web"}
    assert obj["metadata"]["labels"] == {"app": "web"}
    assert obj["spec"]["replicas"] == 1


def test_rules() -> None:
    assert not faults(REPLICATION_CONTROLLERS, {"template": template()})
    assert faults(REPLICATION_CONTROLLERS, {}) == [
        "spec.selector: Required value",
        "spec.template: Required value",
    ]
    assert faults(REPLICATION_CONTROLLERS, {"selector": {"a": "b"}, "template": template()}) == [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'
    ]


def test_labels_that_are_none_are_selected_all_the_same() -> None:
    labels = {"a": "b c"}
    found = faults(
        REPLICATION_CONTROLLERS, {"selector": labels, "template": {**template(), "metadata": {"labels": labels}}}
    )
    assert [one.partition(": a valid")[0] for one in found] == ['spec.template.labels: Invalid value: "b c"']


def test_selected_by_their_replicas() -> None:
    version = REPLICATION_CONTROLLERS.versions[0]
    obj = made(REPLICATION_CONTROLLERS, {"template": template()})
    assert REPLICATION_CONTROLLERS.strategy.read_selectable_fields(version, obj) == {"status.replicas": "0"}


def test_scale_and_delete(client: Client) -> None:
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc"}}
    assert client.post(PATH, {**obj, "spec": {"template": template()}}).status == 201
    assert client.get(f"{PATH}/rc/scale").body["status"]["selector"] == "app=web"
    gone = client.send("DELETE", f"{PATH}/rc", {"dryRun": ["All"]})
    assert gone.body["metadata"]["finalizers"] == ["orphan"]
    assert "Warning" not in gone.headers
    assert client.send("DELETE", f"{PATH}/rc", {"propagationPolicy": "Background"}).body["status"] == "Success"


def test_a_change_warns_of_what_was_there(client: Client) -> None:
    def controller(times: int) -> dict[str, Any]:
        env = [{"name": "A", "value": "1"}] * times
        given = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i", "env": env}]}}
        return {"metadata": {"name": "warned"}, "spec": {"template": given}}

    assert "env[1]" in client.post(PATH, controller(2)).headers["Warning"]
    assert "env[1]" in client.send("PUT", f"{PATH}/warned", controller(1)).headers["Warning"]
    assert "Warning" not in client.send("PUT", f"{PATH}/warned", controller(2)).headers
