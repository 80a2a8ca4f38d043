"""Leases and service accounts: what is their own."""

from __future__ import annotations

from tests.conftest import Client

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def test_an_update_makes_a_lease_that_is_not_there(client: Client) -> None:
    lease = {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": "put", "resourceVersion": "7"},
        "spec": {"holderIdentity": "me", "strategy": "x"},
    }
    made = client.send("PUT", f"{LEASES}/put", lease)
    assert (made.status, made.body["spec"]) == (201, {"holderIdentity": "me"})
    assert client.send("PUT", f"{LEASES}/put", lease).status == 409
    assert client.send("DELETE", f"{LEASES}/put").status == 200
    assert client.merge(f"{LEASES}/put", {"spec": {}}).status == 404


def test_a_deleted_account_is_shown_once_more(client: Client) -> None:
    account = {"metadata": {"name": "robot"}, "secrets": [{"name": "a", "kind": "Secret", "uid": "u"}]}
    made = client.post(ACCOUNTS, account).body
    assert made["secrets"] == [{"name": "a"}]
    gone = client.send("DELETE", f"{ACCOUNTS}/robot").body
    assert (gone["kind"], gone["metadata"]["uid"]) == ("ServiceAccount", made["metadata"]["uid"])
    assert int(gone["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


def test_an_annotation_that_goes_out_of_use_is_warned_of(client: Client) -> None:
    annotated = {"metadata": {"name": "old", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}}
    made = client.post(ACCOUNTS, annotated)
    assert "deprecated in v1.32+" in made.headers["Warning"]
    assert "Warning" not in client.merge(f"{ACCOUNTS}/old", {"secrets": [{"name": "a"}]}).headers
    client.send("DELETE", f"{ACCOUNTS}/old")


def test_a_missing_component_is_named_in_the_singular(client: Client) -> None:
    answer = client.get("/api/v1/componentstatuses/nope")
    assert (answer.status, answer.body["details"]["kind"]) == (404, "componentstatus")
    assert answer.body["message"] == 'componentstatus "nope" not found'


def test_components_are_a_list_without_a_revision(client: Client) -> None:
    assert "resourceVersion" not in client.get("/api/v1/componentstatuses").body["metadata"]


def test_the_flow_schemas_of_the_server_find_their_levels(client: Client) -> None:
    asked = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    rows = client.get("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", **asked).body["rows"]
    assert {row["cells"][5] for row in rows if row["cells"][0] in ("exempt", "catch-all")} == {"False"}


def test_a_job_that_is_only_tried_has_the_labels_that_it_would_be_read_with(client: Client) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
    job = {"metadata": {"name": "tried"}, "spec": {"template": {"spec": spec}}}
    made = client.post("/apis/batch/v1/namespaces/default/jobs?dryRun=All", job).body
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]


def test_a_deployment_of_an_earlier_group_is_known_and_of_another_version(client: Client) -> None:
    sent = {"apiVersion": "extensions/v1beta1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {}}
    told = client.post("/apis/apps/v1/namespaces/default/deployments", sent).body["message"]
    wanted = "does not match the expected API version (apps/v1)"
    assert told == f"the API version in the data (extensions/v1beta1) {wanted}"


def test_tables_and_bare_metadata_of_an_autoscaler_are_those_of_the_stored_version(client: Client) -> None:
    path = "namespaces/default/horizontalpodautoscalers"
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}
    pods = {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "1k"}}
    metrics = [{"type": "Resource", "resource": cpu}, {"type": "Pods", "pods": pods}]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 5, "metrics": metrics}
    assert client.post(f"/apis/autoscaling/v2/{path}", {"metadata": {"name": "two"}, "spec": spec}).status == 201
    old = f"/apis/autoscaling/v1/{path}/two"
    assert client.get(old).body["metadata"]["annotations"]
    table = client.get(old, Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    assert table["rows"][0]["cells"][2] == "cpu: <unknown>/60%, <unknown>/1k"
    bare = client.get(old, Accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io").body
    assert "annotations" not in bare["metadata"]
    assert client.send("DELETE", old).status == 200


def test_namespaces_are_selected_by_phase_alone(client: Client) -> None:
    refused = client.get("/api/v1/namespaces?fieldSelector=name%3Ddefault")
    assert (refused.status, refused.body["message"].split(": ")[-1]) == (400, "name")
    assert client.get("/api/v1/namespaces?fieldSelector=status.phase%3DActive").body["items"]


def test_each_change_of_a_csi_driver_counts(client: Client) -> None:
    place = "/apis/storage.k8s.io/v1/csidrivers"
    made = client.post(place, {"metadata": {"name": "counted"}, "spec": {}}).body
    assert "generation" not in made["metadata"]
    changed = client.merge(f"{place}/counted", {"spec": {"podInfoOnMount": True}}).body
    client.send("DELETE", f"{place}/counted")
    assert changed["metadata"]["generation"] == 1
