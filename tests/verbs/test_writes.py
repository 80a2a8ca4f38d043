"""Facts about writes that every kind shares, through a server in memory."""

from __future__ import annotations

import itertools
import json
import secrets
import uuid
from typing import Any

import pytest

from tests.conftest import CRDS, Client, definition, gadget


@pytest.fixture
def group(client: Client) -> str:
    """A group of its own with a namespaced kind, gadgets, that has both subresources and a deprecated version."""
    name = f"g{uuid.uuid4().hex[:8]}.example.com"
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    made = definition(name, subresources={"status": {}, "scale": scale})
    old = dict(made["spec"]["versions"][0], name="v1beta1", storage=False, deprecated=True)
    made["spec"]["versions"].append(old)
    assert client.post(CRDS, made).status == 201
    return name


def collection(group: str, version: str = "v1") -> str:
    return f"/apis/{group}/{version}/namespaces/default/gadgets"


def make(client: Client, group: str, name: str = "a", **fields: Any) -> dict[str, Any]:
    answer = client.post(collection(group), gadget(group, name, **fields))
    assert answer.status == 201, answer.body
    return dict(answer.body)


def test_a_write_that_changes_nothing_is_no_write(client: Client, group: str) -> None:
    made = make(client, group, spec={"size": 1})
    again = client.send("PUT", f"{collection(group)}/a", made)
    assert again.body == made


def test_what_is_wanted_counts_generations_and_the_status_does_not(client: Client, group: str) -> None:
    make(client, group, spec={"size": 1}, status={"lost": True})
    path = f"{collection(group)}/a"
    assert "status" not in client.get(path).body
    assert client.merge(path, {"spec": {"size": 2}}).body["metadata"]["generation"] == 2
    changed = client.merge(f"{path}/status", {"status": {"ready": True}, "spec": {"size": 3}}).body
    assert (changed["metadata"]["generation"], changed["spec"], changed["status"]) == (2, {"size": 2}, {"ready": True})


def test_a_stale_write_is_refused(client: Client, group: str) -> None:
    made = make(client, group)
    client.merge(f"{collection(group)}/a", {"spec": {"size": 1}})
    stale = client.send("PUT", f"{collection(group)}/a", made)
    assert (stale.status, stale.body["reason"]) == (409, "Conflict")
    assert "please apply your changes to the latest version and try again" in stale.body["message"]


def test_a_dry_run_leaves_no_trace(client: Client, group: str) -> None:
    tried = client.post(f"{collection(group)}?dryRun=All", gadget(group, "dry"))
    assert (tried.status, tried.body["metadata"]["name"]) == (201, "dry")
    assert client.get(f"{collection(group)}/dry").status == 404


def test_names_are_generated(client: Client, group: str) -> None:
    body = gadget(group, "") | {"metadata": {"generateName": "gen-"}}
    names = {client.post(collection(group), body).body["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5
    assert all(name.startswith("gen-") and len(name) == 9 for name in names)


def test_a_name_that_is_taken_is_generated_anew(client: Client, group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = gadget(group, "") | {"metadata": {"generateName": "gen-"}}
    letters = itertools.chain("bbbbb", "bbbbb" * 7 + "ccccc", itertools.repeat("b"))
    monkeypatch.setattr(secrets, "choice", lambda _: next(letters))
    answers = [client.post(collection(group), body) for _ in range(3)]
    assert [answer.body["metadata"].get("name") for answer in answers[:2]] == ["gen-bbbbb", "gen-ccccc"]
    unlucky = "already exists, the server was not able to generate a unique name for the object"
    assert (answers[2].status, answers[2].body["message"]) == (409, f'gadgets.{group} "gen-bbbbb" {unlucky}')
    assert answers[2].body["details"]["retryAfterSeconds"] == 1
    assert answers[2].headers["Retry-After"] == "1"


def test_a_built_in_name_that_is_taken_is_generated_anew(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path, body = "/api/v1/namespaces/default/configmaps", {"metadata": {"generateName": "taken-"}, "data": {"a": "b"}}
    letters = itertools.chain("bbbbb", "bbbbb" + "ccccc")
    monkeypatch.setattr(secrets, "choice", lambda _: next(letters))
    answers = [client.post(path, body) for _ in range(2)]
    assert [answer.body["metadata"].get("name") for answer in answers] == ["taken-bbbbb", "taken-ccccc"]
    assert answers[1].body["data"] == {"a": "b"}


def test_an_object_with_finalizers_waits_for_them(client: Client, group: str) -> None:
    make(client, group)
    path = f"{collection(group)}/a"
    client.merge(path, {"metadata": {"finalizers": ["example.com/hold"]}})
    held = client.send("DELETE", path).body
    assert held["metadata"]["deletionTimestamp"]
    refused = client.merge(path, {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
    assert (refused.status, refused.body["details"]["causes"][0]["reason"]) == (422, "FieldValueForbidden")
    ending = held["metadata"]["deletionTimestamp"]
    for given in (None, "2020-01-01T00:00:00Z"):
        moved = client.merge(path, {"metadata": {"deletionTimestamp": given}})
        assert (moved.status, moved.body["metadata"]["deletionTimestamp"]) == (200, ending)
    refused = client.merge(path, {"metadata": {"deletionGracePeriodSeconds": 5}})
    assert refused.body["details"]["causes"][0]["field"] == "metadata.deletionGracePeriodSeconds"
    assert client.merge(path, {"metadata": {"finalizers": []}}).status == 200
    assert client.get(path).status == 404


def test_scale_reads_and_writes_the_replicas(client: Client, group: str) -> None:
    make(client, group, spec={"replicas": 1})
    path = f"{collection(group)}/a/scale"
    shown = client.get(path).body
    assert (shown["kind"], shown["spec"]) == ("Scale", {"replicas": 1})
    elsewhere = shown | {"metadata": {"name": "a", "namespace": "kube-system"}}
    assert client.send("PUT", path, elsewhere).status == 400
    other = shown | {"metadata": {"name": "a", "uid": str(uuid.uuid4())}}
    assert client.send("PUT", path, other).status == 409
    assert client.send("PUT", path, shown | {"spec": {"replicas": 4}}).status == 200
    assert client.get(f"{collection(group)}/a").body["spec"] == {"replicas": 4}
    null = client.post(collection(group), gadget(group, "nil", spec={"replicas": None}))
    assert "<nil> is of the type <nil>, expected int64" in null.body["message"]


def test_a_deprecated_version_warns_with_every_answer(client: Client, group: str) -> None:
    warning = f'299 - "{group}/v1beta1 Gadget is deprecated; use {group}/v1 Gadget"'
    for path in ("", "/none", "/none/status", "/none/nowhere"):
        assert client.get(f"{collection(group, 'v1beta1')}{path}").headers["Warning"] == warning
    assert "Warning" not in client.get(collection(group)).headers


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("timeout=x", 400),
        ("limit=abc", 400),
        ("resourceVersion=abc", 400),
        ("labelSelector=a+in+b", 400),
        ("fieldSelector=spec.x=1", 400),
        ("resourceVersionMatch=Newest", 422),
        ("timeout=60s", 200),
    ],
)
def test_parameters_are_checked(client: Client, group: str, query: str, status: int) -> None:
    assert client.get(f"{collection(group)}?{query}").status == status


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"1", b'{"kind":1}', b"\xff\xfe", b'{"metadata":{"name":1}}', b"[" * 20000],
)
def test_no_body_ends_in_an_error_of_the_server(client: Client, group: str, body: bytes) -> None:
    for method, path in (("POST", ""), ("PUT", "/a"), ("PATCH", "/a"), ("DELETE", "/a")):
        if client.get(f"{collection(group)}/a").status == 404:
            make(client, group)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = client.send(method, collection(group) + path, body, Content_Type=kind)
        assert answer.status < 500, (method, answer.body)


def test_what_only_a_webhook_could_convert_is_refused(client: Client, group: str) -> None:
    made = definition(group, "widgets", "Widget")
    made["spec"]["versions"].append(dict(made["spec"]["versions"][0], name="v2", storage=False))
    service = {"url": "https://127.0.0.1:1/convert"}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": service}
    made["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    assert client.post(CRDS, made).status == 201
    path = f"/apis/{group}/{{}}/namespaces/default/widgets"
    assert client.post(path.format("v1"), gadget(group, "a") | {"kind": "Widget"}).status == 201
    assert client.get(path.format("v1")).status == 200
    for refused in (client.get(path.format("v2")), client.get(path.format("v2") + "/a")):
        assert refused.status == 500
        assert f"conversion webhook for {group}/v1, Kind=Widget failed" in refused.body["message"]
    watched = client.get(path.format("v2") + "?watch=1&timeoutSeconds=5").body
    assert (watched["type"], watched["object"]["code"]) == ("ERROR", 500)


def test_who_changes_the_finalizers_of_a_namespace_owns_them(client: Client) -> None:
    path = "/api/v1/namespaces/verbs-finalized"
    client.post("/api/v1/namespaces", {"metadata": {"name": "verbs-finalized"}})
    body = {"metadata": {"name": "verbs-finalized"}, "spec": {"finalizers": ["kubernetes", "example.com/hold"]}}
    done = client.send("PUT", f"{path}/finalize?fieldManager=me", body)
    [entry] = [field for field in done.body["metadata"]["managedFields"] if field["manager"] == "me"]
    assert (entry["subresource"], entry["fieldsV1"]) == ("finalize", {"f:spec": {"f:finalizers": {}}})
    again = client.send("PUT", f"{path}/finalize?fieldManager=me", body)
    assert again.body == done.body


def test_an_update_that_makes_an_object_names_a_revision_that_is_a_number(client: Client) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/made-by-update"
    refused = client.send("PUT", path, {"metadata": {"name": "made-by-update", "resourceVersion": "x"}})
    assert (refused.status, refused.body["message"]) == (500, 'strconv.ParseUint: parsing "x": invalid syntax')


def test_rules_are_not_looked_at_where_a_name_is_missing(client: Client, group: str) -> None:
    schema = {"type": "object", "x-kubernetes-validations": [{"rule": "false"}]}
    ruled = definition(f"r.{group}", schema={"openAPIV3Schema": schema})
    assert client.post(CRDS, ruled).status == 201
    refused = client.post(collection(f"r.{group}"), {"apiVersion": f"r.{group}/v1", "kind": "Gadget"})
    causes = [cause["field"] for cause in refused.body["details"]["causes"]]
    assert causes == ["metadata.name", "<nil>"]


def test_rules_are_looked_at_with_and_without_floats(client: Client, group: str) -> None:
    rule = {"rule": "!has(self.n) || self.n < 5"}
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "x-kubernetes-validations": [rule]}
    assert client.post(CRDS, definition(f"n.{group}", schema={"openAPIV3Schema": schema})).status == 201
    place, made = collection(f"n.{group}"), gadget(f"n.{group}", "a", n=1)
    assert client.post(place, made).status == 201
    for told, number in (("failed rule", b"6"), ("expected int, got float64", b"1.0")):
        raw = json.dumps(made).encode().replace(b'"n": 1', b'"n": ' + number)
        assert told in client.post(place, raw).body["message"]
        assert (
            told in client.send("PATCH", f"{place}/a", raw, Content_Type="application/merge-patch+json").body["message"]
        )


def test_finalizers_of_a_definition_need_no_domain(client: Client, group: str) -> None:
    wanted = definition(f"f.{group}")
    wanted["metadata"]["finalizers"] = ["nodomain"]
    assert client.post(f"{CRDS}?dryRun=All", wanted).status == 201


def test_owners_that_are_there_twice_are_told_of_once(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}
    body = {"metadata": {"name": "twice", "ownerReferences": [owner, owner]}}
    before, after = "entries; API server", "entries after mutating admission happens; API server"
    for method, where, text in (("POST", "", before), ("PUT", "/twice", before), ("PATCH", "/twice", after)):
        media = {"Content_Type": "application/merge-patch+json"} if method == "PATCH" else {}
        answer = client.send(method, f"{path}{where}", body, **media)
        assert text in answer.headers["Warning"]
        assert len(answer.body["metadata"]["ownerReferences"]) == 1


def test_an_empty_list_forgets_whose_fields_are_whose(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    client.send("POST", path, {"metadata": {"name": "forgotten"}, "data": {"a": "b"}})
    body = {"metadata": {"name": "forgotten", "managedFields": []}, "data": {"a": "c"}}
    assert "managedFields" not in client.send("PUT", f"{path}/forgotten", body).body["metadata"]


@pytest.mark.parametrize("place", ["", "/a"])
def test_a_state_that_is_not_reached_yet_is_told_as_a_timeout(client: Client, group: str, place: str) -> None:
    make(client, group)
    refused = client.get(f"{collection(group)}{place}?resourceVersion=999999999")
    assert (refused.status, refused.body["reason"]) == (504, "Timeout")
    assert refused.body["message"].startswith("Timeout: Too large resource version: 999999999, current: ")
