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
