"""ThirdPartyResources and their objects, over plain HTTP."""

from __future__ import annotations

import json
from typing import Any

from podless import Server
from tests.conftest import Client
from tests.eventually import until
from tests.legacy.conftest import RUNTIME, THIRD, watch


def third(group: str, name: str = "cron-tab", versions: tuple[str, ...] = ("v1", "v2"), **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "extensions/v1beta1",
        "kind": "ThirdPartyResource",
        "metadata": {"name": f"{name}.{group}"},
        "description": "Runs something again and again",
        "versions": [{"name": version} for version in versions],
    } | more


def crontab(group: str, name: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/{version}", "kind": "CronTab", "metadata": {"name": name}} | fields


def path(group: str, version: str = "v1", namespace: str = "default") -> str:
    return f"/apis/{group}/{version}/namespaces/{namespace}/crontabs"


def causes(answer: Any) -> list[tuple[str, str]]:
    return [(cause["field"], cause["message"]) for cause in answer.body["details"]["causes"]]


def test_it_is_in_force_at_once_in_every_version(client: Client) -> None:
    group = "force.example.com"
    made = client.post(THIRD, third(group))
    assert made.status == 201
    assert "ThirdPartyResource is deprecated" in made.headers["Warning"]
    for version in ("v1", "v2"):
        found = client.get(f"/apis/{group}/{version}").body["resources"]
        assert [(one["name"], one["kind"], one["namespaced"]) for one in found] == [("crontabs", "CronTab", True)]
    assert client.get(path(group)).body["kind"] == "CronTabList"


def test_objects_come_back_with_metadata(client: Client) -> None:
    group = "metadata.example.com"
    client.post(THIRD, third(group))
    given = crontab(group, "one", cronSpec="* * * * /5", image="my-image", odd=[None, {"x": 1.5}], status={"a": 1})
    made = client.post(path(group), given)
    assert made.status == 201
    found = client.get(f"{path(group)}/one").body
    assert {key: found[key] for key in given if key != "metadata"} == {
        key: given[key] for key in given if key != "metadata"
    }
    assert {"uid", "resourceVersion", "creationTimestamp", "name", "namespace"} <= found["metadata"].keys()
    other = client.get(f"{path(group, 'v2')}/one").body
    assert other["apiVersion"] == f"{group}/v2"
    assert other["cronSpec"] == "* * * * /5"
    two = client.post(path(group, "v2"), crontab(group, "two", "v2", image="i"))
    assert two.status == 201
    assert client.get(f"{path(group)}/two").body["apiVersion"] == f"{group}/v1"


def test_lists_by_label_in_all_namespaces(client: Client) -> None:
    group = "labels.example.com"
    client.post(THIRD, third(group))
    for index, namespace in enumerate(("default", "kube-public", "default")):
        one = crontab(group, f"c{index}")
        one["metadata"]["labels"] = {"tier": "ab"[index % 2]}
        assert client.post(path(group, namespace=namespace), one).status == 201
    found = client.get(f"{path(group)}?labelSelector=tier%3Da").body
    assert [one["metadata"]["name"] for one in found["items"]] == ["c0", "c2"]
    everywhere = client.get(f"/apis/{group}/v1/crontabs?labelSelector=tier").body["items"]
    assert len(everywhere) == 3


def test_compare_and_swap(client: Client) -> None:
    group = "swap.example.com"
    client.post(THIRD, third(group))
    made = client.post(path(group), crontab(group, "one", image="a")).body
    first = client.send("PUT", f"{path(group)}/one", made | {"image": "b"})
    assert (first.status, first.body["image"]) == (200, "b")
    late = client.send("PUT", f"{path(group)}/one", made | {"image": "c"})
    assert (late.status, late.body["reason"]) == (409, "Conflict")
    # an update that names no state is taken as it is
    blind = client.send("PUT", f"{path(group)}/one", crontab(group, "one", image="d"))
    assert (blind.status, blind.body["image"]) == (200, "d")


def test_watches_tell_of_changes(client: Client, server: Server) -> None:
    group = "watches.example.com"
    client.post(THIRD, third(group))
    start = client.get(path(group)).body["metadata"]["resourceVersion"]
    client.post(path(group), crontab(group, "one"))
    client.merge(f"{path(group)}/one", {"image": "x"})
    client.send("DELETE", f"{path(group)}/one")
    told = list(watch(server, path(group, "v2"), start, "DELETED"))
    assert told == [("ADDED", "one"), ("MODIFIED", "one"), ("DELETED", "one")]


def test_events_are_recorded_about_objects(client: Client) -> None:
    group = "events.example.com"
    client.post(THIRD, third(group))
    uid = client.post(path(group), crontab(group, "one")).body["metadata"]["uid"]
    about = {"apiVersion": f"{group}/v1", "kind": "CronTab", "namespace": "default", "name": "one", "uid": uid}
    event = {"metadata": {"name": "one.1"}, "involvedObject": about, "reason": "Ran", "message": "ok", "type": "Normal"}
    assert client.post("/api/v1/namespaces/default/events", event).status == 201
    found = client.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DCronTab").body["items"]
    assert [one["reason"] for one in found] == ["Ran"]


def test_server_side_apply_and_patches(client: Client) -> None:
    group = "apply.example.com"
    client.post(THIRD, third(group))
    where = f"{path(group)}/one?fieldManager=me"
    applied = client.send(
        "PATCH", where, crontab(group, "one", spec={"a": 1, "b": 2}), Content_Type="application/apply-patch+yaml"
    )
    assert applied.status == 201
    again = client.send(
        "PATCH", where, crontab(group, "one", spec={"a": 1}), Content_Type="application/apply-patch+yaml"
    )
    assert again.body["spec"] == {"a": 1}
    patched = client.send(
        "PATCH",
        f"{path(group)}/one",
        [{"op": "add", "path": "/spec/c", "value": 3}],
        Content_Type="application/json-patch+json",
    )
    assert patched.body["spec"] == {"a": 1, "c": 3}


def test_what_is_refused(client: Client) -> None:
    short = client.post(THIRD, third("com", "cron-tab"))
    assert causes(short) == [
        ("metadata.name", 'Invalid value: "cron-tab.com": must be at least three segments long: <kind>.<domain>.<tld>')
    ]
    capital = client.post(THIRD, third("refused.example.com", "CronTab"))
    assert "a lowercase RFC 1123 subdomain must consist of" in causes(capital)[0][1]
    empty = client.post(THIRD, third("refused.example.com", versions=()))
    assert causes(empty) == [("versions", "Required value: must specify at least one version")]
    wrong = client.post(THIRD, third("refused.example.com", versions=("", "v1", "v1", "V1")))
    assert [one[0] for one in causes(wrong)] == ["versions[0].name", "versions[2].name", "versions[3].name"]
    group = third("refused.example.com") | {"versions": [{"name": "v1", "apiGroup": "other.example.com"}]}
    assert causes(client.post(THIRD, group))[0][0] == "versions[0].apiGroup"
    kind = client.post(THIRD, third("refused.example.com") | {"kind": "CronTab"})
    assert kind.status == 400


def warned(client: Client, method: str, where: str, body: Any) -> str:
    """All warnings of an answer."""
    media = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Authorization": f"Bearer {client._token}", "Content-Type": media}
    connection = client._connect()
    connection.request(method, where, json.dumps(body), headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status < 300
    return "\n".join(answer.headers.get_all("Warning") or ())


def test_a_short_group_is_warned_of(client: Client) -> None:
    short = "the group company.com has fewer than three segments"
    assert short in warned(client, "POST", THIRD, third("company.com", "foo"))
    assert short not in warned(client, "PATCH", f"{THIRD}/foo.company.com", {"description": "Foo"})
    assert short not in warned(client, "POST", THIRD, third("mygroup.company.com", "foo"))


def test_it_is_in_no_namespace(client: Client) -> None:
    group = "placeless.example.com"
    inside = client.post("/apis/extensions/v1beta1/namespaces/default/thirdpartyresources", third(group))
    assert inside.status == 404
    placed = third(group)
    placed["metadata"]["namespace"] = "default"
    refused = client.post(THIRD, placed)
    assert causes(refused) == [("metadata.namespace", "Forbidden: not allowed on this type")]


def test_a_namespace_takes_its_objects_along(client: Client, server: Server) -> None:
    group = "namespace.example.com"
    client.post(THIRD, third(group))
    client.post("/api/v1/namespaces", {"metadata": {"name": "third-ends"}})
    client.post(path(group, namespace="third-ends"), crontab(group, "one"))
    client.post(path(group), crontab(group, "stays"))
    since = client.get("/api/v1/namespaces").body["metadata"]["resourceVersion"]
    client.send("DELETE", "/api/v1/namespaces/third-ends")
    assert list(watch(server, "/api/v1/namespaces", since, "DELETED"))[-1] == ("DELETED", "third-ends")
    assert [one["metadata"]["name"] for one in client.get(f"/apis/{group}/v1/crontabs").body["items"]] == ["stays"]


def test_its_end_takes_all_objects_along(client: Client, server: Server) -> None:
    group = "end.example.com"
    client.post(THIRD, third(group))
    held = crontab(group, "held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    client.post(path(group), held)
    client.post(path(group), crontab(group, "free"))
    assert client.send("DELETE", f"{THIRD}/cron-tab.{group}").status == 200
    assert client.post(path(group), crontab(group, "late")).status == 403
    since = client.get(THIRD).body["metadata"]["resourceVersion"]
    client.merge(f"{path(group)}/held", {"metadata": {"finalizers": None}})
    assert list(watch(server, THIRD, since, "DELETED")) == [("DELETED", f"cron-tab.{group}")]
    until(lambda: client.get(path(group)).status == 404)
    # made again it starts out empty
    client.post(THIRD, third(group))
    assert client.get(path(group)).body["items"] == []


def test_versions_may_come_and_go(client: Client) -> None:
    group = "versions.example.com"
    client.post(THIRD, third(group, versions=("v1",)))
    client.post(path(group), crontab(group, "one", image="a"))
    assert client.get(path(group, "v3")).status == 404
    client.merge(f"{THIRD}/cron-tab.{group}", {"versions": [{"name": "v3"}]})
    assert client.get(f"{path(group, 'v3')}/one").body["image"] == "a"
    assert client.get(path(group)).status == 404


def test_tables_and_documents(client: Client) -> None:
    group = "shown.example.com"
    client.post(THIRD, third(group))
    table = client.get(f"{THIRD}/cron-tab.{group}", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    assert [definition["name"] for definition in table["columnDefinitions"]] == ["Name", "Description", "Version(s)"]
    assert table["rows"][0]["cells"] == [f"cron-tab.{group}", "Runs something again and again", "v1,v2"]
    schemas = client.get("/openapi/v3/apis/extensions/v1beta1").body["components"]["schemas"]
    assert schemas["io.k8s.api.extensions.v1beta1.ThirdPartyResource"]["properties"]["versions"]["type"] == "array"
    objects = client.get(f"/openapi/v3/apis/{group}/v1").body["components"]["schemas"]
    assert objects["com.example.shown.v1.CronTab"]["type"] == "object"


def test_all_is_there_after_a_restart_even_where_the_api_is_not_served(tmp_path: Any) -> None:
    group = "restart.example.com"
    with Server(tmp_path, runtime_config=RUNTIME) as server:
        client = Client(server.url, server.token)
        client.post(THIRD, third(group))
        client.post(path(group), crontab(group, "one", image="a"))
        client.close()
    with Server(tmp_path) as server:
        client = Client(server.url, server.token)
        assert client.get(THIRD).status == 404
        assert client.get(f"{path(group)}/one").body["image"] == "a"
        client.close()
