"""A patched document is read as an object of its kind before anything becomes of it."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from tests.conftest import CRDS, Answer, Client, definition, gadget

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE, JSON, STRATEGIC = (f"application/{form}-patch+json" for form in ("merge", "json", "strategic-merge"))
LEGACY = 'in scheme "pkg/api/legacyscheme/scheme.go:30"'


@pytest.fixture
def path(client: Client) -> str:
    """A custom object with a scale of its own."""
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    assert client.post(CRDS, definition(group, subresources={"scale": scale})).status == 201
    place = f"/apis/{group}/v1/namespaces/default/gadgets"
    assert client.post(place, gadget(group, "a", spec={"size": 1})).status == 201
    return f"{place}/a"


@pytest.fixture
def pc(client: Client) -> str:
    client.post(MAPS, {"metadata": {"name": "pc"}, "data": {"k": "v"}})
    return f"{MAPS}/pc"


def patch(client: Client, path: str, body: Any, form: str = MERGE) -> Answer:
    return client.send("PATCH", path, json.dumps(body).encode(), Content_Type=form)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"kind": "X"}, f'no kind "X" is registered for version "v1" {LEGACY}'),
        ({"apiVersion": "apps/v1"}, f'no kind "ConfigMap" is registered for version "apps/v1" {LEGACY}'),
        ({"kind": "ConfigMapList"}, "converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion"),
        ({"kind": 5}, "json: cannot unmarshal number into Go struct field .kind of type string"),
        ({"metadata": "x"}, "json: cannot unmarshal string into Go struct field ConfigMap.metadata"),
    ],
)
def test_a_patch_makes_no_other_kind_of_a_built_in_object(client: Client, pc: str, body: Any, why: str) -> None:
    before = client.get(pc).body
    refused = patch(client, pc, body)
    assert (refused.status, refused.body["details"]["causes"][0]["field"]) == (422, "patch")
    assert why in refused.body["message"]
    assert client.get(pc).body == before


def test_a_kind_that_is_removed_is_filled_in(client: Client, pc: str) -> None:
    assert patch(client, pc, {"kind": None}).body["kind"] == "ConfigMap"


def test_without_a_version_nothing_of_a_built_in_object_has_a_name(client: Client, pc: str) -> None:
    refused = patch(client, pc, {"apiVersion": None})
    assert refused.status == 400
    assert "pc based on URL) was undeterminable: name must be provided" in refused.body["message"]
    assert patch(client, f"{pc}?fieldValidation=Strict", {"apiVersion": None}).status == 422


def test_a_strategic_merge_has_the_kind_of_its_path(client: Client, pc: str) -> None:
    made = patch(client, pc, {"kind": "X", "apiVersion": "y", "data": {"a": "b"}}, STRATEGIC)
    assert (made.status, made.body["kind"], made.body["apiVersion"]) == (200, "ConfigMap", "v1")


def test_a_list_is_no_object(client: Client, pc: str, path: str) -> None:
    for place in (pc, path):
        refused = patch(client, place, [{"op": "replace", "path": "", "value": [1]}], JSON)
        assert refused.status == 422
        assert "json: cannot unmarshal array into Go value of type struct" in refused.body["message"]


def test_a_custom_object_of_another_group_is_refused_in_its_name(client: Client, path: str) -> None:
    refused = patch(client, path, {"apiVersion": "v1"})
    assert (refused.status, refused.body["details"].get("group")) == (422, None)
    assert refused.body["message"].startswith('Gadget "a" is invalid: apiVersion: Invalid value: "v1": must be')


def test_a_custom_object_without_a_kind_is_none(client: Client, path: str) -> None:
    refused = patch(client, path, {"kind": ""})
    assert (refused.status, refused.body["details"]["causes"][0]["field"]) == (422, "patch")
    assert "Object 'Kind' is missing in '{\"apiVersion\":" in refused.body["message"].replace("\\", "")


def test_a_name_is_asked_for_before_a_version(client: Client, path: str) -> None:
    refused = patch(client, path, [{"op": "replace", "path": "", "value": {"kind": "Gadget"}}], JSON)
    assert (refused.status, "a based on URL) was undeterminable" in refused.body["message"]) == (400, True)
    assert patch(client, path, {"apiVersion": None}).status == 500


def test_the_namespace_is_asked_for_before_the_name(client: Client, path: str) -> None:
    other = {"metadata": {"name": "b", "namespace": "c"}}
    body = client.get(path).body
    for refused in (patch(client, path, other), client.send("PUT", path, {**body, **other})):
        assert "the namespace of the provided object does not match" in refused.body["message"]


def test_a_float_in_the_place_of_an_integer_is_a_change(client: Client, path: str) -> None:
    before = client.get(path).body["metadata"]
    made = client.send("PATCH", path, b'{"spec":{"size":1.0}}', Content_Type=MERGE)
    assert made.body["metadata"]["generation"] == before["generation"] + 1
    assert made.body["spec"]["size"] == 1


def test_a_patch_that_changes_nothing_keeps_the_object_and_its_owners(client: Client, path: str) -> None:
    patch(client, f"{path}?fieldManager=first", {"metadata": {"labels": {"a": "b"}}, "spec": {"size": 2}})
    before = client.get(path).body
    for manager in ("first", "other"):
        for body in ({}, {"spec": {"size": 2}}, {"metadata": {"labels": {"a": "b"}}}, {"spec": {"absent": None}}):
            assert patch(client, f"{path}?fieldManager={manager}", body).body == before


def test_only_a_dry_run_shows_a_self_link(client: Client, path: str) -> None:
    body = {"metadata": {"selfLink": "/x"}}
    assert patch(client, f"{path}?dryRun=All", body).body["metadata"]["selfLink"] == "/x"
    assert "selfLink" not in patch(client, path, body).body["metadata"]


def test_a_scale_begins_unset(client: Client, path: str) -> None:
    refused = patch(client, f"{path}/scale", {"metadata": {"labels": {"a": "b"}, "uid": "x"}})
    assert (refused.status, refused.body["message"]) == (
        400,
        'the spec replicas field ".spec.replicas" cannot be empty',
    )
    assert patch(client, f"{path}/scale", {"spec": {"replicas": 2}}).body["spec"] == {"replicas": 2}


@pytest.mark.parametrize("body", [{"kind": "Other"}, {"spec": {"replicas": "x"}}, {"apiVersion": "apps/v1beta1"}])
def test_a_patched_scale_is_a_scale(client: Client, path: str, body: Any) -> None:
    refused = patch(client, f"{path}/scale", body)
    assert (refused.status, refused.body["details"]["causes"][0]["field"]) == (422, "patch")


def test_unknown_fields_of_a_scale_are_judged(client: Client, path: str) -> None:
    body: dict[str, Any] = {"spec": {"replicas": 1, "x": 1}}
    assert patch(client, f"{path}/scale?fieldValidation=Strict", body).status == 422
    assert 'unknown field "spec.x"' in patch(client, f"{path}/scale", body).headers["Warning"].replace("\\", "")
    body |= {"metadata": {"name": "a"}}
    assert client.send("PUT", f"{path}/scale?fieldValidation=Strict", body).status == 400


def test_a_scale_is_read_before_its_object(client: Client, path: str) -> None:
    missing = f"{path}-missing/scale"
    assert "undeterminable" in client.send("PUT", missing, {}).body["message"]
    assert "no kind is registered for the type v1.Scale" in client.send("PUT", missing, {"spec": []}).body["message"]
    assert client.get(f"{missing}?resourceVersion=x").status == 500


def test_negative_replicas_break_all_rules_that_there_are(client: Client, path: str) -> None:
    refused = patch(client, f"{path}/scale", {"spec": {"replicas": -1}})
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == [".spec.replicas"]


def test_a_body_is_of_a_kind_that_is_known(client: Client) -> None:
    refused = client.post(MAPS, {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}})
    why = f'X in version "v1" cannot be handled as a ConfigMap: no kind "X" is registered for version "v1" {LEGACY}'
    assert (refused.status, refused.body["message"]) == (400, why)
    refused = client.post(MAPS, {"apiVersion": "a/b", "metadata": {"name": "x"}})
    assert 'ConfigMap in version "b" cannot be handled as a ConfigMap: no kind' in refused.body["message"]
    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    refused = client.post(events, {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "x"}})
    assert "does not match the expected API version (events.k8s.io/v1)" in refused.body["message"]


def test_earlier_versions_are_known(client: Client) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    body = {"apiVersion": "rbac.authorization.k8s.io/v1beta1", "metadata": {"name": "earlier"}}
    assert "does not match the expected API version (rbac" in client.post(path, body).body["message"]
    client.post(path, {"metadata": {"name": "earlier"}})
    made = patch(client, f"{path}/earlier", {"apiVersion": body["apiVersion"], "metadata": {"labels": {"a": "b"}}})
    assert (made.status, made.body["apiVersion"]) == (200, "rbac.authorization.k8s.io/v1")
    client.send("DELETE", f"{path}/earlier")


def test_the_form_of_a_patch_is_looked_at_before_the_form_of_the_answer(client: Client, path: str, pc: str) -> None:
    for place, form in ((path, STRATEGIC), (path, f"{MERGE} ; a=b"), (pc, "text/x")):
        assert client.send("PATCH", place, b"{}", Content_Type=form, Accept="text/x").status == 415
    assert client.send("PATCH", path, b"{}", Content_Type=f"{MERGE};a=b", Accept="text/x").status == 406


def test_an_empty_namespace_in_a_path_is_that_of_all(client: Client, path: str) -> None:
    everywhere = path.replace("/default/", "//").removesuffix("/a")
    assert [one["metadata"]["name"] for one in client.get(everywhere).body["items"]] == ["a"]
    assert client.post(everywhere, {}).status == 404
    unnamed = client.send("OPTIONS", f"{path.removesuffix('a')}/a%2Fb")
    assert (unnamed.status, unnamed.body["details"].get("name")) == (404, None)


def test_an_integer_of_a_built_in_kind_has_no_point_in_a_patch_that_keeps_it_as_it_is(client: Client) -> None:
    path = "/api/v1/namespaces/default/podtemplates"
    spec = {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 1}
    client.post(path, {"metadata": {"name": "whole"}, "template": {"spec": spec}})
    changed = {"template": {"spec": {"terminationGracePeriodSeconds": 2.0}}}
    told = patch(client, f"{path}/whole", changed)
    assert told.status == 422
    why = "number 2.0 into Go struct field PodSpec.template.spec.terminationGracePeriodSeconds of type int64"
    assert told.body["message"].endswith(why)
    moved = [{"op": "replace", "path": "/template/spec/terminationGracePeriodSeconds", "value": 2.0}]
    assert patch(client, f"{path}/whole", moved, JSON).status == 422
    assert patch(client, f"{path}/whole", changed, STRATEGIC).status == 200
    client.send("DELETE", f"{path}/whole")


@pytest.mark.parametrize("number", ["9223372036854775808", "123456789012345678901234", "1e30", "1e3", "1e-7"])
def test_a_number_that_does_not_fit_is_shown_as_it_was_sent(client: Client, number: str) -> None:
    path = "/api/v1/namespaces/default/endpoints"
    client.post(path, {"metadata": {"name": "numbers"}})
    why = f"cannot unmarshal number {number} into Go struct field EndpointPort.subsets.ports.port of type int32"
    subsets = f'[{{"ports":[{{"port":{number}}}]}}]'
    bodies = {MERGE: f'{{"subsets":{subsets}}}', JSON: f'[{{"op":"add","path":"/subsets","value":{subsets}}}]'}
    for form, body in bodies.items():
        told = client.send("PATCH", f"{path}/numbers", body.encode(), Content_Type=form)
        assert told.status == 422
        assert told.body["message"].endswith(why)
    client.send("DELETE", f"{path}/numbers")


def test_a_patch_that_does_nothing_leaves_the_owners_of_fields(client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    assert client.post(CRDS, definition(group, subresources={"status": {}})).status == 201
    place = f"/apis/{group}/v1/namespaces/default/gadgets"
    made = client.post(place, gadget(group, "a", spec={"size": 1})).body
    for path in (f"{place}/a", f"{place}/a/status"):
        assert patch(client, path, [], JSON).body == made
        assert patch(client, path, [{"op": "test", "path": "/spec/size", "value": 1}], JSON).body == made


def test_a_strict_refusal_shows_what_was_patched_before_it_is_pruned(client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    known = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    assert client.post(CRDS, definition(group, schema={"openAPIV3Schema": known})).status == 201
    place = f"/apis/{group}/v1/namespaces/default/gadgets"
    assert client.post(place, gadget(group, "a", spec={"size": 1})).status == 201
    refused = patch(client, f"{place}/a?fieldValidation=Strict", {"spec": {"more": 2}})
    assert '\\"spec\\":{\\"more\\":2,\\"size\\":1}' in refused.body["message"]


def test_a_patch_of_a_scale_is_read_when_there_is_something_to_patch(client: Client, path: str) -> None:
    assert patch(client, f"{path}-missing/scale", ["x"], JSON).status == 404
    assert patch(client, f"{path}/scale", ["x"], JSON).status == 400


def test_a_patched_scale_is_shown_as_it_was_made(client: Client, path: str) -> None:
    shown = patch(client, f"{path}/scale", {"spec": "x"}).body["message"]
    order = [
        shown.index(f'\\"{name}\\"') for name in ("apiVersion", "kind", "metadata", "name", "resourceVersion", "spec")
    ]
    assert order == sorted(order)
    unknown = {"metadata": {"name": "a"}, "spec": {"z": 1}, "a": 1}
    assert "spec.z" in client.send("PUT", f"{path}/scale", unknown).headers["Warning"]  # the first of two


@pytest.mark.parametrize(
    ("body", "ignored", "checked"),
    [
        (b'[{"a":null},null]', 'Invalid value: "[{},null]": couldn\'t get version/kind', "cannot unmarshal array"),
        (b"5", "Invalid JSON Patch", "cannot unmarshal number"),
        (b'{"a":', "Invalid JSON Patch", "unexpected end of JSON input"),
        (b"null", "Invalid JSON Patch", "Invalid JSON Patch"),
    ],
)
def test_a_merge_patch_that_is_no_object(client: Client, pc: str, body: bytes, ignored: str, checked: str) -> None:
    for how, text in (("Ignore", ignored), ("Strict", checked)):
        refused = client.send("PATCH", f"{pc}?fieldValidation={how}", body, Content_Type=MERGE)
        assert text in refused.body["message"]
        assert refused.status == (422 if "Invalid value" in text else 400)


def test_the_options_of_an_update_are_looked_at_before_the_form_of_its_body(client: Client, pc: str) -> None:
    form = "application/x-www-form-urlencoded"
    assert client.send("PUT", pc, {}, Content_Type=form).status == 415
    assert client.send("PUT", f"{pc}?dryRun=x", {}, Content_Type=form).status == 422
    assert client.send("POST", f"{MAPS}?dryRun=x", {}, Content_Type=form).status == 415


def test_protobuf_is_no_form_of_a_custom_object_once_the_options_are_read(client: Client, path: str) -> None:
    place, form = path.rpartition("/")[0], "application/vnd.kubernetes.protobuf"
    assert client.send("POST", place, {}, Content_Type=form).status == 415
    assert client.send("POST", f"{place}?fieldValidation=x", {}, Content_Type=form).status == 422


def test_the_form_of_an_empty_body_is_looked_at_and_that_of_a_patch_before_its_name(client: Client, path: str) -> None:
    for place in (MAPS, path.rpartition("/")[0]):
        for form, status in (("text/plain", 415), ("application/json", 400), ("", 400)):
            assert client.send("POST", place, b"", Content_Type=form).status == status
    place = path.rpartition("/")[0]
    assert client.send("PATCH", place, b"{}", Content_Type="text/plain").status == 415
    assert client.send("PATCH", place, b"{}", Content_Type=MERGE).body["message"] == "name must be provided"


def test_a_scale_is_no_list(client: Client, path: str) -> None:
    patch(client, path, {"spec": {"replicas": 1}})
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    refused = client.send("GET", f"{path}/scale", Accept=accept)
    said = "you requested PartialObjectMetadataList, but the requested object is not a list (*v1.Scale)"
    assert (refused.status, refused.body["message"]) == (406, said)


def test_a_number_with_a_point_is_a_float_to_a_strategic_patch(client: Client) -> None:
    place = "/api/v1/namespaces/default/services"
    made = client.post(place, {"metadata": {"name": "pointed"}, "spec": {"ports": [{"port": 80, "name": "a"}]}})
    assert made.status == 201
    media = "application/strategic-merge-patch+json"
    refused = client.send("PATCH", f"{place}/pointed", b'{"spec":1.0}', Content_Type=media)
    assert "map[spec:1]" in refused.body["message"]
    assert refused.body["message"].endswith("cannot restore struct from: float64")
    ports = b'{"spec":{"ports":[{"port":80,"targetPort":8.0}]}}'
    changed = client.send("PATCH", f"{place}/pointed", ports, Content_Type=media)
    client.send("DELETE", f"{place}/pointed")
    assert changed.body["spec"]["ports"][0]["targetPort"] == 8
