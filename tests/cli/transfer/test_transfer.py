"""Objects go from one server to another through files, and are there as they were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.cli import main
from podless.runtime.jsonobject import Object
from tests.conftest import CRDS, Client, definition, gadget

pytestmark = pytest.mark.slow


MAPS = "/api/v1/namespaces/{}/configmaps"


@pytest.fixture(scope="module")
def source() -> Iterator[Server]:
    with Server(garbage_delay=None) as server:
        yield server


@pytest.fixture
def target() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gets no answer does not ask again."""
    monkeypatch.setattr("podless.remote.cluster._TRIES", 1)


@pytest.fixture
def there(source: Server) -> Iterator[Client]:
    client = Client(source.url, source.token)
    yield client
    client.close()


@pytest.fixture
def here(target: Server) -> Iterator[Client]:
    client = Client(target.url, target.token)
    yield client
    client.close()


def reach(server: Server) -> list[str]:
    return ["--server", server.url, "--token", server.token, "--certificate-authority", str(server.authority)]


def export(server: Server, *arguments: str) -> int:
    return main(["export", *arguments, *reach(server)])


def load(server: Server, *arguments: str) -> int:
    return main(["import", *arguments, "--kubeconfig", str(server.kubeconfig)])


def owned(name: str, owner: Object, **metadata: Any) -> Object:
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    return {"metadata": {"name": name, "ownerReferences": [reference], **metadata}, "data": {"a": "b"}}


def with_status(group: str) -> Object:
    made = definition(group)
    (version,) = made["spec"]["versions"]
    version["subresources"] = {"status": {}}
    version["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return made


def team(client: Client, name: str) -> str:
    """A namespace with objects that own each other, have status and finalizers; returns the group."""
    group = f"{name}.example.com"
    assert client.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": {"team": name}}}).status == 201
    assert client.post(CRDS, with_status(group)).status == 201
    objects = f"/apis/{group}/v1/namespaces/{name}/gadgets"
    # what is owned sorts before its owner
    first = gadget(group, "z-owner", spec={"size": 1.5, "text": "yes: no"})
    first["metadata"] |= {"namespace": name, "finalizers": ["example.com/hold"], "labels": {"app": "a"}}
    owner = client.post(objects, first).body
    status = {"ready": True, "observedGeneration": 1, "conditions": [{"type": "A", "observedGeneration": 1}]}
    assert client.send("PUT", f"{objects}/z-owner/status", {**owner, "status": status}).status == 200
    owner = client.merge(f"{objects}/z-owner", {"spec": {"size": 2}}).body
    status = {**owner["status"], "observedGeneration": owner["metadata"]["generation"]}
    assert client.send("PUT", f"{objects}/z-owner/status", {**owner, "status": status}).status == 200
    middle = client.post(MAPS.format(name), owned("m-owned", owner, labels={"app": "a"})).body
    assert (
        client.post(MAPS.format(name), owned("a-owned", {"apiVersion": "v1", "kind": "ConfigMap", **middle})).status
        == 201
    )
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    assert client.merge(account, {"imagePullSecrets": [{"name": "pull"}]}).status == 200
    return group


def check(here: Client, name: str, group: str, before: Object) -> None:
    owner = here.get(f"/apis/{group}/v1/namespaces/{name}/gadgets/z-owner").body
    assert owner["metadata"]["uid"] != before["metadata"]["uid"]
    assert owner["metadata"]["finalizers"] == ["example.com/hold"]
    assert owner["spec"] == before["spec"]
    generation = owner["metadata"]["generation"]
    assert owner["status"]["ready"]
    assert owner["status"]["observedGeneration"] == generation
    middle = here.get(f"{MAPS.format(name)}/m-owned").body
    last = here.get(f"{MAPS.format(name)}/a-owned").body
    assert [ref["uid"] for ref in middle["metadata"]["ownerReferences"]] == [owner["metadata"]["uid"]]
    assert [ref["uid"] for ref in last["metadata"]["ownerReferences"]] == [middle["metadata"]["uid"]]
    assert here.get(f"/api/v1/namespaces/{name}").body["metadata"]["labels"]["team"] == name


@pytest.mark.parametrize("form", ["yaml", "json", "folder"])
def test_a_namespace_with_all_that_it_needs(
    source: Server,
    there: Client,
    target: Server,
    here: Client,
    tmp_path: Path,
    form: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"team-{form}"
    group = team(there, name)
    before = there.get(f"/apis/{group}/v1/namespaces/{name}/gadgets/z-owner").body
    out = tmp_path / "out"
    where = ["--folder", str(out)] if form == "folder" else ["-f", str(out), "-o", form]
    assert export(source, "--all", "-n", name, *where) == 0
    assert "exported " in capsys.readouterr().err
    assert load(target, str(out)) == 0
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.endswith("unchanged 0, failed 0")
    check(here, name, group, before)
    account = here.get(f"/api/v1/namespaces/{name}/serviceaccounts/default").body
    assert account["imagePullSecrets"] == [{"name": "pull"}]
    # once more: all is there
    revision = here.get(MAPS.format(name)).body["metadata"]["resourceVersion"]
    assert load(target, str(out)) == 0
    assert capsys.readouterr().err.splitlines()[-1].startswith("imported 0, changed 0, ")
    items = here.get(MAPS.format(name)).body["items"]
    assert max(int(item["metadata"]["resourceVersion"]) for item in items) <= int(revision)
    check(here, name, group, before)


@pytest.mark.usefixtures("impatient")
def test_an_import_that_was_interrupted_goes_on(
    source: Server, there: Client, target: Server, here: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = team(there, "broken")
    for number in range(40):
        there.post(MAPS.format("broken"), {"metadata": {"name": f"n{number:02}"}, "data": {"n": str(number)}})
    out = str(tmp_path / "out.yaml")
    assert export(source, "--all", "-n", "broken", "-f", out) == 0
    capsys.readouterr()
    # the connection is lost at the status, which comes after the object itself...
    target.faults.add(verb="update", resource="gadgets/status", drop="before")
    assert load(target, out) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("; run it again to go on")
    assert "status" not in here.get(f"/apis/{group}/v1/namespaces/broken/gadgets/z-owner").body
    target.faults.clear()
    # ...and then some of what owns others is refused
    target.faults.add(verb="create", resource="configmaps", status=500, times=7)
    assert load(target, out) == 1
    refused = [line for line in capsys.readouterr().err.splitlines() if line.startswith("podless: ConfigMap broken/")]
    assert len(refused) == 7
    target.faults.clear()
    assert load(target, out) == 0
    check(here, "broken", group, there.get(f"/apis/{group}/v1/namespaces/broken/gadgets/z-owner").body)
    assert {item["metadata"]["name"] for item in here.get(MAPS.format("broken")).body["items"]} == {
        item["metadata"]["name"] for item in there.get(MAPS.format("broken")).body["items"]
    }
    capsys.readouterr()
    assert load(target, out) == 0
    assert capsys.readouterr().err.splitlines()[-1].startswith("imported 0, changed 0, ")


def test_chosen_objects(
    source: Server, there: Client, target: Server, here: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = team(there, "chosen")
    assert export(source, f"gadgets.{group}", "cm", "-l", "app=a", "-o", "json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ours = [obj for obj in lines if "chosen" in str(obj["metadata"])]
    assert [(obj["kind"], obj["metadata"]["name"]) for obj in ours] == [
        ("CustomResourceDefinition", f"gadgets.{group}"),
        ("Namespace", "chosen"),
        ("Gadget", "z-owner"),
        ("ConfigMap", "m-owned"),
    ]
    assert not any({"resourceVersion", "managedFields"} & set(obj["metadata"]) for obj in ours)
    assert export(source, "configmaps", "-n", "chosen", "--only", "-o", "json") == 0
    assert {json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()} == {"ConfigMap"}
    out = str(tmp_path / "all")
    assert export(source, "--all", "-f", out) == 0
    assert load(target, out, "--kind", "gadget", "-n", "chosen") == 0
    assert here.get(f"/apis/{group}/v1/namespaces/chosen/gadgets/z-owner").status == 200
    assert here.get(f"{MAPS.format('chosen')}/m-owned").status == 404
    namespaces = {item["metadata"]["name"] for item in here.get("/api/v1/namespaces").body["items"]}
    assert namespaces == {"chosen", "default", "kube-system", "kube-public", "kube-node-lease"}
    assert [item["spec"]["group"] for item in here.get(CRDS).body["items"]] == [group]
    capsys.readouterr()
    assert load(target, out, "--kind", "nosuch") == 1
    assert "--kind nosuch: neither the server nor the files have such a resource" in capsys.readouterr().err
    # what it owns, whose owner is on the server by now
    assert load(target, out, "-l", "app=a", "-n", "chosen", "--kind", "cm") == 0
    (reference,) = here.get(f"{MAPS.format('chosen')}/m-owned").body["metadata"]["ownerReferences"]
    assert reference["uid"] == here.get(f"/apis/{group}/v1/namespaces/chosen/gadgets/z-owner").body["metadata"]["uid"]


def test_a_whole_server(
    source: Server,
    there: Client,
    target: Server,
    here: Client,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("podless.cli.transfer.export._PAGE", 10)
    for number in range(25):
        there.post(MAPS.format("default"), {"metadata": {"name": f"page{number}"}})
    there.post("/api/v1/namespaces/default/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    there.post(
        "/api/v1/namespaces/default/events", {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}}
    )
    token = {"name": "t", "annotations": {"kubernetes.io/service-account.name": "default"}}
    there.post("/api/v1/namespaces/default/secrets", {"metadata": token, "type": "kubernetes.io/service-account-token"})
    role = there.merge(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/view", {"metadata": {"labels": {"ours": "yes"}}}
    )
    assert role.status == 200
    out = tmp_path / "all"
    assert export(source, "--all", "-f", str(out), "-o", "json") == 0
    names = {(obj["kind"], obj["metadata"]["name"]) for obj in map(json.loads, out.read_text().splitlines())}
    assert len({name for kind, name in names if kind == "ConfigMap"}) >= 25
    assert ("Service", "s") in names
    kinds = {kind for kind, _ in names}
    assert not kinds & {"ClusterRole", "ClusterRoleBinding", "APIService", "FlowSchema", "Event", "Lease"}
    assert not names & {("Service", "kubernetes"), ("Secret", "t"), ("ConfigMap", "kube-root-ca.crt")}
    capsys.readouterr()
    assert load(target, str(out)) == 0
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.endswith(" failed 0")
    assert len(here.get(MAPS.format("default")).body["items"]) >= 25


def test_what_is_there_and_differs(
    target: Server, here: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "list.yaml"
    file.write_text(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n"
        "  data: {k: new}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n"
    )
    place = f"{MAPS.format('default')}/a"
    here.post(MAPS.format("default"), {"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"k": "old", "m": "1"}})
    assert load(target, str(file)) == 1
    err = capsys.readouterr().err
    assert "podless: ConfigMap default/a: exists with other content; choose what to do with --existing\n" in err
    assert err.endswith("imported 1, changed 0, unchanged 0, failed 1\n")
    assert load(target, str(file), "--existing", "skip") == 0
    assert here.get(place).body["data"] == {"k": "old", "m": "1"}
    assert load(target, str(file), "--existing", "replace") == 0
    assert here.get(place).body["data"] == {"k": "new"}


def test_owners_that_are_made_later_or_never(
    target: Server, here: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def reference(name: str, uid: str) -> Object:
        return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}

    def owned(name: str, uid: str, *owners: Object) -> Object:
        metadata = {"name": name, "uid": uid, "ownerReferences": list(owners)}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    circle = [owned("a", "1", reference("b", "2")), owned("b", "2", reference("a", "1"))]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "space", "uid": "3"}}
    tenant = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    space["metadata"]["ownerReferences"] = [{**tenant, "name": "tenant", "uid": "4"}]  # type: ignore[index]
    tenant |= {"metadata": {"name": "tenant", "uid": "4"}, "rules": []}  # type: ignore[dict-item]
    lost = owned("lost", "5", reference("nobody", "6"))
    file = tmp_path / "owners"
    file.write_text("".join(json.dumps(obj) + "\n" for obj in (*circle, space, tenant, lost)))
    assert load(target, str(file)) == 0
    uids = {name: here.get(f"{MAPS.format('default')}/{name}").body["metadata"] for name in "ab"}
    for one, other in ("ab", "ba"):
        assert [ref["uid"] for ref in uids[one]["ownerReferences"]] == [uids[other]["uid"]]
    owner = here.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/tenant").body["metadata"]["uid"]
    assert [ref["uid"] for ref in here.get("/api/v1/namespaces/space").body["metadata"]["ownerReferences"]] == [owner]
    assert "ownerReferences" not in here.get(f"{MAPS.format('default')}/lost").body["metadata"]
    line = "podless: ConfigMap default/lost: left out the reference to its owner ConfigMap nobody, which does not exist"
    assert line in capsys.readouterr().err.splitlines()


@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_done_is_told_in_a_line(
    target: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(code: int, expected: int) -> str:
        assert code == expected
        return capsys.readouterr().err.splitlines()[0]

    assert told(export(target), 2) == "podless: name the kinds, or use --all"
    assert told(export(target, "none"), 1) == "podless: the server has no none that can be listed and created"
    line = told(export(target, "namespaces", "-n", "a"), 1)
    assert line == "podless: namespaces: not in a namespace; leave --namespace out"
    line = told(export(target, "configmaps", "-n", "nowhere", "-n", "default"), 1)
    assert line == 'podless: namespaces "nowhere" not found'
    assert "does not exist" in told(export(target, "--all", "-f", str(tmp_path / "none" / "x")), 1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x.yaml").write_text("a: 1\n---\nkind: [\n")
    line = told(export(target, "--all", "--folder", str(tmp_path / "full")), 1)
    assert line == f"podless: {tmp_path / 'full'}: not an empty folder"
    first = f"podless: {tmp_path / 'full' / 'x.yaml'}:1: an object needs apiVersion, kind and metadata.name"
    assert told(load(target, str(tmp_path / "full")), 1) == first
    assert told(load(target, str(tmp_path / "none")), 1) == f"podless: {tmp_path / 'none'}: no such file or directory"
    assert main(["export", "--all", "--server", "http://127.0.0.1:1"]) == 1
    assert capsys.readouterr().err.startswith("podless: http://127.0.0.1:1: ")
    assert main(["export", "--all", "--token", "x"]) == 1
    assert capsys.readouterr().err.endswith("require --server\n")
    (tmp_path / "bad.json").write_text('{"apiVersion":"example.com/v1","kind":"None","metadata":{"name":"n"}}\n')
    line = told(load(target, str(tmp_path / "bad.json")), 1)
    assert line == "podless: None n: the server has no None in example.com/v1"
