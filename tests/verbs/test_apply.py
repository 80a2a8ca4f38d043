"""Server-side apply through a server in memory."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from podless.kinds.state import State
from podless.store import Operation, Record, RevisionConflict, keys
from podless.verbs import storage
from tests.conftest import CRDS, Answer, Client, definition, gadget

APPLY = "application/apply-patch+yaml"


@pytest.fixture
def group(client: Client) -> str:
    """A group of its own with a namespaced kind, gadgets, that has both subresources and two versions."""
    name = f"g{uuid.uuid4().hex[:8]}.example.com"
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    made = definition(name, subresources={"status": {}, "scale": scale})
    made["spec"]["versions"].append(dict(made["spec"]["versions"][0], name="v2", storage=False))
    assert client.post(CRDS, made).status == 201
    return name


def path(group: str, name: str = "a", version: str = "v1") -> str:
    return f"/apis/{group}/{version}/namespaces/default/gadgets/{name}"


def apply(client: Client, place: str, body: Any, manager: str = "alpha", **query: str) -> Answer:
    text = "&".join(f"{key}={value}" for key, value in {"fieldManager": manager, **query}.items() if value)
    return client.send("PATCH", f"{place}?{text}", body, Content_Type=APPLY)


def owners(answer: Answer) -> list[tuple[str, str, str]]:
    """manager, operation and subresource of every entry."""
    entries = answer.body["metadata"].get("managedFields", [])
    return [(entry["manager"], entry["operation"], entry.get("subresource", "")) for entry in entries]


def test_an_apply_makes_the_object_and_changes_it(client: Client, group: str) -> None:
    made = apply(client, path(group), gadget(group, "a", spec={"size": 1}))
    assert (made.status, made.body["spec"], owners(made)) == (201, {"size": 1}, [("alpha", "Apply", "")])
    again = apply(client, path(group), gadget(group, "a", spec={"size": 1}))
    assert (again.status, again.body) == (200, made.body)
    changed = apply(client, path(group), gadget(group, "a", spec={"size": 2}))
    assert (changed.body["spec"], changed.body["metadata"]["generation"]) == ({"size": 2}, 2)


def test_others_are_told_of_conflicts_and_may_force(client: Client, group: str) -> None:
    apply(client, path(group), gadget(group, "a", spec={"size": 1}))
    refused = apply(client, path(group), gadget(group, "a", spec={"size": 2}), "beta")
    assert (refused.status, refused.body["reason"]) == (409, "Conflict")
    assert refused.body["details"]["causes"][0]["field"] == ".spec.size"
    forced = apply(client, path(group), gadget(group, "a", spec={"size": 2}), "beta", force="true")
    assert (forced.status, forced.body["spec"]) == (200, {"size": 2})
    assert owners(forced) == [("alpha", "Apply", ""), ("beta", "Apply", "")]  # alpha still owns the spec itself


def test_an_apply_that_is_tried_again_owns_only_what_was_applied(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    port = {"name": {"type": "string"}, "protocol": {"type": "string", "default": "TCP"}}
    items = {"type": "object", "required": ["name"], "properties": port}
    ports = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    schema = {"type": "object", "properties": {"size": {"type": "integer"}, "ports": ports}}
    assert client.post(CRDS, definition(group, schema={"openAPIV3Schema": schema})).status == 201
    assert apply(client, path(group), gadget(group, "a", size=1)).status == 201
    overtaken: list[int] = []
    really = storage.commit_operations

    async def commit(api: State, operations: list[Operation]) -> int:
        key = operations[0].key
        if group not in key or overtaken:
            return await really(api, operations)
        collection = api.cache.find_collection(keys.prefix_of(key))
        assert collection is not None
        entry = collection.get(key)
        assert entry is not None
        overtaken.append(entry.revision)
        raise RevisionConflict(key, Record(key, entry.stored, entry.revision, entry.created))

    monkeypatch.setattr(storage, "commit_operations", commit)
    made = apply(client, path(group), gadget(group, "a", ports=[{"name": "http"}]), "beta")
    assert overtaken
    assert (made.status, made.body["size"]) == (200, 1)
    assert made.body["ports"] == [{"name": "http", "protocol": "TCP"}]
    (owned,) = (entry["fieldsV1"] for entry in made.body["metadata"]["managedFields"] if entry["manager"] == "beta")
    assert owned == {"f:ports": {'k:{"name":"http"}': {".": {}, "f:name": {}}}}


def test_ordinary_writes_own_fields_too(client: Client, group: str) -> None:
    made = client.post(path(group, "").rstrip("/"), gadget(group, "a", spec={"size": 1}))
    assert [operation for _, operation, _ in owners(made)] == ["Update"]
    merged = client.merge(f"{path(group)}?fieldManager=editor", {"spec": {"size": 2}})
    assert ("editor", "Update", "") in owners(merged)
    refused = apply(client, path(group), gadget(group, "a", spec={"size": 3}))
    assert 'conflict with "editor" using ' in refused.body["message"]


def test_the_status_is_applied_apart(client: Client, group: str) -> None:
    apply(client, path(group), gadget(group, "a", spec={"size": 1}, status={"ready": True}))
    status = apply(
        client, f"{path(group)}/status", gadget(group, "a", spec={"size": 9}, status={"ready": True}), "beta"
    )
    assert (status.body["spec"], status.body["status"]) == ({"size": 1}, {"ready": True})
    assert owners(status) == [("alpha", "Apply", ""), ("beta", "Apply", "status")]
    assert apply(client, f"{path(group, 'none')}/status", gadget(group, "none", status={})).status == 404


def test_scaling_takes_the_replicas(client: Client, group: str) -> None:
    apply(client, path(group), gadget(group, "a", spec={"replicas": 1, "size": 1}))
    client.merge(f"{path(group)}/scale?fieldManager=scaler", {"spec": {"replicas": 3}})
    assert owners(client.get(path(group))) == [("alpha", "Apply", ""), ("scaler", "Update", "scale")]
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}}
    refused = apply(client, f"{path(group)}/scale", scale | {"spec": {"replicas": 5}})
    assert (refused.status, refused.body["details"]["causes"][0]["field"]) == (409, ".spec.replicas")
    failed = apply(client, f"{path(group)}/scale", scale | {"spec": {"replicas": 5}}, force="true")
    assert failed.status == 500
    assert failed.body["message"].endswith("request to convert CR to an invalid group/version: autoscaling/v1")
    shared = apply(client, f"{path(group)}/scale", scale | {"spec": {"replicas": 3}})
    assert (shared.status, shared.body["spec"]) == (200, {"replicas": 3})


def test_an_applier_is_one_in_all_versions(client: Client, group: str) -> None:
    apply(client, path(group), gadget(group, "a", spec={"size": 1, "color": "red"}))
    body = gadget(group, "a", spec={"color": "red"}) | {"apiVersion": f"{group}/v2"}
    other = apply(client, path(group, version="v2"), body)
    assert (other.body["spec"], len(owners(other))) == ({"color": "red"}, 1)


def test_a_dry_run_writes_nothing(client: Client, group: str) -> None:
    tried = apply(client, path(group), gadget(group, "a", spec={"size": 1}), dryRun="All")
    assert (tried.status, owners(tried)) == (201, [("alpha", "Apply", "")])
    assert client.get(path(group)).status == 404


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        ({"kind": "Other"}, 400, "invalid object type: {group}/v1, Kind=Other"),
        ({"apiVersion": "a/b/c"}, 400, "invalid object type: /, Kind="),
        ({"apiVersion": 1}, 400, "invalid object type: /, Kind=Gadget"),
        ({"metadata": {"name": "b"}}, 400, "the name of the object (b) does not match the name on the URL (a)"),
        ({"metadata": None}, 400, "the name of the object (a based on URL) was undeterminable"),
        ({"metadata": {"generateName": "a-"}}, 400, "name must be provided"),
        ({"metadata": {"name": "a", "namespace": "x"}}, 400, "the namespace of the provided object does not match"),
        ({"metadata": {"name": "a", "managedFields": []}}, 400, "metadata.managedFields must be nil"),
        ({"metadata": {"name": "a", "managedFields": [{"time": None}]}}, 400, "metadata.managedFields must be nil"),
        ({"metadata": {"name": "a", "managedFields": [{"operation": 1.5}]}}, 500, "operation: expected string, got"),
        (
            {"metadata": {"name": "a", "managedFields": [1]}},
            500,
            ".metadata.managedFields[0]: expected map, got &{{1}}",
        ),
        ({"metadata": {"name": "a", "uid": "u"}}, 409, "uid mismatch: the provided object specified uid u, and no"),
        ({"metadata": {"name": "a", "labels": []}}, 500, "failed to create typed patch object (/a; {group}/v1, Kind="),
        ({"metadata": "text"}, 500, ".metadata: expected map, got &{{text}}"),
        ({"metadata": {"name": "a", "resourceVersion": "x"}}, 500, 'strconv.ParseUint: parsing "x": invalid syntax'),
    ],
)
def test_what_is_refused(client: Client, group: str, change: Any, status: int, text: str) -> None:
    answer = apply(client, path(group), gadget(group, "a") | change)
    assert answer.status == status
    assert text.format(group=group) in answer.body["message"]
    assert client.get(path(group)).status == 404


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "invalid object type: /, Kind="),
        (b"{}", "invalid object type: /, Kind="),
        (b"a: [", "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find"),
        (b"{", "error decoding YAML: error converting YAML to JSON: yaml: "),
        (b"[]", "while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (b"text", "while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}"),
    ],
)
def test_bodies_that_are_no_object(client: Client, group: str, body: bytes, text: str) -> None:
    answer = apply(client, path(group), body)
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert text in answer.body["message"]


def test_repeated_keys(client: Client, group: str) -> None:
    text = f"apiVersion: {group}/v1\nkind: Gadget\nmetadata: {{name: a}}\nspec:\n  size: 1\n  size: 2\n".encode()
    warned = apply(client, path(group), text)
    assert (warned.status, warned.body["spec"]) == (201, {"size": 2})
    assert warned.headers["Warning"] == '299 - "line 6: key \\"size\\" already set in map"'
    refused = apply(client, path(group), text, fieldValidation="Strict")
    assert refused.body["message"].startswith("error strict decoding YAML: error converting YAML to JSON: yaml: ")


def test_options(client: Client, group: str) -> None:
    refused = apply(client, path(group), gadget(group, "a"), "", dryRun="None")
    causes = refused.body["details"]["causes"]
    assert (refused.status, [cause["field"] for cause in causes]) == (422, ["fieldManager", "dryRun"])


def test_built_in_kinds_are_applied(client: Client) -> None:
    name = f"c{uuid.uuid4().hex[:8]}"
    place = f"/api/v1/namespaces/default/configmaps/{name}"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1", "b": "2"}}
    assert apply(client, place, body).status == 201
    changed = apply(client, place, body | {"data": {"b": "3"}})
    assert (changed.body["data"], owners(changed)) == ({"b": "3"}, [("alpha", "Apply", "")])
    assert client.send("DELETE", place).status == 200


def test_a_custom_object_is_judged_before_it_is_pruned(client: Client) -> None:
    """What the schema does not know counts as a change, a null that it does not allow is dropped or refused."""
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    made = definition(group)
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    properties = {"any": {"x-kubernetes-preserve-unknown-fields": True}, "e": embedded, "n": {"type": "integer"}}
    schema: Any = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    schema["x-kubernetes-preserve-unknown-fields"] = True
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    assert client.post(CRDS, made).status == 201
    apply(client, path(group), gadget(group, "a", spec={"n": 1}))
    changed = apply(client, path(group), gadget(group, "a", spec={"n": 1, "other": 1}))
    assert (changed.body["spec"], changed.body["metadata"]["generation"]) == ({"n": 1}, 2)
    nulls = apply(client, path(group), gadget(group, "a", spec={"any": None}))
    assert (nulls.status, nulls.body["spec"]) == (200, {})
    refused = apply(client, path(group), gadget(group, "a", spec={"n": None, "e": {"apiVersion": "v1", "kind": None}}))
    assert refused.status == 422
    assert {cause["field"] for cause in refused.body["details"]["causes"]} == {"spec.n", "spec.e.kind"}
    fresh = gadget(group, "b", spec={})
    fresh["metadata"]["resourceVersion"] = "7"
    kept = apply(client, path(group, "b"), fresh, dryRun="All")
    assert (kept.status, kept.body["metadata"]["resourceVersion"]) == (201, "7")


def test_integers_of_built_in_kinds_are_cut_to_their_size(client: Client) -> None:
    name = f"e{uuid.uuid4().hex[:8]}"
    place = f"/api/v1/namespaces/default/events/{name}"
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"namespace": "default"},
        "count": (1 << 32) + 3,
    }
    assert apply(client, place, event).body["count"] == 3
    patched = client.send(
        "PATCH", place, {"count": -(1 << 31) - 1}, Content_Type="application/strategic-merge-patch+json"
    )
    assert patched.body["count"] == (1 << 31) - 1


@pytest.mark.parametrize("name", ["creationTimestamp", "deletionTimestamp"])
def test_a_time_of_a_custom_object_that_cannot_be_read_is_none(client: Client, group: str, name: str) -> None:
    for _ in ("made", "changed"):
        body = gadget(group, "timed")
        body["metadata"][name] = "Always"
        applied = apply(client, path(group, "timed"), body)
        assert applied.status in (200, 201), applied.body
        assert applied.body["metadata"]["creationTimestamp"].startswith("20")
        assert "deletionTimestamp" not in applied.body["metadata"]


def test_what_cannot_be_read_is_named_as_it_was_applied(client: Client) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "read"}, "spec": {"hard": {"pods": "1"}}}
    place = "/api/v1/namespaces/default/resourcequotas/read"
    assert apply(client, place, quota).status == 201
    refused = apply(client, place, {**quota, "spec": {"hard": {"pods": "no"}}})
    client.send("DELETE", place)
    assert "new object (/read; v1, Kind=ResourceQuota)" in refused.body["message"].replace("/v1", "v1")
