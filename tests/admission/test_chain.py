"""Steps in the write path: where they stand, what they are given, what they can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.admission import CREATE, DELETE, UPDATE, AdmissionAttributes, AdmissionChain, Plugin
from podless.apis.core.admission.serviceallocator import ServiceAllocator
from podless.apis.core.group import NAMESPACES
from podless.codec import serializer
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden
from podless.meta.field import forbidden
from tests.apis.test_offline import definition as gadgets
from tests.conftest import CRDS, Client, definition, gadget

MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"


class Recorder(Plugin):
    """Keeps what it is asked, mutates as it is told, refuses what has a color it does not like."""

    custom = True

    def __init__(self, group: str) -> None:
        self.group = group
        self.seen: list[tuple[str, AdmissionAttributes]] = []
        self.labels: dict[str, str] = {}
        self.given: dict[str, str] = {}
        self.again = False

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return kind.group == self.group

    def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return bool(self.given) and kind.group == self.group

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind.group == self.group

    async def mutate(self, review: AdmissionAttributes) -> None:
        self.seen.append(("mutate", review))
        if review.obj is not None and self.labels:
            metadata = review.obj["metadata"]
            metadata["labels"] = {**(metadata.get("labels") or {}), **self.labels}
        review.reinvoke = self.again

    async def allocate(self, review: AdmissionAttributes) -> None:
        self.seen.append(("allocate", review))
        assert review.obj is not None
        review.obj["spec"] = {**(review.obj.get("spec") or {}), **self.given}
        if self.given.get("size") == "secret":
            review.refuse_fields([forbidden("spec.size", "not yours")])

    async def validate(self, review: AdmissionAttributes) -> None:
        self.seen.append(("validate", review))
        if ((review.obj or {}).get("spec") or {}).get("color") == "red":
            raise Forbidden(review.kind.plural, review.kind.group, review.name, "no red")

    def told(self) -> list[tuple[str, str, str, str]]:
        """Plugin, operation, subresource and name of what came since the last look."""
        seen, self.seen = self.seen, []
        return [(step, review.operation, review.subresource, review.name) for step, review in seen]


def test_a_step_about_built_in_kinds_is_asked_about_no_other() -> None:
    step = Recorder("")
    every = AdmissionChain([step])
    made = gadgets()
    own = compile_kind(made, serializer.encode_json(made))
    for kind, known in ((own, []), (NAMESPACES, [step])):
        step.group = kind.group
        step.custom = True
        assert every.find_plugins(CREATE, kind, "", "") == ([step], [], [step])
        step.custom = False
        ours = AdmissionChain([step])
        assert ours.find_plugins(CREATE, kind, "", "") == (known, [], known)


def test_which_steps_allocate_is_asked_once_until_the_steps_change() -> None:
    class Giving(Plugin):
        asked = 0

        def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
            self.asked += 1
            return operation == CREATE

    nothing: Any = None
    one, other = Giving(nothing, nothing), Giving(nothing, nothing)
    every = AdmissionChain([one])
    for _ in range(2):
        assert every.find_plugins(CREATE, NAMESPACES, "", "")[1] == [one]
        assert every.find_plugins(UPDATE, NAMESPACES, "", "")[1] == []
    assert one.asked == 2
    every.plugins.insert(0, other)
    assert every.find_plugins(CREATE, NAMESPACES, "", "")[1] == [other, one]


@pytest.fixture
def recorder(server: Server, client: Client, request: Any) -> Iterator[Recorder]:
    group = f"{request.node.originalname.replace('_', '-')}.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    parts = {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
    made = client.post(CRDS, definition(group, schema={"openAPIV3Schema": schema}, subresources=parts))
    assert made.status == 201, made.body
    step = Recorder(group)
    app = server._app
    assert app is not None
    steps = app.admission.plugins
    steps.append(step)
    yield step
    steps.remove(step)


def path(recorder: Recorder, name: str = "", namespace: str = "default") -> str:
    return f"/apis/{recorder.group}/v1/namespaces/{namespace}/gadgets/{name}".rstrip("/")


def test_every_kind_of_write_is_asked_about_twice(client: Client, recorder: Recorder) -> None:
    one = gadget(recorder.group, "one", spec={"replicas": 1})
    applied = {"Content_Type": APPLY}
    writes: list[tuple[str, str, Any, dict[str, str], tuple[str, str, str]]] = [
        ("POST", path(recorder), one, {}, (CREATE, "", "one")),
        ("PATCH", path(recorder, "one"), {"spec": {"a": 1}}, {"Content_Type": MERGE}, (UPDATE, "", "one")),
        ("PATCH", path(recorder, "one/status"), {"status": {}}, {"Content_Type": MERGE}, (UPDATE, "status", "one")),
        (
            "PATCH",
            path(recorder, "one/scale"),
            {"spec": {"replicas": 2}},
            {"Content_Type": MERGE},
            (UPDATE, "scale", "one"),
        ),
        ("PATCH", path(recorder, "two?fieldManager=m"), gadget(recorder.group, "two"), applied, (CREATE, "", "two")),
        (
            "PATCH",
            path(recorder, "two?fieldManager=m"),
            gadget(recorder.group, "two", a=1),
            applied,
            (UPDATE, "", "two"),
        ),
        ("DELETE", path(recorder, "two"), None, {}, (DELETE, "", "two")),
        ("DELETE", path(recorder), None, {}, (DELETE, "", "")),
    ]
    for method, where, body, headers, (operation, subresource, name) in writes:
        answer = client.send(method, where, body, **headers)
        assert answer.status < 300, answer.body
        assert recorder.told() == [(step, operation, subresource, name) for step in ("mutate", "validate")], method


def test_the_scale_is_shown_as_one(client: Client, recorder: Recorder) -> None:
    client.post(path(recorder), gadget(recorder.group, "x", spec={"replicas": 1}))
    recorder.seen.clear()
    client.merge(path(recorder, "x/scale"), {"spec": {"replicas": 7}})
    for _, review in recorder.seen:
        assert review.type == ("autoscaling", "v1", "Scale")
        assert review.obj is not None
        assert review.obj["kind"] == "Scale"
        assert review.obj["spec"] == {"replicas": 7}
        assert review.old is not None
        assert review.old["spec"] == {"replicas": 1}


def test_what_a_step_changes_is_stored(client: Client, recorder: Recorder) -> None:
    recorder.labels = {"by": "step"}
    assert client.post(path(recorder), gadget(recorder.group, "x")).body["metadata"]["labels"] == {"by": "step"}
    recorder.labels = {"by": "other"}
    changed = client.merge(path(recorder, "x"), {"spec": {"a": 1}})
    assert changed.body["metadata"]["labels"] == {"by": "other"}
    assert client.get(path(recorder, "x")).body["metadata"]["labels"] == {"by": "other"}


def test_a_refused_write_changes_nothing(client: Client, recorder: Recorder) -> None:
    refused = client.post(path(recorder), gadget(recorder.group, "x", spec={"color": "red"}))
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert client.get(path(recorder, "x")).status == 404
    client.post(path(recorder), gadget(recorder.group, "x"))
    assert client.merge(path(recorder, "x"), {"spec": {"color": "red"}}).status == 403
    assert "spec" not in client.get(path(recorder, "x")).body


def test_mutation_goes_round_once_more_when_asked(client: Client, recorder: Recorder) -> None:
    recorder.again = True
    client.post(path(recorder), gadget(recorder.group, "x"))
    assert [step for step, *_ in recorder.told()] == ["mutate", "mutate", "validate"]


def test_a_generated_name_is_known_to_validation_only(client: Client, recorder: Recorder) -> None:
    obj = gadget(recorder.group, "")
    obj["metadata"] = {"generateName": "made-"}
    name = client.post(path(recorder), obj).body["metadata"]["name"]
    assert [(step, told) for step, _, _, told in recorder.told()] == [("mutate", ""), ("validate", name)]


def test_a_missing_namespace_is_said_before_any_step(client: Client, recorder: Recorder) -> None:
    refused = client.post(path(recorder, namespace="nowhere"), gadget(recorder.group, "x"))
    assert refused.status == 404
    assert refused.body["details"]["kind"] == "namespaces"
    assert recorder.told() == []


def test_a_dry_run_is_known(client: Client, recorder: Recorder) -> None:
    client.post(path(recorder) + "?dryRun=All", gadget(recorder.group, "x"))
    assert [review.dry_run for _, review in recorder.seen] == [True, True]
    assert recorder.seen[0][1].options == {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "dryRun": ["All"],
    }


def test_what_a_step_gives_comes_after_all_changes_and_is_checked(client: Client, recorder: Recorder) -> None:
    recorder.given, recorder.labels = {"size": "large"}, {"by": "step"}
    made = client.post(path(recorder), gadget(recorder.group, "x"))
    assert made.body["spec"] == {"size": "large"}
    assert [step for step, *_ in recorder.told()] == ["mutate", "allocate", "validate"]
    recorder.given = {"size": "small"}
    changed = client.merge(path(recorder, "x"), {"spec": {"a": 1}})
    assert changed.body["spec"] == {"a": 1, "size": "small"}
    (_, review) = recorder.seen[1]
    assert (review.operation, review.verb, review.name) == (UPDATE, "patch", "x")
    assert review.old is not None
    assert review.old["spec"] == {"size": "large"}
    assert client.send("DELETE", path(recorder, "x")).status == 200
    assert "allocate" not in [step for step, _ in recorder.seen[3:]]


def test_what_a_user_may_not_write_is_told_with_what_is_wrong(client: Client, recorder: Recorder) -> None:
    recorder.given = {"size": "secret"}
    body = gadget(recorder.group, "Not a name")
    refused = client.post(path(recorder), body)
    assert refused.status == 422
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["spec.size", "metadata.name"]


def test_the_order_is_that_of_a_real_server(server: Server) -> None:
    """What kube-apiserver does in the storage of a kind stands between plugins that mutate and those that validate."""
    assert server._app is not None
    names = [type(step).__name__ for step in server._app.admission.plugins]
    assert (names[0], names[-1]) == ("NamespaceLifecycle", "ResourceQuota")
    order = [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionWebhook",
        "ServiceAllocator",
        "DeviceAccessCheck",
        "ValidatingAdmissionPolicy",
    ]
    assert sorted(order, key=names.index) == order


def test_services_get_addresses_from_a_step_of_the_list_alone(server: Server, client: Client) -> None:
    assert server._app is not None
    steps = server._app.admission.plugins
    known, services = list(steps), "/api/v1/namespaces/default/services"
    steps[:] = [step for step in known if not isinstance(step, ServiceAllocator)]
    try:
        made = client.post(services, {"metadata": {"name": "bare"}, "spec": {"ports": [{"port": 80}]}})
    finally:
        steps[:] = known
    assert made.status == 201
    assert "clusterIP" not in made.body["spec"]
    assert client.send("DELETE", f"{services}/bare").status == 200
