"""Webhooks of configurations, called over TLS: what they are asked, and what follows from their answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from podless.codec import serializer
from podless.kinds import validation, webhookreviews
from podless.runtime.jsonobject import Object
from podless.verbs import options
from tests.admission.conftest import World, patching, review
from tests.conftest import Client
from tests.webhooks import Raw

pytestmark = pytest.mark.slow

FAILING = 'Internal error occurred: failed calling webhook "hook.example.com": '


def refused(call: Object, **status: Any) -> Object:
    return review(call, allowed=False, status=status)


def test_a_webhook_is_asked_with_everything_about_the_write(world: World) -> None:
    hook = world.hook(review)
    assert world.create("x", query="?fieldManager=me", color="red").status == 201
    (call,) = hook.calls
    assert (call["kind"], call["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
    request = call["request"]
    obj = request.pop("object")
    assert obj["spec"] == {"color": "red", "replicas": 1}
    assert obj["metadata"]["managedFields"]
    gvk = {"group": world.group, "version": "v1", "kind": "Gadget"}
    gvr = {"group": world.group, "version": "v1", "resource": "gadgets"}
    user = request.pop("userInfo")
    assert "system:masters" in user["groups"]
    assert request == {
        "uid": request["uid"],
        "kind": gvk,
        "resource": gvr,
        "requestKind": gvk,
        "requestResource": gvr,
        "name": "x",
        "namespace": "default",
        "operation": "CREATE",
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"},
    }
    assert hook.paths == ["/hook?timeout=10s"]


def test_the_old_object_is_told_at_updates_and_deletes(world: World) -> None:
    hook = world.hook(review, rules=[world.rule("UPDATE", "DELETE")])
    world.create("x", color="red")
    world.client.merge(world.path("x"), {"spec": {"color": "blue"}})
    world.client.send("DELETE", world.path("x"))
    update, delete = (call["request"] for call in hook.calls)
    assert (update["oldObject"]["spec"]["color"], update["object"]["spec"]["color"]) == ("red", "blue")
    assert delete["oldObject"]["spec"]["color"] == "blue"
    assert delete["object"] is None
    assert delete["options"]["kind"] == "DeleteOptions"


def test_a_refusal_has_the_webhooks_code_reason_and_words(world: World) -> None:
    world.hook(lambda call: refused(call, code=418, message="no tea", reason="Teapot", details={"name": "pot"}))
    answer = world.create()
    assert answer.status == 418
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'admission webhook "hook.example.com" denied the request: no tea',
        "reason": "Teapot",
        "details": {"name": "pot"},
        "code": 418,
    }
    assert world.client.get(world.path("x")).status == 404


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        ({}, 400, "denied the request without explanation"),
        ({"reason": "Why"}, 400, "denied the request: Why"),
        ({"code": 200, "message": "m"}, 400, "denied the request: m"),
    ],
)
def test_a_refusal_without_much_to_say(world: World, status: Object, code: int, said: str) -> None:
    world.hook(lambda call: refused(call, **status))
    answer = world.create()
    assert answer.status == code
    assert answer.body["message"] == f'admission webhook "hook.example.com" {said}'


def test_warnings_reach_the_client(world: World) -> None:
    world.hook(lambda call: review(call, warnings=["careful", "really"]))
    answer = world.create()
    assert answer.status == 201
    assert "careful" in answer.headers["Warning"]


def test_a_patch_is_carried_out_and_what_it_makes_gets_defaults(world: World) -> None:
    world.hook(
        patching(
            {"op": "replace", "path": "/spec", "value": {"color": "green", "unknown": 1}},
            {"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}},
        ),
        mutating=True,
    )
    made = world.create("x", color="red", replicas=5)
    assert made.status == 201
    assert made.body["spec"] == {"color": "green", "replicas": 1}
    assert made.body["metadata"]["labels"] == {"by": "hook"}
    assert world.client.get(world.path("x")).body["spec"] == made.body["spec"]


def test_later_webhooks_see_the_unknown_fields_that_a_webhook_added(world: World) -> None:
    seen = []

    def look(call: Object) -> Object:
        seen.append(call["request"]["object"]["spec"])
        return review(call)

    world.hook(patching({"op": "add", "path": "/spec/unknown", "value": 1}), mutating=True)
    world.hook(look)
    made = world.create("x", color="red")
    assert seen == [{"color": "red", "replicas": 1, "unknown": 1}]
    assert made.body["spec"] == {"color": "red", "replicas": 1}


def test_long_answers_are_looked_at_beside_the_event_loop(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    reads: list[type] = []
    decode = webhookreviews.decode_review

    def watched(raw: bytes, *wanted: Any) -> Object:
        threads.append(threading.current_thread().name)
        reads.append(type(raw))
        return decode(raw, *wanted)

    monkeypatch.setattr(webhookreviews, "decode_review", watched)
    sizes = {"a": 10, "b": 50_000, "c": 400_000}

    def answer(call: Object) -> Object:
        name = call["request"]["name"]
        spec = {"color": "green", "unknown": "x" * sizes[name]}
        return patching({"op": "replace", "path": "/spec", "value": spec})(call)

    world.hook(answer, mutating=True)
    for name in sizes:
        made = world.create(name, color="red")
        assert made.status == 201
        assert made.body["spec"] == {"color": "green", "replicas": 1}
    assert ["podless-off-loop" in name for name in threads] == [False, True, True]
    assert reads == [bytes, bytes, serializer.ParsedJSON]


def test_what_a_patch_makes_has_to_be_valid(world: World) -> None:
    world.hook(patching({"op": "add", "path": "/spec/replicas", "value": "many"}), mutating=True)
    answer = world.create("x", color="red")
    assert answer.status == 422
    assert "spec.replicas" in answer.body["message"]


@pytest.mark.parametrize(
    ("operation", "status", "said"),
    [
        ({"op": "add", "path": "/spec/color", "value": None}, 422, "spec.color in body must be of type string: "),
        ({"op": "add", "path": "/metadata/labels", "value": {"a": 1}}, 201, None),
        ({"op": "add", "path": "/metadata/creationTimestamp", "value": "x"}, 201, None),
        ({"op": "replace", "path": "/apiVersion", "value": "other/v1"}, 500, "is unstructured and is not suitable for"),
        ({"op": "remove", "path": "/apiVersion"}, 500, "/, Kind=Gadget is unstructured and is not suitable for"),
        ({"op": "remove", "path": "/kind"}, 500, "Internal error occurred: Object 'Kind' is missing in '{"),
        ({"op": "replace", "path": "", "value": []}, 500, "couldn't get version/kind; json parse error: json: cannot"),
        (
            {"op": "replace", "path": "", "value": None},
            500,
            "replace operation value must be object or array: %!w(<nil>)",
        ),
        ({"op": "add", "value": 1}, 500, "Internal error occurred: add operation failed to decode path: missing value"),
        ({"path": "/spec"}, 500, "Internal error occurred: Unexpected kind: unknown"),
    ],
)
def test_what_a_patch_makes_of_a_custom_object(world: World, operation: Object, status: int, said: str | None) -> None:
    world.hook(patching(operation), mutating=True)
    answer = world.create("x", color="red")
    assert (answer.status, said or "") == (status, said or "")
    assert said is None or said in answer.body["message"]


def test_a_patch_cannot_change_a_delete(world: World) -> None:
    world.create("x")
    world.hook(patching({"op": "add", "path": "/spec", "value": {}}), mutating=True, rules=[world.rule("DELETE")])
    answer = world.client.send("DELETE", world.path("x"))
    assert answer.status == 500
    said = (
        'admission webhook "hook.example.com" attempted to modify the object, which is not supported for this operation'
    )
    assert answer.body["message"] == f"Internal error occurred: {said}"


def test_managed_fields_that_a_webhook_breaks_are_put_back(world: World) -> None:
    world.hook(patching({"op": "add", "path": "/metadata/managedFields", "value": [{"manager": "m"}]}), mutating=True)
    answer = world.create("x", color="red")
    assert answer.status == 201
    assert "invalid state after admission" in answer.headers["Warning"]
    assert answer.body["metadata"]["managedFields"][0]["operation"] == "Update"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda call: {"kind": "AdmissionReview"}, "received invalid webhook response: webhook response was absent"),
        (lambda call: review(call, uid="other"), "received invalid webhook response: expected response.uid="),
        (
            lambda call: review(call) | {"apiVersion": "admission.k8s.io/v1beta1"},
            "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            lambda call: review(call, patch="W10="),
            "received invalid webhook response: validating webhook may not return response.patch",
        ),
        (
            lambda call: review(call, patchType="JSONPatch"),
            "received invalid webhook response: validating webhook may not return response.patchType",
        ),
        (lambda call: review(call, allowed="yes"), "failed to call webhook: json: cannot unmarshal string into Go"),
        (lambda call: review(call, warnings=[1]), "failed to call webhook: json: cannot unmarshal number into Go"),
        (
            lambda call: [],
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal",
        ),
        (
            lambda call: Raw((200, "application/json", b"")),
            "failed to call webhook: 0-length response with status code: 200 and content type: application/json",
        ),
        (
            lambda call: Raw((200, "foo/bar;;;", b"{}")),
            "failed to call webhook: Internal error occurred: mime: invalid media parameter",
        ),
        (lambda call: Raw((200, "application/json", b"{")), "failed to call webhook: couldn't get version/kind; json"),
        (lambda call: Raw((500, "text/plain", b"oops")), 'failed to call webhook: an error on the server ("oops")'),
        (lambda call: Raw((404, "text/plain", b"")), "failed to call webhook: the server could not find the requested"),
    ],
)
def test_an_unsound_answer_fails_the_write_or_is_passed_over(world: World, answer: Any, said: str) -> None:
    hook = world.hook(answer)
    failed = world.create("x")
    assert failed.status == 500
    assert failed.body["reason"] == "InternalError"
    assert failed.body["message"].startswith(FAILING + said)
    assert failed.body["details"]["causes"][0]["message"] in failed.body["message"]
    path = world.made[-1]
    ignore = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    world.client.send("PATCH", path, ignore, Content_Type="application/json-patch+json")
    assert world.create("x").status == 201
    assert len(hook.calls) == 2


def test_an_answer_that_is_too_large_is_not_read_to_its_end(world: World) -> None:
    world.hook(lambda call: Raw((200, "application/json", b" " * (5 << 20))))
    answer = world.create("x")
    assert answer.status == 500
    assert "larger than" in answer.body["message"]


def test_a_webhook_behind_a_service_that_is_not_known_fails(world: World) -> None:
    service = {"service": {"namespace": "nowhere", "name": "hook"}}
    world.hook(review, clientConfig=service, timeoutSeconds=1)
    answer = world.create("x")
    assert answer.status == 500
    assert FAILING in answer.body["message"]


def test_an_unknown_authority_fails(world: World) -> None:
    hook = world.hook(review)
    world.client.send(
        "PATCH",
        world.made[-1],
        [{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}],
        Content_Type="application/json-patch+json",
    )
    answer = world.create("x")
    assert answer.status == 500
    assert "certificate signed by unknown authority" in answer.body["message"]
    assert hook.calls == []


def test_dry_runs_call_harmless_webhooks_only(world: World) -> None:
    hook = world.hook(review)
    assert world.create("x", query="?dryRun=All").status == 201
    assert hook.calls[0]["request"]["dryRun"] is True
    assert hook.calls[0]["request"]["options"]["dryRun"] == ["All"]


def test_selectors_choose_objects_and_namespaces(world: World) -> None:
    hook = world.hook(
        review,
        objectSelector={"matchLabels": {"ask": "yes"}},
        namespaceSelector={
            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["default"]}]
        },
    )
    for name, labels, namespace in (
        ("a", {}, "default"),
        ("b", {"ask": "yes"}, "kube-public"),
        ("c", {"ask": "yes"}, "default"),
    ):
        obj = world.gadget(name)
        obj["metadata"]["labels"] = labels
        assert world.client.post(world.path(namespace=namespace), obj).status == 201
    assert [call["request"]["name"] for call in hook.calls] == ["c"]


def test_an_equivalent_version_is_converted_for_the_webhook(world: World) -> None:
    exact = world.hook(review, rules=[world.rule(apiVersions=["v2"])], matchPolicy="Exact")
    hook = world.hook(
        patching({"op": "add", "path": "/spec/color", "value": "blue"}),
        mutating=True,
        rules=[world.rule(apiVersions=["v2"])],
    )
    made = world.create("x", replicas=2)
    assert made.status == 201
    assert made.body["apiVersion"].endswith("/v1")
    assert made.body["spec"] == {"color": "blue", "replicas": 2}
    request = hook.calls[0]["request"]
    assert request["object"]["apiVersion"].endswith("/v2")
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v2", "v1")
    assert exact.calls == []


def test_the_scale_is_changed_through_a_webhook(world: World) -> None:
    world.create("x", replicas=2)
    hook = world.hook(
        patching({"op": "replace", "path": "/spec/replicas", "value": 7}),
        mutating=True,
        rules=[world.rule(resources=["gadgets/scale"])],
    )
    answer = world.client.merge(world.path("x/scale"), {"spec": {"replicas": 3}})
    assert answer.body["spec"] == {"replicas": 7}
    assert hook.calls[0]["request"]["object"]["kind"] == "Scale"
    assert hook.calls[0]["request"]["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert world.client.get(world.path("x")).body["spec"]["replicas"] == 7


def test_a_webhook_is_asked_again_when_a_later_one_changes_the_object(world: World) -> None:
    first = world.hook(review, mutating=True, reinvocationPolicy="IfNeeded")
    never = world.hook(review, mutating=True)
    second = world.hook(patching({"op": "add", "path": "/spec/color", "value": "green"}), mutating=True)
    world.create("x", replicas=1)
    assert [call["request"]["object"]["spec"].get("color") for call in first.calls] == [None, "green"]
    assert (len(never.calls), len(second.calls)) == (1, 1)


def test_the_configurations_themselves_are_never_asked_about(world: World) -> None:
    everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    selector = {"matchLabels": {"only": world.name}}
    hook = world.hook(lambda call: refused(call), rules=everything, objectSelector=selector)
    path = world.made[-1]
    labelled = world.client.merge(path, {"metadata": {"labels": {"only": world.name}}})
    assert labelled.status == 200
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": world.name, "labels": {"only": world.name}},
    }
    assert world.client.post("/api/v1/namespaces/default/configmaps", config_map).status == 400
    assert [call["request"]["kind"]["kind"] for call in hook.calls] == ["ConfigMap"]


def test_older_webhooks_are_asked_in_their_version(world: World) -> None:
    def old(call: Object) -> Object:
        return {"response": {"allowed": True}}

    hook = world.hook(old, admissionReviewVersions=["v0", "v1beta1", "v1"])
    assert world.create("x").status == 201
    assert hook.calls[0]["apiVersion"] == "admission.k8s.io/v1beta1"


def test_a_webhook_that_does_not_answer_in_time_fails_and_the_server_goes_on(world: World, client: Client) -> None:
    gone = threading.Event()

    def wait(call: Object) -> Object:
        gone.wait(60)
        return review(call)

    world.hook(wait, timeoutSeconds=1)
    answer = world.create("x")
    gone.set()
    assert answer.status == 500
    assert "context deadline exceeded" in answer.body["message"]
    assert client.get("/readyz").status == 200


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@pytest.mark.parametrize("mutating", [False, True])
def test_nothing_is_written_when_the_time_of_a_request_is_over(world: World, policy: str, mutating: bool) -> None:
    gone = threading.Event()

    def wait(call: Object) -> Object:
        gone.wait(60)
        return review(call)

    hook = world.hook(wait, mutating=mutating, failurePolicy=policy, timeoutSeconds=30)
    answer = world.client.post(f"{world.path()}?timeout=1s", {**world.gadget("x")})
    gone.set()
    assert answer.status == 504
    assert hook.paths == ["/hook?timeout=1s"]
    assert world.create("y").status == 201
    assert world.client.get(world.path("x")).status == 404


@pytest.mark.parametrize(
    ("patch", "status", "said"),
    [
        ([{"op": "remove", "path": "/kind"}, {"op": "remove", "path": "/apiVersion"}], 201, None),
        ([{"op": "replace", "path": "", "value": {}}], 422, "metadata.name: Required value: name or generateName is"),
        (
            [{"op": "replace", "path": "/apiVersion", "value": "v2"}],
            500,
            'no kind "ConfigMap" is registered for version',
        ),
    ],
)
def test_a_built_in_object_need_not_say_what_it_is(world: World, patch: Any, status: int, said: str | None) -> None:
    rules = [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
    selected = {"matchLabels": {"only": world.name}}
    world.hook(patching(*patch), mutating=True, rules=rules, objectSelector=selected)
    body = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": world.name, "labels": selected["matchLabels"]},
    }
    answer = world.client.post("/api/v1/namespaces/default/configmaps", body)
    assert answer.status == status
    assert said is None or said in answer.body["message"]


@pytest.mark.parametrize(("code", "answered"), [(599, 599), (10**6, 500), (-3, 400)])
def test_a_refusal_with_a_code_that_is_none_is_still_an_answer(world: World, code: int, answered: int) -> None:
    world.hook(lambda call: refused(call, code=code, message="m"))
    answer = world.create()
    assert answer.status == answered
    assert answer.body["code"] == answered


def test_what_a_webhook_makes_large_is_checked_beside_the_loop(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = {}

    def noting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            threads[name] = threading.get_ident()
            return work(*args, **named)

        return call

    monkeypatch.setattr(validation, "validate_new", noting("check", validation.validate_new))
    monkeypatch.setattr(options, "read_write_options", noting("loop", options.read_write_options))
    labels = {f"label-{number}": "x" for number in range(2000)}
    world.hook(patching({"op": "add", "path": "/metadata/labels", "value": labels}), mutating=True)
    assert len(world.create().body["metadata"]["labels"]) == len(labels)
    assert threads["check"] != threads["loop"]


PODS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods", "pods/eviction"],
    "operations": ["CREATE", "DELETE"],
}


def make_pod(world: World, name: str) -> str:
    pods = "/api/v1/namespaces/default/pods"
    assert (
        world.client.post(
            pods, {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        ).status
        == 201
    )
    return f"{pods}/{name}"


def test_the_options_of_a_delete_have_the_grace_period_of_the_pod(world: World) -> None:
    pod = make_pod(world, f"{world.name}-grace")
    hook = world.hook(review, rules=[PODS])
    world.client.send("DELETE", pod, {"kind": "DeleteOptions", "apiVersion": "v1"})
    options = [call["request"]["options"] for call in hook.calls]
    assert options == [{"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "gracePeriodSeconds": 0}]


def test_an_eviction_is_asked_about_and_its_delete_is_not(world: World) -> None:
    pod = make_pod(world, f"{world.name}-evicted")
    hook = world.hook(review, rules=[PODS])
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.rpartition("/")[2]}}
    assert world.client.post(f"{pod}/eviction", body).status == 201
    assert [call["request"]["kind"]["kind"] for call in hook.calls] == ["Eviction"]


@pytest.mark.parametrize(
    ("operations", "asked"),
    [
        ([{"op": "remove", "path": "/spec/replicas"}], 2),  # the default comes back, after the comparison
        ([{"op": "replace", "path": "/spec/replicas", "value": 1}], 1),
        ([{"op": "add", "path": "/spec/unknown", "value": 1}], 2),
    ],
)
def test_a_change_counts_before_defaults_and_pruning(world: World, operations: list[Object], asked: int) -> None:
    first = world.hook(review, mutating=True, reinvocationPolicy="IfNeeded")
    world.hook(patching(*operations), mutating=True)
    assert world.create("x", replicas=1).body["spec"] == {"replicas": 1}
    assert len(first.calls) == asked


def test_the_first_patch_of_a_built_in_object_with_new_managers_counts_as_a_change(world: World) -> None:
    rules = [
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]}
    ]
    first = world.hook(review, mutating=True, reinvocationPolicy="IfNeeded", rules=rules)
    world.hook(patching({"op": "test", "path": "/kind", "value": "ConfigMap"}), mutating=True, rules=rules)
    maps = "/api/v1/namespaces/default/configmaps"
    made = world.client.post(maps, {"metadata": {"name": world.name}, "data": {"a": "b"}}).body
    assert len(first.calls) == 2
    assert world.client.send("PUT", f"{maps}/{world.name}", made).status == 200  # managers and times stay
    assert len(first.calls) == 3
