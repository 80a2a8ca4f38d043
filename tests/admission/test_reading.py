"""Who writes a policy must be allowed to read its parameters."""

from __future__ import annotations

from typing import Any

from tests.admission.conftest import GROUP, World

RBAC = "/apis/rbac.authorization.k8s.io/v1"


def grant(world: World, user: str, *rules: dict[str, Any]) -> None:
    name = f"{world.name}-{user}-{len(world.made)}"
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    made = world.client.post(f"{RBAC}/clusterroles", head | {"kind": "ClusterRole", "rules": list(rules)})
    assert made.status == 201, made.body
    bound = {"kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}
    assert world.client.post(f"{RBAC}/clusterrolebindings", head | bound).status == 201
    world.made += [f"{RBAC}/clusterroles/{name}", f"{RBAC}/clusterrolebindings/{name}"]


def policy(world: World, **spec: Any) -> dict[str, Any]:
    whole = {
        "matchConstraints": {"resourceRules": [world.rule()]},
        "validations": [{"expression": "true"}],
        "paramKind": {"apiVersion": "v1", "kind": "Secret"},
    }
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy"}
    return head | {"metadata": {"name": world.name}, "spec": whole | spec}


def binding(world: World) -> dict[str, Any]:
    ref = {"name": "x", "namespace": "default", "parameterNotFoundAction": "Deny"}
    spec = {"policyName": world.name, "validationActions": ["Deny"], "paramRef": ref}
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding"}
    return head | {"metadata": {"name": world.name}, "spec": spec}


def test_parameters_have_to_be_readable(world: World) -> None:
    user = f"user-{world.name}"
    grant(world, user, {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]})
    alone = {"Impersonate_User": user}
    path = f"{GROUP}/validatingadmissionpolicies"
    refused = world.client.post(path, policy(world), **alone)
    assert refused.status == 422
    shown = f"&{{{user}  [system:authenticated] map[]}}"
    why = 'must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)'
    assert refused.body["details"]["causes"] == [
        {"reason": "FieldValueForbidden", "message": f"Forbidden: user {shown} {why}", "field": "spec.paramKind"}
    ]
    assert world.client.post(path, policy(world)).status == 201
    world.made.append(f"{path}/{world.name}")
    # what stays as it is needs no right
    label = {"metadata": {"labels": {"a": "b"}}}
    merge = "application/merge-patch+json"
    assert world.client.send("PATCH", world.made[-1], label, Content_Type=merge, **alone).status == 200

    bindings = f"{GROUP}/validatingadmissionpolicybindings"
    refused = world.client.post(bindings, binding(world), **alone)
    assert refused.body["details"]["causes"][0]["field"] == "spec.paramRef"
    grant(world, user, {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["x"]})
    assert world.client.post(bindings, binding(world), **alone).status == 201
    world.made.append(f"{bindings}/{world.name}")


def test_expressions_ask_about_the_one_who_writes(world: World) -> None:
    user = f"user-{world.name}"
    grant(world, user, {"apiGroups": [world.group], "resources": ["gadgets"], "verbs": ["create", "paint"]})
    world.validate(
        validations=[
            {
                "expression": "authorizer.requestResource.check('paint').allowed()",
                "messageExpression": "request.userInfo.username + ' may not paint'",
            }
        ]
    )
    assert world.client.post(world.path(), world.gadget("x"), Impersonate_User=user).status == 201
    other = f"other-{world.name}"
    grant(world, other, {"apiGroups": [world.group], "resources": ["gadgets"], "verbs": ["create"]})
    refused = world.client.post(world.path(), world.gadget("y"), Impersonate_User=other)
    assert refused.body["message"].endswith(f"{other} may not paint")
