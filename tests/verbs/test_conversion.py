"""Objects in all versions of a kind whose versions only a webhook can tell apart."""

from __future__ import annotations

import copy
import json
import threading
import urllib.parse
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any

import pytest

from podless import Server
from podless.runtime.jsonobject import Object
from tests.conftest import CRDS, Client
from tests.webhooks import Raw, Webhook

pytestmark = pytest.mark.slow


_V1 = {
    "type": "object",
    "properties": {"hostPort": {"type": "string"}, "mode": {"type": "string", "default": "slow"}},
}
_V2 = {
    "type": "object",
    "properties": {"host": {"type": "string"}, "port": {"type": "string"}, "mode": {"type": "string"}},
}


def crd(group: str, hook: Webhook, *, storage: str = "v1", **webhook: Any) -> Object:
    """Crontabs with hostPort in v1, and host and port in v2, as in the documents."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"crontabs.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "kind": "CronTab"},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == storage,
                    "schema": {"openAPIV3Schema": schema},
                    "selectableFields": [{"jsonPath": f".{'hostPort' if name == 'v1' else 'host'}"}],
                }
                for name, schema in (("v1", _V1), ("v2", _V2))
            ],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": hook.config, "conversionReviewVersions": ["v1"], **webhook},
            },
        },
    }


def convert(obj: Object, wanted: str) -> Object:
    obj = copy.deepcopy(obj)
    if obj["apiVersion"] == wanted:
        return obj
    obj["apiVersion"] = wanted
    if wanted.endswith("/v2"):
        obj["host"], _, obj["port"] = obj.pop("hostPort", "").partition(":")
        obj["unknown"] = "dropped"
        obj["metadata"].setdefault("labels", {})["shown-in"] = "v2"
    else:
        obj["hostPort"] = f"{obj.pop('host', '')}:{obj.pop('port', '')}"
        labels = obj["metadata"].pop("labels", {})
        if kept := {key: value for key, value in labels.items() if key != "shown-in"}:
            obj["metadata"]["labels"] = kept
    return obj


def review(body: Object) -> Object:
    request = body["request"]
    converted = [convert(obj, request["desiredAPIVersion"]) for obj in request["objects"]]
    response = {"uid": request["uid"], "convertedObjects": converted, "result": {"status": "Success"}}
    return {"kind": "ConversionReview", "apiVersion": body["apiVersion"], "response": response}


@pytest.fixture
def hook() -> Iterator[Webhook]:
    hook = Webhook(review)
    yield hook
    hook.close()


class Group:
    """One group with its definition, and where its objects are."""

    def __init__(self, client: Client, group: str, hook: Webhook, **options: Any) -> None:
        self.client, self.name, self.hook = client, group, hook
        self.definition = f"{CRDS}/crontabs.{group}"
        assert client.post(CRDS, crd(group, hook, **options)).status == 201

    def path(self, version: str, name: str = "") -> str:
        return f"/apis/{self.name}/{version}/namespaces/default/crontabs" + (f"/{name}" if name else "")

    def make(self, version: str, name: str, **fields: Any) -> Object:
        obj = {"apiVersion": f"{self.name}/{version}", "kind": "CronTab", "metadata": {"name": name}, **fields}
        made = self.client.post(self.path(version), obj)
        assert made.status == 201, made.body
        body: Object = made.body
        return body

    def store_as(self, version: str) -> None:
        other = {"v1": "v2", "v2": "v1"}[version]
        body = self.client.get(self.definition).body
        for entry in body["spec"]["versions"]:
            entry["storage"] = entry["name"] != other
        assert self.client.send("PUT", self.definition, body).status == 200


@pytest.fixture
def group(client: Client, hook: Webhook, request: pytest.FixtureRequest) -> Group:
    name = request.node.name.partition("[")[0].replace("test_", "").replace("_", "-")[:50].strip("-")
    return Group(client, f"{name}.conversion.example.com", hook)


def test_an_object_is_read_in_the_other_version(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="localhost:80")
    assert not group.hook.calls
    shown = client.get(group.path("v2", "a")).body
    assert (shown["apiVersion"], shown["host"], shown["port"]) == (f"{group.name}/v2", "localhost", "80")
    assert "unknown" not in shown
    assert "hostPort" not in shown
    (asked,) = group.hook.calls
    assert asked["kind"] == "ConversionReview"
    assert asked["apiVersion"] == "apiextensions.k8s.io/v1"
    assert asked["request"]["desiredAPIVersion"] == f"{group.name}/v2"
    (sent,) = asked["request"]["objects"]
    assert sent["mode"] == "slow"  # with the defaults of its own version
    assert "resourceVersion" not in sent["metadata"]
    assert client.get(group.path("v2", "a")).body == shown
    assert len(group.hook.calls) == 1  # what is known is not asked again


def test_what_a_write_answers_is_converted_for_all(client: Client, group: Group) -> None:
    assert client.get(group.path("v2")).body["items"] == []
    made = group.make("v2", "a", host="h", port="1")
    asked = [call["request"]["desiredAPIVersion"] for call in group.hook.calls]
    assert asked == [f"{group.name}/v1", f"{group.name}/v2"]
    assert client.get(group.path("v2", "a")).body == made
    assert client.get(group.path("v2")).body["items"] == [made]
    assert len(group.hook.calls) == 2


def test_the_stored_version_needs_no_webhook(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="localhost:80")
    group.hook.close()
    assert client.get(group.path("v1", "a")).status == 200
    assert client.get(group.path("v1")).status == 200
    assert client.merge(group.path("v1", "a"), {"hostPort": "x:1"}).status == 200
    assert client.send("DELETE", group.path("v1", "a")).status == 200


def test_an_object_is_made_in_the_other_version(client: Client, group: Group) -> None:
    made = group.make("v2", "a", host="localhost", port="80")
    assert (made["apiVersion"], made["host"], made["port"]) == (f"{group.name}/v2", "localhost", "80")
    assert client.get(group.path("v1", "a")).body["hostPort"] == "localhost:80"


def test_an_object_is_changed_in_the_other_version(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="localhost:80")
    patched = client.merge(group.path("v2", "a"), {"port": "81"})
    assert (patched.status, patched.body["port"]) == (200, "81")
    again = client.send("PUT", group.path("v2", "a"), patched.body | {"host": "there"})
    assert (again.status, again.body["host"]) == (200, "there")
    assert client.get(group.path("v1", "a")).body["hostPort"] == "there:81"


def test_a_change_that_changes_nothing_is_not_stored(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="localhost:80")
    shown = client.get(group.path("v2", "a")).body
    assert client.send("PUT", group.path("v2", "a"), shown).body == shown


def test_dry_runs_show_what_would_be_stored(client: Client, group: Group) -> None:
    obj = {"apiVersion": f"{group.name}/v2", "kind": "CronTab", "metadata": {"name": "a"}, "host": "h", "port": "1"}
    dry = client.post(group.path("v2") + "?dryRun=All", obj).body
    assert (dry["host"], dry["mode"]) == ("h", "slow")
    assert client.get(group.path("v2", "a")).status == 404


def test_apply_in_both_versions(client: Client, group: Group) -> None:
    def apply(version: str, manager: str, **fields: Any) -> Any:
        obj = {"apiVersion": f"{group.name}/{version}", "kind": "CronTab", "metadata": {"name": "a"}, **fields}
        url = group.path(version, "a") + f"?fieldManager={manager}"
        return client.send("PATCH", url, obj, Content_Type="application/apply-patch+yaml")

    assert apply("v1", "one", hostPort="localhost:80").status == 201
    # the same in the words of the other version is no conflict
    assert apply("v2", "two", host="localhost").status == 200
    conflict = apply("v2", "two", host="elsewhere")
    assert conflict.status == 409
    assert 'conflict with "one": .hostPort' in conflict.body["message"] or ".host" in conflict.body["message"]
    versions = {entry["apiVersion"] for entry in client.get(group.path("v1", "a")).body["metadata"]["managedFields"]}
    assert versions == {f"{group.name}/v1", f"{group.name}/v2"}


def test_a_list_is_one_review(client: Client, group: Group) -> None:
    for number in range(20):
        group.make("v1", f"n{number:02}", hostPort=f"h{number}:80")
    listed = client.get(group.path("v2")).body
    assert [item["host"] for item in listed["items"]] == [f"h{number}" for number in range(20)]
    (asked,) = group.hook.calls
    assert len(asked["request"]["objects"]) == 20
    table = client.get(group.path("v2"), Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    assert len(table["rows"]) == 20
    assert len(group.hook.calls) == 1


def test_a_long_list_is_asked_for_once(client: Client, group: Group) -> None:
    for name in "abc":
        group.make("v1", name, hostPort=f"{name * 20_000}:1")
    for _ in range(2):
        items = client.get(group.path("v2")).body["items"]
        assert [item["host"][:1] for item in items] == ["a", "b", "c"]
    asked = [len(call["request"]["objects"]) for call in group.hook.calls]
    assert sum(asked) == len("abc")


def test_pages_convert_what_they_show(client: Client, group: Group) -> None:
    for number in range(5):
        group.make("v1", f"n{number}", hostPort="h:80")
    page = client.get(group.path("v2") + "?limit=2").body
    assert len(page["items"]) == 2
    assert len(group.hook.calls[0]["request"]["objects"]) == 2


def test_a_list_asks_only_for_what_is_not_in_the_version(client: Client, group: Group) -> None:
    group.make("v1", "old", hostPort="h:80")
    group.store_as("v2")
    group.make("v2", "new", host="h", port="80")
    group.hook.calls.clear()
    assert [item["host"] for item in client.get(group.path("v2")).body["items"]] == ["h", "h"]
    assert [obj["metadata"]["name"] for obj in group.hook.calls[0]["request"]["objects"]] == ["old"]


def test_selectors_see_the_version_that_is_asked_for(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="one:80")
    group.make("v1", "b", hostPort="two:80")

    def names(version: str, query: str) -> list[str]:
        return [item["metadata"]["name"] for item in client.get(f"{group.path(version)}?{query}").body["items"]]

    assert names("v2", "labelSelector=shown-in%3Dv2") == ["a", "b"]
    assert names("v1", "labelSelector=shown-in%3Dv2") == []
    assert names("v2", "fieldSelector=host%3Dtwo") == ["b"]


def test_metadata_is_protected(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="h:80", metadata={"name": "a", "finalizers": ["example.com/hold"]})

    def meddle(body: Object) -> Object:
        answer = review(body)
        for obj in answer["response"]["convertedObjects"]:
            obj["metadata"] |= {"finalizers": [], "creationTimestamp": "1999-01-01T00:00:00Z", "generation": 77}
            obj["metadata"]["annotations"] = {"example.com/by": "webhook"}
        return answer

    group.hook.answer = meddle
    before = client.get(group.path("v1", "a")).body["metadata"]
    shown = client.get(group.path("v2", "a")).body["metadata"]
    assert shown.pop("annotations") == {"example.com/by": "webhook"}
    assert shown.pop("labels") == {"shown-in": "v2"}
    assert shown == before


def lie(**changes: Any) -> Any:
    """A webhook whose response has these in place of what it should."""

    def answer(body: Object) -> Object:
        answer = review(body)
        for path, value in changes.items():
            *parents, last = path.split("__")
            at: Any = answer
            for name in parents:
                at = at[int(name)] if isinstance(at, list) else at[name]
            at[last] = value
        return answer

    return answer


_ONE = "response__convertedObjects__0"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lie(response__result={"status": "Failure", "message": "no idea"}), " failed: no idea"),
        (lie(response__result={"status": "Failure"}), " failed: response.result.status was 'Failure', not 'Success'"),
        (lie(response__result={}), " failed: response.result.status was '', not 'Success'"),
        (lie(response=None), " failed: no response provided"),
        (lie(response__convertedObjects=[]), " returned 0 objects, expected 1"),
        (
            lie(apiVersion="apiextensions.k8s.io/v1beta1"),
            " failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
        ),
        (
            lie(**{f"{_ONE}__apiVersion": "example.com/v7"}),
            " returned invalid object at index 0: invalid groupVersion (expected GROUP/v2, received example.com/v7)",
        ),
        (
            lie(**{f"{_ONE}__kind": "Other"}),
            " returned invalid object at index 0: invalid kind (expected CronTab, received Other)",
        ),
        (lie(**{f"{_ONE}__metadata__name": "b"}), " returned invalid object: must have the same name: a != b"),
        (
            lie(**{f"{_ONE}__metadata__namespace": "x"}),
            " returned invalid object: must have the same namespace: default != x",
        ),
        (lie(**{f"{_ONE}__metadata": None}), " returned invalid object: must have the same name: a != "),
        (
            lie(**{f"{_ONE}__metadata__labels": ["x"]}),
            " returned invalid metadata: invalid metadata.labels of type []interface {} in converted object",
        ),
        (
            lie(**{f"{_ONE}__metadata__labels": {"x": 1}}),
            " returned invalid metadata: metadata.labels[x] must be a string, but is int64 in converted object",
        ),
        (
            lambda body: Raw((500, "text/plain", b"crashed")),
            ' failed: an error on the server ("crashed") has prevented the request from succeeding',
        ),
    ],
)
def test_webhooks_that_lie_are_refused(client: Client, group: Group, answer: Any, told: str) -> None:
    group.hook.answer = review
    if client.get(group.path("v1", "a")).status == 404:
        group.make("v1", "a", hostPort="h:80")
    group.hook.answer = answer
    expected = f"conversion webhook for {group.name}/v1, Kind=CronTab{told.replace('GROUP', group.name)}"
    for path in (group.path("v2", "a"), group.path("v2")):
        refused = client.get(path)
        assert (refused.status, refused.body["message"]) == (500, expected)
    assert "reason" not in refused.body
    assert client.get(group.path("v1", "a")).body["hostPort"] == "h:80"
    group.hook.answer = review
    assert client.get(group.path("v2", "a")).body["host"] == "h"
    assert client.send("DELETE", group.definition).status == 200
    while client.get(group.definition).status == 200:
        pass  # its objects go first


def test_the_answer_is_for_the_question(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="h:80")
    group.hook.answer = lie(response__uid="other")
    message = client.get(group.path("v2", "a")).body["message"]
    uid = group.hook.calls[-1]["request"]["uid"]
    assert message.endswith(f' failed: expected response.uid="{uid}", got "other"')


def test_an_invalid_label_is_refused(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="h:80")
    group.hook.answer = lie(**{f"{_ONE}__metadata__labels": {"a b": "c"}})
    message = client.get(group.path("v2", "a")).body["message"]
    assert ' returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of' in message


def test_a_failing_webhook_loses_nothing(client: Client, group: Group) -> None:
    made = group.make("v1", "a", hostPort="h:80")
    group.hook.close()
    refused = client.get(group.path("v2", "a"))
    assert refused.status == 500
    url = f"{group.hook.url}/hook?timeout=30s"
    address = urllib.parse.urlsplit(group.hook.url).netloc
    assert refused.body["message"] == (
        f"conversion webhook for {group.name}/v1, Kind=CronTab failed: "
        f'Post "{url}": dial tcp {address}: connect: connection refused'
    )
    new = {"apiVersion": f"{group.name}/v2", "kind": "CronTab", "metadata": {"name": "b"}, "host": "h"}
    assert client.post(group.path("v2"), new).status == 500
    assert client.merge(group.path("v2", "a"), {"host": "x"}).status == 500
    assert client.send("DELETE", group.path("v2", "a")).status == 500
    assert [item["metadata"]["name"] for item in client.get(group.path("v1")).body["items"]] == ["a"]
    assert client.get(group.path("v1", "a")).body == made


def test_a_definition_goes_though_its_webhook_does_not_answer(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="h:80")
    group.store_as("v2")
    group.hook.close()
    with Events(client, f"{CRDS}?watch=1&fieldSelector=metadata.name%3Dcrontabs.{group.name}") as events:
        assert client.send("DELETE", group.definition).status == 200
        for type_, _ in events:
            if type_ == "DELETED":
                break


class Events:
    """A watch, event by event."""

    def __init__(self, client: Client, path: str) -> None:
        self._connection = client._connect()
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {client._token}"})
        self._answer: HTTPResponse = self._connection.getresponse()

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def __iter__(self) -> Iterator[tuple[str, Object]]:
        while line := self._answer.readline():
            event = json.loads(line)
            yield event["type"], event["object"]


def test_a_watch_through_the_other_version_keeps_the_order(client: Client, group: Group) -> None:
    """The first review is held up until more changes have come in behind it."""
    group.make("v1", "a", hostPort="h:0")
    go, held = threading.Event(), threading.Event()

    def slow(body: Object) -> Object:
        if body["request"]["objects"][0].get("hostPort") == "h:1":
            held.set()
            go.wait(60)
        return review(body)

    group.hook.answer = slow
    with Events(client, group.path("v2") + "?watch=1") as watch:
        events = iter(watch)
        assert next(events)[0] == "ADDED"
        client.merge(group.path("v1", "a"), {"hostPort": "h:1"})
        assert held.wait(60)
        for number in range(2, 6):
            client.merge(group.path("v1", "a"), {"hostPort": f"h:{number}"})
        client.send("DELETE", group.path("v1", "a"))
        go.set()
        seen = [next(events) for _ in range(6)]
    assert [(type_, obj["port"]) for type_, obj in seen] == [
        *(("MODIFIED", str(number)) for number in range(1, 6)),
        ("DELETED", "5"),
    ]
    assert {obj["apiVersion"] for _, obj in seen} == {f"{group.name}/v2"}
    revisions = [int(obj["metadata"]["resourceVersion"]) for _, obj in seen]
    assert revisions == sorted(set(revisions))


def test_a_watch_with_a_selector_sees_what_enters_and_leaves_in_its_version(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="here:1")
    with Events(client, group.path("v2") + "?watch=1&fieldSelector=host%3Dhere") as watch:
        events = iter(watch)
        assert next(events)[0] == "ADDED"
        client.merge(group.path("v1", "a"), {"hostPort": "away:1"})
        assert next(events)[0] == "DELETED"
        client.merge(group.path("v1", "a"), {"hostPort": "here:2"})
        assert next(events)[0] == "ADDED"


def test_many_watches_ask_once(client: Client, group: Group) -> None:
    with Events(client, group.path("v2") + "?watch=1") as one, Events(client, group.path("v2") + "?watch=1") as two:
        group.make("v1", "a", hostPort="h:1")
        assert next(iter(one))[1]["port"] == next(iter(two))[1]["port"] == "1"
    assert len(group.hook.calls) == 1


def test_a_watch_whose_objects_cannot_be_converted_ends(client: Client, group: Group) -> None:
    with Events(client, group.path("v2") + "?watch=1") as watch:
        events = iter(watch)
        group.hook.answer = lie(response__result={"status": "Failure", "message": "no idea"})
        group.make("v1", "a", hostPort="h:1")
        type_, status = next(events)
        assert (type_, status["code"]) == ("ERROR", 500)
        assert status["message"].endswith("failed: no idea")
        assert next(events, None) is None


def test_a_changed_definition_converts_anew(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="h:80")
    assert client.get(group.path("v2", "a")).body["host"] == "h"

    def louder(body: Object) -> Object:
        answer = review(body)
        for obj in answer["response"]["convertedObjects"]:
            obj["host"] = "H"
        return answer

    group.hook.answer = louder
    assert client.get(group.path("v2", "a")).body["host"] == "h"
    client.merge(group.definition, {"spec": {"names": {"shortNames": ["ct"]}}})
    assert client.get(group.path("v2", "a")).body["host"] == "H"


def test_what_is_no_change_for_its_objects_leaves_them_as_they_are(client: Client, group: Group) -> None:
    group.make("v1", "a", hostPort="h:80")
    shown = client.get(group.path("v2", "a")).body
    assert client.merge(group.definition, {"metadata": {"labels": {"a": "b"}}}).status == 200
    assert client.merge(f"{group.definition}/status", {"status": {"storedVersions": ["v1"]}}).status == 200
    assert client.get(group.path("v2", "a")).body == shown
    assert len(group.hook.calls) == 1


def test_reviews_in_v1beta1_need_no_uid(client: Client, hook: Webhook) -> None:
    group = Group(client, "beta.conversion.example.com", hook, conversionReviewVersions=["v1alpha1", "v1beta1", "v1"])
    hook.answer = lie(response__uid="")
    group.make("v1", "a", hostPort="h:80")
    assert client.get(group.path("v2", "a")).body["host"] == "h"
    assert hook.calls[0]["apiVersion"] == "apiextensions.k8s.io/v1beta1"


def test_no_review_version_that_is_known(client: Client, hook: Webhook) -> None:
    group = Group(client, "none.conversion.example.com", hook)
    group.make("v1", "a", hostPort="h:80")
    unknown = {"conversionReviewVersions": ["v9"]}
    refused = client.merge(group.definition, {"spec": {"conversion": {"webhook": unknown}}})
    assert refused.status == 422


def test_a_webhook_behind_a_service_that_is_another_name(client: Client) -> None:
    hook = Webhook(review, names=("hooks.default.svc",))
    spec = {"type": "ExternalName", "externalName": "localhost"}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hooks"}, "spec": spec}
    assert client.post("/api/v1/namespaces/default/services", body).status == 201
    service = {"namespace": "default", "name": "hooks", "path": "/convert", "port": hook.port}
    group = Group(client, "external.example.com", hook, clientConfig={"service": service, "caBundle": hook.bundle})
    group.make("v1", "a", hostPort="h:80")
    assert client.get(group.path("v2", "a")).body["host"] == "h"
    client.send("DELETE", "/api/v1/namespaces/default/services/hooks")
    hook.close()


def test_a_webhook_behind_a_service() -> None:
    hook = Webhook(review, names=("hooks.tools.svc",))
    with Server(services={"tools/hooks": f"127.0.0.1:{hook.port}"}) as server:
        client = Client(server.url, server.token)
        service = {"namespace": "tools", "name": "hooks", "path": "/convert", "port": 8443}
        config = {"service": service, "caBundle": hook.bundle}
        group = Group(client, "service.example.com", hook, clientConfig=config)
        group.make("v1", "a", hostPort="h:80")
        assert client.get(group.path("v2", "a")).body["host"] == "h"
        assert hook.paths == ["/convert?timeout=30s"]
        client.close()
    hook.close()
