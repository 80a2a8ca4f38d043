"""What is said of built-in objects that do not fit, in the words of a real server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Client

CORE = "/api/v1/namespaces/default"
RBAC = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def refusal(client: Client, path: str, body: bytes | dict[str, Any]) -> str:
    answer = client.send("POST", f"{path}?dryRun=All", body)
    assert answer.status in (400, 422)
    return str(answer.body["message"])


@pytest.mark.parametrize("number", ["9223372036854775808", "12345678901234567890123456", "1.50", "-0.0010"])
def test_a_number_is_shown_as_it_was_sent(client: Client, number: str) -> None:
    body = b'{"metadata":{"name":"x"},"spec":{"clusterIP":"None","ports":[{"port":%b}]}}' % number.encode()
    text = f"json: cannot unmarshal number {number} into Go struct field ServicePort.spec.ports.port of type int32"
    assert text in refusal(client, f"{CORE}/services", body)
    answer = client.send("DELETE", f"{CORE}/configmaps/x", b'{"gracePeriodSeconds":%b}' % number.encode())
    assert f"number {number} into Go struct field DeleteOptions.gracePeriodSeconds" in answer.body["message"]


def test_embedded_structs_are_named(client: Client) -> None:
    body = {"metadata": {"name": "x"}, "webhooks": [{"name": "a.b.c", "rules": [{"resources": 1}]}]}
    assert "struct field RuleWithOperations.webhooks.rules.Rule.resources of type []string" in refusal(
        client, HOOKS, body
    )


def test_bytes_may_be_numbers(client: Client) -> None:
    body = {"metadata": {"name": "bytes"}, "binaryData": {"a": [104, 105], "b": []}}
    made = client.post(f"{CORE}/configmaps?dryRun=All", body)
    assert made.body["binaryData"] == {"a": "aGk=", "b": ""}
    wrong = {"metadata": {"name": "bytes"}, "binaryData": {"a": [256]}}
    assert "cannot unmarshal number 256 into Go struct field ConfigMap.binaryData of type uint8" in refusal(
        client, f"{CORE}/configmaps", wrong
    )


def test_a_selector_that_selects_nothing_is_told_of_twice(client: Client) -> None:
    selectors = [{"matchExpressions": [{"key": "a", "operator": "x"}]}]
    body = {"metadata": {"name": "x"}, "aggregationRule": {"clusterRoleSelectors": selectors}}
    assert "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector." in refusal(
        client, RBAC, body
    )


def test_a_scope_that_nobody_knows_is_shown(client: Client) -> None:
    expressions = [{"scopeName": "x", "operator": "In", "values": ["a"]}]
    body = {"metadata": {"name": "x"}, "spec": {"scopeSelector": {"matchExpressions": expressions}}}
    text = 'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "x": unsupported scope'
    assert refusal(client, f"{CORE}/resourcequotas", body).endswith(f"is invalid: {text}")
    assert "of type v1.ResourceList" in refusal(
        client, f"{CORE}/resourcequotas", {"metadata": {"name": "x"}, "spec": {"hard": 1}}
    )


def test_a_phase_fits_the_state_of_its_namespace(client: Client) -> None:
    refused = client.merge("/api/v1/namespaces/default/status?dryRun=All", {"status": {"phase": "Terminating"}})
    assert refused.body["details"]["causes"][0]["field"] == "status.Phase"


def test_bad_labels_are_told_of_as_often_as_they_are_judged(client: Client) -> None:
    body = {"metadata": {"name": "labels"}}
    for plural, times in (("configmaps", 4), ("resourcequotas", 3), ("events", 2)):
        more = {"involvedObject": {"namespace": "default"}} if plural == "events" else {}
        client.post(f"{CORE}/{plural}", {**body, **more})
        refused = client.merge(f"{CORE}/{plural}/labels", {"metadata": {"labels": {"-": ""}}})
        assert len(refused.body["details"]["causes"]) == times
        client.send("DELETE", f"{CORE}/{plural}/labels")


def test_services_are_selected_by_type(client: Client) -> None:
    client.post(
        f"{CORE}/services", {"metadata": {"name": "typed"}, "spec": {"type": "ExternalName", "externalName": "a"}}
    )
    listed = client.get(f"{CORE}/services?fieldSelector=spec.type=ExternalName").body["items"]
    assert "typed" in [item["metadata"]["name"] for item in listed]
    client.send("DELETE", f"{CORE}/services/typed")


def test_a_dry_run_names_its_key_without_the_registry(client: Client) -> None:
    path = f"{CORE}/configmaps/keyed"
    body = {"metadata": {"name": "keyed", "uid": "x"}}
    client.post(f"{CORE}/configmaps", body)
    assert "Key: /configmaps/default/keyed," in client.send("PUT", f"{path}?dryRun=All", body).body["message"]
    assert "Key: /registry/configmaps/default/keyed," in client.send("PUT", path, body).body["message"]
    client.send("DELETE", path)
