"""What becomes of dependants where the client does not say."""

from __future__ import annotations

import uuid
from typing import Any

from tests.conftest import Client

JOBS = "/apis/batch/v1/namespaces/default/jobs"


def job(name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
    head = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}}
    return {**head, "spec": {"template": {"spec": spec}}}


def test_pods_of_jobs_stay_and_the_client_is_warned(client: Client) -> None:
    assert client.post(JOBS, job("kept")).status == 201
    answer = client.send("DELETE", f"{JOBS}/kept")
    assert answer.status == 200
    assert "child pods are preserved by default" in answer.headers["Warning"]


def test_who_says_what_becomes_of_them_is_not(client: Client) -> None:
    assert client.post(JOBS, job("said")).status == 201
    answer = client.send("DELETE", f"{JOBS}/said", {"propagationPolicy": "Background"})
    assert answer.status == 200
    assert "Warning" not in answer.headers


def test_of_all_jobs_it_is_told_once(client: Client) -> None:
    for name in ("one", "two"):
        assert client.post(JOBS, job(name)).status == 201
    answer = client.send("DELETE", JOBS)
    assert answer.status == 200
    assert answer.headers["Warning"].count("child pods are preserved by default") == 1


def test_a_namespace_notes_how_what_it_owns_is_to_go(client: Client) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    client.post("/api/v1/namespaces", {"metadata": {"name": name}})
    gone = client.send("DELETE", f"/api/v1/namespaces/{name}?propagationPolicy=Foreground").body
    assert gone["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_seconds_are_written_as_an_integer(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    client.send("POST", path, {"metadata": {"name": "seconds"}})
    refused = client.send("DELETE", f"{path}/seconds", b'{"gracePeriodSeconds": 1.0}', Content_Type="application/json")
    assert refused.status == 400
    assert (
        "cannot unmarshal number 1.0 into Go struct field DeleteOptions.gracePeriodSeconds" in refused.body["message"]
    )


def test_who_wants_dependants_to_go_too_is_told_that_an_object_stays(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    client.send("POST", path, {"metadata": {"name": "held", "finalizers": ["a.b/c"]}})
    assert client.send("DELETE", f"{path}/held", {"orphanDependents": False}).status == 202
    assert client.send("DELETE", f"{path}/held", {"propagationPolicy": "Background"}).status == 200
    client.merge(f"{path}/held", {"metadata": {"finalizers": None}})
