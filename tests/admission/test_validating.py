"""ValidatingAdmissionPolicies over HTTP."""

from __future__ import annotations

import json

import pytest

from podless import Server
from podless.admission import AdmissionAttributes, Plugin
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from tests.admission.conftest import GROUP, World, review
from tests.conftest import Client


def denied(world: World, name: str, said: str, kind: str = "gadgets", obj: str = "x") -> str:
    text = (
        f"ValidatingAdmissionPolicy '{name}' with binding '{world.made[-1].rpartition('/')[2]}' denied request: {said}"
    )
    return f'{kind}.{world.group} "{obj}" is forbidden: {text}'


def test_a_policy_is_in_force_for_the_next_request_and_gone_with_its_binding(world: World) -> None:
    name = world.validate("object.spec.replicas <= 5")
    refused = world.create("x", replicas=6)
    assert refused.status == 422
    assert refused.body["message"] == denied(world, name, "failed expression: object.spec.replicas <= 5")
    assert world.client.send("DELETE", world.made.pop()).status == 200
    assert world.create("x", replicas=6).status == 201


def test_a_changed_policy_is_in_force_for_the_next_request(world: World) -> None:
    world.validate("object.spec.replicas <= 5")
    policy = world.made[-2]
    assert world.create("x", replicas=6).status == 422
    wider = {"spec": {"validations": [{"expression": "object.spec.replicas <= 6"}]}}
    assert world.client.merge(policy, wider).status == 200
    assert world.create("x", replicas=6).status == 201


@pytest.mark.parametrize("resource", ["gadgets", "gadgets/scale"])
def test_a_policy_that_is_created_while_a_write_is_mutated_counts_for_it(
    world: World, server: Server, resource: str
) -> None:
    waiting, other, late = world.client, Client(server.url, server.token), False
    rules = [world.rule(resources=[resource])]

    def create_policy(asked: Object) -> Object:
        if late:
            world.client = other
            world.validate("object.spec.replicas <= 5", matchConstraints={"resourceRules": rules})
            world.client = waiting
        return review(asked)

    def write(name: str) -> int:
        if resource == "gadgets":
            return int(world.create(name, replicas=6).status)
        world.create(name, replicas=1)
        return int(world.client.merge(world.path(name) + "/scale", {"spec": {"replicas": 6}}).status)

    world.hook(create_policy, mutating=True, rules=rules)
    assert write("before") < 300
    late = True
    assert write("after") == 422
    other.close()


def test_deletes_have_an_old_object_only(world: World) -> None:
    world.validate(
        "object == null && oldObject.spec.color != 'red' && request.operation == 'DELETE'",
        matchConstraints={"resourceRules": [world.rule("DELETE")]},
    )
    world.create("x", color="red")
    world.create("y", color="blue")
    assert world.client.send("DELETE", world.path("x")).status == 422
    assert world.client.send("DELETE", world.path("y")).status == 200
    # a collection is deleted one by one, with no name in the request
    refused = world.client.send("DELETE", world.path())
    assert refused.status == 422
    assert world.client.get(world.path("x")).status == 200


def test_the_namespace_is_there_for_what_is_in_one(world: World) -> None:
    world.validate("namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'")
    assert world.create("x").status == 201
    obj = world.gadget("x")
    assert world.client.post(world.path(namespace="kube-public"), obj).status == 422


def test_messages_are_made_of_the_object_and_bounded(world: World) -> None:
    long = "object.spec.color.size() > 3 ? 'x'.replace('x', object.spec.color) : 'short'"
    world.validate(validations=[{"expression": "false", "messageExpression": long, "message": "plain"}])
    assert world.create("x", color="abc").body["message"].endswith("denied request: short")
    assert world.create("x", color="a" * 6000).body["message"].endswith("denied request: plain")
    assert world.create("x", color="a\nbcd").body["message"].endswith("denied request: plain")


def test_a_failing_expression_counts_as_the_failure_policy_says(world: World) -> None:
    world.validate("object.spec.nothing == 1")
    refused = world.create("x", color="red")
    assert refused.status == 422
    assert "resulted in error: no such key: nothing" in refused.body["message"]
    world.client.merge(world.made[-2], {"spec": {"failurePolicy": "Ignore"}})
    assert world.create("x").status == 201


def test_an_expression_that_costs_too_much_is_stopped(world: World) -> None:
    source = "object.spec.tags.all(a, object.spec.tags.all(b, object.spec.tags.all(c, a + b + c != 'x')))"
    world.validate(source)
    refused = world.create("x", tags=[str(n) * 1000 for n in range(100, 140)])  # long texts cost more than many
    assert refused.status == 422
    assert "actual cost limit exceeded" in refused.body["message"]


def test_several_expressions_spend_one_budget(world: World) -> None:
    one = "object.spec.tags.all(a, object.spec.tags.all(b, a != b + 'x'))"
    world.validate(*[f"{one} || {number} == 0" for number in range(1, 40)])
    refused = world.create("x", tags=[str(n) * 1000 for n in range(100, 140)])
    assert refused.status == 422
    assert "running out of cost budget" in refused.body["message"]


def test_parameters_are_selected_and_all_of_them_count(world: World) -> None:
    for name, most in (("one", 3), ("two", 5)):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"most": str(most)}}
        config["metadata"] = {"name": f"{world.name}-{name}", "labels": {"of": world.name}}
        assert world.client.post("/api/v1/namespaces/default/configmaps", config).status == 201
    select = {"selector": {"matchLabels": {"of": world.name}}, "parameterNotFoundAction": "Deny"}
    world.validate(
        validations=[
            {
                "expression": "object.spec.replicas <= int(params.data.most)",
                "messageExpression": "params.kind + ' says ' + params.data.most",
            }
        ],
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        bind={"paramRef": select},
    )
    assert world.create("x", replicas=3).status == 201
    assert world.create("y", replicas=4).body["message"].endswith("ConfigMap says 3")
    path = f"/api/v1/namespaces/default/configmaps/{world.name}-one"
    assert world.client.merge(path, {"data": {"most": "4"}}).status == 200
    assert world.create("y", replicas=4).status == 201
    # in another namespace there are none
    refused = world.client.post(world.path(namespace="kube-public"), world.gadget("y"))
    assert "no params found for policy binding with `Deny` parameterNotFoundAction" in refused.body["message"]


def test_an_unknown_kind_of_parameters_is_a_fault_of_the_policy(world: World) -> None:
    name = world.validate("params.x == 1", paramKind={"apiVersion": "no.example.com/v1", "kind": "Thing"})
    why = "failed to find resource referenced by paramKind: 'no.example.com/v1, Kind=Thing'"
    text = f"ValidatingAdmissionPolicy '{name}' denied request: failed to configure policy: {why}"
    assert text in world.create("x").body["message"]


def test_a_binding_narrows_its_policy(world: World) -> None:
    labels = {"objectSelector": {"matchLabels": {"strict": "yes"}}}
    world.validate("false", bind={"matchResources": labels})
    assert world.create("x").status == 201
    assert world.client.merge(world.path("x"), {"metadata": {"labels": {"strict": "yes"}}}).status == 422


def test_two_policies_and_the_first_refusal_is_told_with_all_warnings(world: World) -> None:
    world.validate("false", actions=("Warn",))
    name = world.validate("object.spec.replicas > 1", actions=("Deny", "Audit"))
    refused = world.create("x", replicas=1)
    assert refused.body["message"] == denied(world, name, "failed expression: object.spec.replicas > 1")
    assert "Validation failed for ValidatingAdmissionPolicy" in refused.headers["Warning"]


class Auditor(Plugin):
    """Keeps what is to be in the audit log."""

    custom = True

    def __init__(self, group: str) -> None:
        self.group = group
        self.annotations: dict[str, str] = {}

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind.group == self.group

    async def validate(self, review: AdmissionAttributes) -> None:
        self.annotations = review.annotations


def test_audit_annotations_are_collected(server: Server, world: World) -> None:
    app = server._app
    assert app is not None
    auditor = Auditor(world.group)
    app.admission.plugins.append(auditor)
    annotations = [
        {"key": "color", "valueExpression": "'is ' + object.spec.color"},
        {"key": "none", "valueExpression": "null"},
    ]
    expressions = "object.spec.color == 'red'", "object.spec.color == 'green'"
    name = world.validate(*expressions, actions=("Audit",), auditAnnotations=annotations)
    try:
        assert world.create("x", color="blue").status == 201
    finally:
        app.admission.plugins.remove(auditor)
    assert auditor.annotations[f"{name}/color"] == "is blue"
    assert f"{name}/none" not in auditor.annotations
    failures = json.loads(auditor.annotations["validation.policy.admission.k8s.io/validation_failure"])
    assert [failure["expressionIndex"] for failure in failures] == [0]  # a real server notes only the first one


def test_policies_never_keep_anybody_from_changing_policies(world: World) -> None:
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    only = {"matchLabels": {"only": world.name}}
    world.validate("false", matchConstraints={"resourceRules": [everything], "objectSelector": only})
    labels = {"metadata": {"labels": {"only": world.name}}}
    assert world.client.merge(world.made[-2], labels).status == 200
    namespace = {"apiVersion": "v1", "kind": "Namespace"} | {"metadata": {"name": world.name} | labels["metadata"]}
    assert world.client.post("/api/v1/namespaces", namespace).status == 422


@pytest.mark.parametrize("subresource", ["status", "scale"])
def test_subresources_are_matched_by_name(world: World, subresource: str) -> None:
    world.create("x")
    rule = world.rule("UPDATE", resources=[f"gadgets/{subresource}"])
    world.validate(f"request.subResource != '{subresource}'", matchConstraints={"resourceRules": [rule]})
    assert world.client.merge(world.path("x"), {"spec": {"color": "red"}}).status == 200
    change = {"status": {"a": 1}} if subresource == "status" else {"spec": {"replicas": 2}}
    assert world.client.merge(world.path(f"x/{subresource}"), change).status == 422


def test_a_policy_made_of_protobuf_and_json_is_one(client: Client, world: World) -> None:
    name = world.validate("true")
    shown = client.get(f"{GROUP}/validatingadmissionpolicies/{name}", Accept="application/vnd.kubernetes.protobuf")
    assert shown.body.startswith(b"k8s\x00")
    sent = client.send(
        "PUT",
        f"{GROUP}/validatingadmissionpolicies/{name}",
        shown.body,
        Content_Type="application/vnd.kubernetes.protobuf",
    )
    assert sent.status == 200
    assert sent.body["metadata"]["generation"] == 1


def test_whole_numbers_that_are_sent_as_floats_are_doubles(world: World) -> None:
    any_ = "object.spec.any"
    world.validate(f"{any_}.ratio / 2.0 == 1.0 && type({any_}.count) == int && type({any_}.many) == double")
    assert world.create("x", any={"ratio": 2.0, "count": 2, "many": 2**63}).status == 201
    assert world.create("y", any={"ratio": 2, "count": 2, "many": 2**63}).status == 422
    assert world.create("z", any={"ratio": 2.0, "count": 2, "many": 2**63 - 1}).status == 422
    stored = world.client.get(world.path("x")).body["spec"]["any"]
    assert stored == {"ratio": 2, "count": 2, "many": 9223372036854776000}


def test_events_are_met_in_both_of_their_groups(world: World) -> None:
    name = f"{world.name}-events"
    rule = {"apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "resources": ["events"], "operations": ["CREATE"]}
    asked = "request.requestResource.group == '' && request.resource.group == 'events.k8s.io'"
    world.validate(
        f"object.regarding.name != '{name}' || !({asked}) || object.note != 'no'",
        matchConstraints={"matchPolicy": "Equivalent", "resourceRules": [rule]},
    )
    world.validate(
        f"object.regarding.name != '{name}'", matchConstraints={"matchPolicy": "Exact", "resourceRules": [rule]}
    )
    path, about = "/api/v1/namespaces/default/events", {"namespace": "default", "name": name}
    event = {"metadata": {"name": name}, "involvedObject": about, "reason": "r"}
    assert world.client.post(path, {**event, "message": "no"}).status == 422
    assert world.client.post(path, {**event, "message": "yes"}).status == 201
    assert world.client.send("DELETE", f"{path}/{name}").status == 200
