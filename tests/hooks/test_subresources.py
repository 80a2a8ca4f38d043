"""Hooks answer subresources of custom resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server, StartError, hooks
from podless.auth.user import User
from podless.runtime.jsonobject import Object
from tests.conftest import Client
from tests.hooks.test_conversion import definition

PATH = "/apis/example.com/v1/namespaces/default/widgets"


@hooks.subresource("widgets.example.com/restart", kind="WidgetRestart", side_effects="NoneOnDryRun")
def restart(obj: Object, body: Object | None, request: hooks.Request) -> Object:
    if body and body.get("deny"):
        raise hooks.Denied("not now", code=409, reason="Conflict")
    request.warn("restarting takes a minute")
    return {
        "status": {"size": obj["spec"]["size"], "body": body, "dry": request.dry_run, "by": request.user["username"]}
    }


@hooks.subresource("widgets.example.com/report", verbs=["get"])
async def report(obj: Object, request: hooks.Request) -> Object:
    return {"kind": "Report", "lines": [request.operation, obj["apiVersion"], *request.given["query"]["tail"]]}


@hooks.subresource("widgets.example.com/report", verbs=["update"], name="replace_report")
def replace_report() -> Any:
    return [1]


@hooks.subresource("widgets.example.com/broken", verbs=["get", "create"])
def broken() -> Object:
    raise RuntimeError("hunter2")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    given = [restart, report, replace_report, broken]
    with Server(hooks=given, tls=False, tokens={"dev": User("dev")}) as server:
        server.apply(definition())
        head = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
        server.create({**head, "spec": {"size": 3}})
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}}
        rule = {"apiGroups": ["example.com"], "resources": ["widgets/restart", "widgets/broken"], "verbs": ["create"]}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "r"}}
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "dev"}
        server.apply([{**role, "rules": [rule]}, {**binding, "roleRef": ref, "subjects": [subject]}])
        yield server


def test_a_post_gets_the_object_and_the_body(client: Client) -> None:
    answer = client.post(f"{PATH}/a/restart", {"force": True})
    assert answer.status == 201
    status = {"size": 3, "body": {"force": True}, "dry": False, "by": "admin"}
    assert answer.body == {"kind": "WidgetRestart", "apiVersion": "example.com/v1", "status": status}
    assert "restarting takes a minute" in answer.headers["Warning"]
    assert client.send("POST", f"{PATH}/a/restart").body["status"]["body"] is None


def test_a_read_has_the_version_that_it_asks_for(client: Client) -> None:
    path = PATH.replace("v1", "v2")
    answer = client.get(f"{path}/a/report?tail=9")
    assert answer.status == 200
    assert answer.body == {"apiVersion": "example.com/v2", "kind": "Report", "lines": ["GET", "example.com/v2", "9"]}


def test_dry_runs_are_told_or_rejected(client: Client) -> None:
    assert client.post(f"{PATH}/a/restart?dryRun=All", {}).body["status"]["dry"] is True
    answer = client.post(f"{PATH}/a/broken?dryRun=All", {})
    assert (answer.status, answer.body["message"]) == (400, 'hook "broken" does not support dry run')


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "said"),
    [
        ("POST", "a/restart", {"deny": True}, 409, "not now"),
        ("POST", "b/restart", {}, 404, 'widgets.example.com "b" not found'),
        ("POST", "a/restart", [1], 400, "the body must be an object"),
        ("GET", "a/restart", None, 405, "get is not supported on resources of kind"),
        ("GET", "a/other", None, 404, ""),
        ("PUT", "a/report", {}, 500, 'failed calling hook "replace_report": it returned list: a subresource hook'),
        ("GET", "a/broken", None, 500, 'failed calling hook "broken": it raised an exception (RuntimeError at '),
    ],
)  # fmt: skip
def test_errors(client: Client, method: str, path: str, body: Any, code: int, said: str) -> None:
    answer = client.send(method, f"{PATH}/{path}", body)
    assert answer.status == code
    assert said in answer.body["message"]
    assert "hunter2" not in str(answer.body)


def test_access_is_granted_by_the_name_of_the_subresource(server: Server) -> None:
    client = Client(server.url, "dev")
    assert client.post(f"{PATH}/a/restart", {}).status == 201
    assert client.get(f"{PATH}/a").status == 403
    assert client.get(f"{PATH}/a/report?tail=1").status == 403
    said = client.post(f"{PATH}/a/broken", {}).body["message"]
    assert said == 'Internal error occurred: failed calling hook "broken": it raised an exception'
    client.close()


def test_discovery_and_openapi_show_it(client: Client) -> None:
    found = {resource["name"]: resource for resource in client.get("/apis/example.com/v1").body["resources"]}
    assert found["widgets/restart"]["kind"] == "WidgetRestart"
    assert found["widgets/restart"]["verbs"] == ["create"]
    assert found["widgets/report"]["verbs"] == ["get", "update"]
    paths = client.get("/openapi/v3/apis/example.com/v1").body["paths"]
    path = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/restart"
    assert paths[path]["post"]["operationId"] == "createExampleComV1NamespacedWidgetRestart"
    assert path in client.get("/openapi/v2").body["paths"]


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ("widgets.example.com", {}, "names no subresource"),
        ("widgets/restart", {}, "names no subresource"),
        ("widgets.example.com/status", {}, "names no subresource"),
        ("widgets.example.com/Up", {}, "names no subresource"),
        ("widgets.example.com/up", {"verbs": ["watch"]}, "verbs are some of get, create, update"),
        ("widgets.example.com/up", {"verbs": []}, "verbs are some of"),
        ("widgets.example.com/up", {"side_effects": "Maybe"}, "side_effects is"),
    ],
)
def test_declarations_that_cannot_work_are_rejected(given: str, options: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        hooks.subresource(given, **options)


def test_one_verb_has_one_hook() -> None:
    second = hooks.subresource("widgets.example.com/restart", name="second")(lambda obj: obj)
    with pytest.raises(StartError, match="two hooks that answer create of"):
        Server(hooks=[restart, second]).__enter__()
