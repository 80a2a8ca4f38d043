"""Clients that speak protobuf: the real kubectl, and requests as client-go makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podless.apis.catalog import ALL
from podless.structs import protobuf, structs
from podless.structs.gotypes import ListOf
from podless.structs.protobuf import MEDIA, STREAM
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct
from tests.conftest import CRDS, Client, definition, gadget

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
DELETE_OPTIONS = load_struct("meta/v1", "DeleteOptions")
LIST_META = load_struct("meta/v1", "ListMeta")
NAMESPACE = load_struct("core/v1", "Namespace")
PARTIAL_OBJECT_METADATA = load_struct("meta/v1", "PartialObjectMetadata")
SCALE = load_struct("autoscaling/v1", "Scale")
STATUS = load_struct("meta/v1", "Status")

pytestmark = pytest.mark.clients

BOTH = f"{MEDIA},application/json"
PARTIAL = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
MAPS = "/api/v1/namespaces/default/configmaps"
CONFIG_MAPS = Struct("ConfigMapList", (Field("metadata", LIST_META, 1), Field("items", ListOf(CONFIG_MAP), 2)))
PARTIALS = Struct("List", (Field("metadata", LIST_META, 1), Field("items", ListOf(PARTIAL_OBJECT_METADATA), 2)))


def config_map(name: str, **data: str) -> bytes:
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, "data": data}
    return protobuf.write_object(CONFIG_MAP, obj)


def create(client: Client, path: str, body: bytes, accept: str = BOTH) -> Any:
    return client.post(path, body, Content_Type=MEDIA, Accept=accept)


def frames(raw: bytes) -> list[tuple[str, bytes]]:
    """Type and enveloped object of the events in a stream."""
    found = []
    while raw:
        size = int.from_bytes(raw[:4], "big")
        event, raw = raw[4 : 4 + size], raw[4 + size :]
        found.append((event[2 : 2 + event[1]].decode(), event[event.index(protobuf.PREFIX) :]))
    return found


def test_kubectl_creates_what_it_sends_as_protobuf(kubectl: Any, tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"\xff\xfe\0")
    assert kubectl("create", "namespace", "pb") == "namespace/pb created\n"
    assert kubectl("create", "namespace", "pb") == (
        'Error from server (AlreadyExists): namespaces "pb" already exists\n'
    )
    assert 'The Namespace "Bad_" is invalid' in kubectl("create", "namespace", "Bad_")
    made = kubectl("create", "configmap", "c", "--from-literal=a=b", "--from-file=blob", "-n", "pb")
    assert made == "configmap/c created\n"
    shown = json.loads(kubectl("get", "configmap", "c", "-n", "pb", "-o", "json"))
    assert (shown["data"], shown["binaryData"]) == ({"a": "b"}, {"blob": "//4A"})
    dry = kubectl("create", "configmap", "d", "--from-literal=a=b", "-n", "pb", "--dry-run=server", "-o", "name")
    assert dry == "configmap/d\n"
    change = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "c"}}
    assert kubectl("apply", "-n", "pb", "-f", "-", stdin=json.dumps(change)).endswith("configmap/c configured\n")
    assert "Status:       Active" in kubectl("describe", "namespace", "pb")
    assert kubectl("delete", "configmap", "c", "-n", "pb") == 'configmap "c" deleted\n'
    assert kubectl("delete", "namespace", "pb") == 'namespace "pb" deleted\n'


def test_kubectl_creates_credentials_and_roles(kubectl: Any) -> None:
    """These all come as protobuf, and are checked as JSON."""
    kubectl("create", "namespace", "pbauth")
    for made, arguments in {
        "secret/s": ("secret", "generic", "s", "--from-literal=a=b"),
        "secret/d": ("secret", "docker-registry", "d", "--docker-username=u", "--docker-password=p"),
        "serviceaccount/robot": ("serviceaccount", "robot"),
        "role.rbac.authorization.k8s.io/r": ("role", "r", "--verb=get,list", "--resource=configmaps,secrets"),
        "rolebinding.rbac.authorization.k8s.io/b": ("rolebinding", "b", "--role=r", "--serviceaccount=pbauth:robot"),
        "resourcequota/q": ("quota", "q", "--hard=count/configmaps=2,secrets=4"),
    }.items():
        assert kubectl("create", *arguments, "-n", "pbauth") == f"{made} created\n"
        assert "already exists" in kubectl("create", *arguments, "-n", "pbauth")

    def shown(what: str) -> Any:
        return json.loads(kubectl("get", what, "-n", "pbauth", "-o", "json"))

    assert shown("secret/s")["data"] == {"a": "Yg=="}
    assert shown("secret/d")["type"] == "kubernetes.io/dockerconfigjson"
    assert shown("role/r")["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list"]}
    ]
    assert shown("rolebinding/b")["subjects"] == [{"kind": "ServiceAccount", "name": "robot", "namespace": "pbauth"}]
    assert shown("quota/q")["spec"]["hard"] == {"count/configmaps": "2", "secrets": "4"}
    kubectl("create", "configmap", "one", "-n", "pbauth")
    kubectl("create", "configmap", "two", "-n", "pbauth")
    assert "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2" in kubectl(
        "create", "configmap", "three", "-n", "pbauth"
    )
    token = kubectl("create", "token", "robot", "-n", "pbauth").strip()
    assert token.count(".") == 2
    kubectl("delete", "namespace", "pbauth", "--wait=false")


def test_every_built_in_kind_lists_the_same_in_both_forms(client: Client) -> None:
    listed = [kind for kind in ALL if "list" in kind.verbs]
    found = 0
    for kind in listed:
        for version in kind.versions:
            root = f"/apis/{kind.group}/{version.name}" if kind.group else f"/api/{version.name}"
            plain = client.get(f"{root}/{kind.plural}")
            if plain.status == 404:  # a generation that is only served where it is asked for
                continue
            struct = kind.struct_of(version)
            assert struct is not None
            items = Struct("List", (Field("metadata", LIST_META, 1), Field("items", ListOf(struct), 2)))
            answer = client.get(f"{root}/{kind.plural}", Accept=MEDIA)
            shown = protobuf.read_object(answer.body, items)
            assert (shown["kind"], shown["apiVersion"]) == (plain.body["kind"], plain.body["apiVersion"])
            assert shown.get("items", []) == plain.body["items"], kind.plural
            found += len(plain.body["items"])
    assert found > 20


def test_create_get_list_and_delete(client: Client) -> None:
    made = create(client, MAPS, config_map("pb-a", x="y"))
    assert (made.status, made.headers["Content-Type"]) == (201, MEDIA)
    obj = protobuf.read_object(made.body, CONFIG_MAP)
    assert obj == client.get(f"{MAPS}/pb-a").body
    got = client.get(f"{MAPS}/pb-a", Accept=BOTH)
    assert (got.headers["Content-Type"], protobuf.read_object(got.body, CONFIG_MAP)) == (MEDIA, obj)
    assert client.get(f"{MAPS}/pb-a", Accept=f"{MEDIA};q=0.5,application/json").body == obj
    found = protobuf.read_object(client.get(MAPS, Accept=MEDIA).body, CONFIG_MAPS)
    plain = client.get(MAPS).body
    assert (found["kind"], found["metadata"], found["items"]) == ("ConfigMapList", plain["metadata"], plain["items"])

    replaced = client.send("PUT", f"{MAPS}/pb-a", config_map("pb-a", x="z"), Content_Type=MEDIA, Accept=MEDIA)
    assert protobuf.read_object(replaced.body, CONFIG_MAP)["data"] == {"x": "z"}
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}}
    for uid, code in (("other", 409), (obj["metadata"]["uid"], 200)):
        options["preconditions"] = {"uid": uid}
        body = protobuf.write_object(DELETE_OPTIONS, options)
        gone = client.send("DELETE", f"{MAPS}/pb-a", body, Content_Type=MEDIA, Accept=BOTH)
        assert (gone.status, gone.headers["Content-Type"]) == (code, MEDIA)
        assert protobuf.read_object(gone.body, STATUS)["kind"] == "Status"


def test_errors_come_as_protobuf(client: Client) -> None:
    missing = client.get(f"{MAPS}/pb-none", Accept=MEDIA)
    found = protobuf.read_object(missing.body, STATUS)
    assert (missing.status, found["code"], found["reason"]) == (404, 404, "NotFound")
    assert found == client.get(f"{MAPS}/pb-none").body


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{}", "does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0\x0a\x99", "(must be of type ConfigMap)"),
        (
            protobuf.wrap_message("v1", "ConfigMap", b"\x0a\x99"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap',
        ),
        (protobuf.wrap_message("v1", "Secret", b""), "unknown conversion"),
        (protobuf.wrap_message("v2", "ConfigMap", b""), 'no kind "ConfigMap" is registered for version "v2" in scheme'),
    ],
)
def test_malformed_bodies_are_refused(client: Client, body: bytes, text: str) -> None:
    answer = create(client, MAPS, body, accept="application/json")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert text in answer.body["message"]


def test_what_the_envelope_leaves_out_comes_from_the_path(client: Client) -> None:
    raw = protobuf.encode_message(CONFIG_MAP, {"metadata": {"name": "pb-bare"}})
    assert create(client, MAPS, protobuf.wrap_message("", "", raw)).status == 201
    assert client.send("DELETE", f"{MAPS}/pb-bare").status == 200


def test_custom_objects_have_no_protobuf_but_in_part(client: Client) -> None:
    group = "pb.example.com"
    objects = f"/apis/{group}/v1/namespaces/default/gadgets"
    crd = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, definition(group))
    made = create(client, CRDS, protobuf.write_object(CUSTOM_RESOURCE_DEFINITION, crd))
    assert made.status == 201
    shown = protobuf.read_object(made.body, CUSTOM_RESOURCE_DEFINITION)
    assert shown["spec"]["versions"][0]["schema"] == definition(group)["spec"]["versions"][0]["schema"]

    assert client.post(objects, gadget(group, "a"), Accept=BOTH).headers["Content-Type"] == "application/json"
    assert create(client, objects, config_map("a")).status == 415
    refused = client.get(f"{objects}/a", Accept=MEDIA)
    assert (refused.status, refused.headers["Content-Type"]) == (406, MEDIA)
    assert protobuf.read_object(refused.body, STATUS)["reason"] == "NotAcceptable"
    assert client.get(f"{objects}/a", Accept=BOTH).body["kind"] == "Gadget"

    one = protobuf.read_object(client.get(f"{objects}/a", Accept=MEDIA + PARTIAL).body, PARTIAL_OBJECT_METADATA)
    assert (one["kind"], one["apiVersion"], one["metadata"]["name"]) == ("PartialObjectMetadata", "meta.k8s.io/v1", "a")
    accept = (MEDIA + PARTIAL).replace("Metadata;", "MetadataList;")
    some = protobuf.read_object(client.get(objects, Accept=accept).body, PARTIALS)
    assert [item["metadata"]["name"] for item in some["items"]] == ["a"]
    watched = client.get(f"{objects}?watch=1&timeoutSeconds=1", Accept=MEDIA + PARTIAL)
    [(type_, body)] = frames(watched.body)
    assert (type_, protobuf.read_object(body, PARTIAL_OBJECT_METADATA)["metadata"]["name"]) == ("ADDED", "a")
    assert client.get(f"{objects}?watch=1", Accept=MEDIA).status == 406
    # as a metadata client deletes: what is answered then is a Status and no metadata
    options = protobuf.write_object(DELETE_OPTIONS, {"kind": "DeleteOptions", "apiVersion": "v1"})
    gone = client.send("DELETE", f"{objects}/a", options, Content_Type=MEDIA, Accept=MEDIA + PARTIAL)
    assert (gone.status, protobuf.read_object(gone.body, STATUS)["status"]) == (200, "Success")
    client.send("DELETE", f"{CRDS}/gadgets.{group}")


def test_watch(client: Client) -> None:
    path = "/api/v1/namespaces?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&fieldSelector=metadata.name=default"
    answer = client.get(path, Accept=f"{MEDIA};stream=watch")
    assert answer.headers["Content-Type"] == STREAM
    events = frames(answer.body)
    assert events[0][0] == "ADDED"
    assert protobuf.read_object(events[0][1], NAMESPACE) == client.get("/api/v1/namespaces/default").body
    path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    type_, body = frames(client.get(path, Accept=MEDIA).body)[1]
    found = protobuf.read_object(body, NAMESPACE)["metadata"]
    assert (type_, found["annotations"]) == ("BOOKMARK", {"k8s.io/initial-events-end": "true"})
    assert int(found["resourceVersion"]) > 0


def test_a_table_is_never_protobuf(client: Client) -> None:
    table = ";as=Table;g=meta.k8s.io;v=v1"
    assert client.get(MAPS, Accept=f"{MEDIA}{table},application/json{table}").body["kind"] == "Table"
    assert client.get(MAPS, Accept=f"{MEDIA}{table}").status == 406


def test_a_scale_may_be_protobuf_on_every_kind(client: Client) -> None:
    group = "pbscale.example.com"
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    assert client.post(CRDS, definition(group, subresources={"scale": paths})).status == 201
    objects = f"/apis/{group}/v1/namespaces/default/gadgets"
    assert client.post(objects, gadget(group, "a", spec={"replicas": 1})).status == 201
    shown = client.get(f"{objects}/a/scale").body | {"spec": {"replicas": 7}}
    answer = client.send("PUT", f"{objects}/a/scale", protobuf.write_object(SCALE, shown), Content_Type=MEDIA)
    assert (answer.status, answer.body["spec"]) == (200, {"replicas": 7})
    client.send("DELETE", f"{CRDS}/gadgets.{group}")
