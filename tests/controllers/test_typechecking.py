"""The status of a ValidatingAdmissionPolicy says which expressions do not fit the kinds that it is about."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from tests.conftest import CRDS, Client, definition
from tests.eventually import until

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
CONTROLLER = "validatingadmissionpolicy-status-controller"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Expressions are checked where a cluster's controllers are asked for."""
    with Server(controllers=["job"]) as server:
        yield server


def policy(group: str, resource: str, *expressions: str, **spec: Any) -> dict[str, Any]:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": ["*"]}
    return {
        "metadata": {"name": f"p{uuid.uuid4().hex[:8]}"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression} for expression in expressions],
            **spec,
        },
    }


def encode_for_comparison(client: Client, made: dict[str, Any]) -> dict[str, Any]:
    """A policy with its status."""
    assert client.post(POLICIES, made).status == 201
    path = f"{POLICIES}/{made['metadata']['name']}"
    until(lambda: client.get(path).body.get("status", {}).get("observedGeneration") == 1)
    found: dict[str, Any] = client.get(path).body
    return found


def warnings(client: Client, made: dict[str, Any]) -> dict[str, str]:
    """What is told of the expressions; the numbers that types have are left out."""
    found = encode_for_comparison(client, made)["status"]["typeChecking"].get("expressionWarnings", [])
    return {one["fieldRef"]: re.sub(r"(?<=Deployment)\d+", "", one["warning"]) for one in found}


def test_built_in_kinds_have_types(client: Client) -> None:
    told = warnings(client, policy("", "configmaps", "object.data > 5", "object.metadata.name != ''", "object.x == 1"))
    assert told == {
        "spec.validations[0].expression": (
            "/v1, Kind=ConfigMap: ERROR: <input>:1:13: found no matching overload for '_>_' applied to "
            "'(map(string, string), int)'\n | object.data > 5\n | ............^\n"
        ),
        "spec.validations[2].expression": (
            "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'x'\n | object.x == 1\n | ......^\n"
        ),
    }


def test_structs_are_named_by_their_kind_and_place(client: Client) -> None:
    told = warnings(client, policy("apps", "deployments", "object.spec > 1", "object.spec.replicas > 1"))
    assert list(told) == ["spec.validations[0].expression"]
    assert "applied to '(Deployment.spec, int)'" in told["spec.validations[0].expression"]


def test_times_quantities_and_what_is_either_have_their_types(client: Client) -> None:
    sound = (
        "object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
        "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'] == '1')",
        "object.spec.strategy.rollingUpdate.maxSurge == 1 || object.spec.strategy.rollingUpdate.maxSurge == '5%'",
    )
    found = encode_for_comparison(client, policy("apps", "deployments", *sound))
    assert found["status"] == {"observedGeneration": 1, "typeChecking": {}}
    entry = next(field for field in found["metadata"]["managedFields"] if field["manager"] == CONTROLLER)
    assert (entry["operation"], entry["subresource"]) == ("Apply", "status")
    assert entry["fieldsV1"] == {"f:status": {"f:observedGeneration": {}, "f:typeChecking": {}}}


def test_custom_kinds_parameters_and_variables_have_types(client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    assert client.post(CRDS, definition(group)).status == 201
    told = warnings(
        client,
        policy(
            group,
            "gadgets",
            "object.metadata.labels > 1",
            "params.data == 1",
            "variables.name > 1",
            "params.nosuch.deep == 1",
            paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
            variables=[{"name": "name", "expression": "object.metadata.name"}],
        ),
    )
    assert len(told) == 4
    assert all("/v1, Kind=Gadget: ERROR: " in text for text in told.values())
    assert "'(string, int)'" in told["spec.validations[2].expression"]


def test_every_kind_of_a_rule_is_told_apart(client: Client) -> None:
    made = policy("", "configmaps", "object.data.a > 5")
    made["spec"]["matchConstraints"]["resourceRules"][0]["resources"] = ["secrets", "configmaps", "pods/status", "*"]
    (text,) = warnings(client, made).values()
    assert re.findall(r"Kind=\w+", text) == ["Kind=ConfigMap", "Kind=Secret"]
    assert "'(bytes, int)'" in text
    assert "\n\n" in text


def test_kinds_that_a_rule_does_not_name_are_not_looked_at(client: Client) -> None:
    assert warnings(client, policy("*", "configmaps", "object.nosuch > 5")) == {}
    assert warnings(client, policy("nosuch.example.com", "things", "object.nosuch > 5")) == {}


def test_without_controllers_nothing_is_told() -> None:
    with Server() as server:
        client = Client(server.url, server.token)
        assert client.post(POLICIES, policy("", "configmaps", "object.data > 5")).status == 201
        (found,) = client.get(POLICIES).body["items"]
        assert found["status"] == {}
