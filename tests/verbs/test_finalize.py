"""The subresource finalize of namespaces, and the names of finalizers."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Client

NAMESPACES = "/api/v1/namespaces"
UNQUALIFIED = "name is neither a standard finalizer name nor is it fully qualified"


@pytest.fixture
def name(client: Client) -> str:
    made = f"n{uuid.uuid4().hex[:8]}"
    assert client.post(NAMESPACES, {"metadata": {"name": made}}).status == 201
    return made


def finalize(client: Client, name: str, held: list[str], **metadata: Any) -> Any:
    body = {"metadata": {"name": name, **metadata}, "spec": {"finalizers": held}, "status": {"phase": "Other"}}
    return client.send("PUT", f"{NAMESPACES}/{name}/finalize", body)


def test_finalizers_and_metadata_change_and_the_status_does_not(client: Client, name: str) -> None:
    answer = finalize(client, name, ["kubernetes", "a.b/c"], labels={"x": "y"})
    assert answer.status == 200
    assert answer.body["spec"] == {"finalizers": ["kubernetes", "a.b/c"]}
    assert answer.body["status"] == {"phase": "Active"}
    assert answer.body["metadata"]["labels"]["x"] == "y"
    owners = {
        field["subresource"]: field for field in answer.body["metadata"]["managedFields"] if "subresource" in field
    }
    assert "f:spec" in owners["finalize"]["fieldsV1"]


def test_the_last_finalizer_lets_a_namespace_go(client: Client, name: str) -> None:
    finalize(client, name, ["kubernetes", "a.b/c"])
    client.send("DELETE", f"{NAMESPACES}/{name}")
    assert finalize(client, name, []).status == 200
    assert client.get(f"{NAMESPACES}/{name}").status == 404


def test_names_of_finalizers_are_looked_at(client: Client, name: str) -> None:
    refused = finalize(client, name, ["", "x"])
    assert refused.status == 422
    causes = [(cause["field"], cause["message"]) for cause in refused.body["details"]["causes"]]
    assert ("spec.finalizers[1]", f'Invalid value: "x": {UNQUALIFIED}') in causes
    assert [field for field, _ in causes].count("spec.finalizers[0]") == 3


@pytest.mark.parametrize(
    ("kind", "more", "times"),
    [("configmaps", {}, 2), ("services", {"spec": {"type": "ExternalName", "externalName": "a.b"}}, 1)],
)
def test_finalizers_of_built_in_kinds_are_qualified(client: Client, kind: str, more: Any, times: int) -> None:
    place, name = f"{NAMESPACES}/default/{kind}", f"f{uuid.uuid4().hex[:8]}"
    refused = client.post(place, {"metadata": {"name": name, "finalizers": ["orphan", "mine"]}, **more})
    assert (refused.status, refused.body["details"]["causes"]) == (
        422,
        [
            {
                "reason": "FieldValueInvalid",
                "message": f'Invalid value: "mine": {UNQUALIFIED}',
                "field": "metadata.finalizers[1]",
            }
        ],
    )
    assert client.post(place, {"metadata": {"name": name}, **more}).status == 201
    changed = client.merge(f"{place}/{name}", {"metadata": {"finalizers": ["mine"]}})
    assert (changed.status, len(changed.body["details"]["causes"])) == (422, times)
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    assert client.post(leases, {"metadata": {"name": name, "finalizers": ["mine"]}}).status == 201
    client.merge(f"{leases}/{name}", {"metadata": {"finalizers": None}})
