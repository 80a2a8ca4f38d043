"""Roles that gather each other's rules: who writes one is answered, whether or not they come to an end."""

from __future__ import annotations

import uuid
from typing import Any

from podless.cache.entry import Entry
from podless.codec import serializer
from podless.controllers import roles
from tests.conftest import Client
from tests.cost import assert_linear

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def role(name: str, gathers: str, resource: str) -> dict[str, Any]:
    """A role that gathers the rules of those with a label, "" for all."""
    return {
        "metadata": {"name": name, "labels": {"is": name}},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"is": gathers}} if gathers else {}]},
        "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": [resource]}],
    }


def test_roles_that_gather_all_have_the_rules_of_all(client: Client) -> None:
    names = [uuid.uuid4().hex[:8] for _ in range(3)]
    for name in names:
        assert client.post(ROLES, role(name, "", name)).status == 201
    found = [client.get(f"{ROLES}/{name}").body["rules"] for name in names]
    assert all(rule in found[0] for rules in found[1:] for rule in rules)
    assert {"verbs": ["get"], "apiGroups": [""], "resources": [names[2]]} in found[0]
    for name in names:
        assert client.send("DELETE", f"{ROLES}/{name}").status == 200


def test_the_controller_of_a_real_cluster_owns_aggregated_rules(client: Client) -> None:
    for name in ("view", "admin"):
        found = client.get(f"{ROLES}/{name}").body["metadata"]["managedFields"]
        assert [entry["manager"] for entry in found] == ["clusterrole-aggregation-controller", "kube-apiserver"]
        assert found[0]["fieldsV1"] == {"f:rules": {}}
        assert all("f:rules" not in entry["fieldsV1"] for entry in found[1:])


def test_a_circle_that_gives_its_rules_on_for_ever_keeps_nobody_waiting(client: Client) -> None:
    stem = uuid.uuid4().hex[:8]
    for place, before in ((1, 4), (3, 1), (4, 2), (2, 3)):  # in the order of the names the last ones give theirs away
        assert client.post(ROLES, role(f"{stem}-{place}", f"{stem}-{before}", "pods")).status == 201
    assert client.merge(f"{ROLES}/{stem}-1", {"metadata": {"annotations": {"a": "b"}}}).status == 200
    for place in range(1, 5):
        assert client.send("DELETE", f"{ROLES}/{stem}-{place}").status == 200


def test_who_views_and_who_edits_may_do_so_with_workloads(client: Client) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

    def may(role: str, verb: str, group: str, resource: str) -> bool:
        return any(
            verb in rule["verbs"] and group in rule.get("apiGroups", ()) and resource in rule.get("resources", ())
            for rule in client.get(f"{roles}/{role}").body["rules"]
        )

    for group, resource in (
        ("", "pods"),
        ("apps", "deployments"),
        ("batch", "jobs"),
        ("networking.k8s.io", "ingresses"),
    ):
        found = [may(role, verb, group, resource) for role in ("view", "edit", "admin") for verb in ("list", "create")]
        assert found == [True, False, True, True, True, True], resource
    assert [may(role, "get", "", "secrets") for role in ("view", "edit")] == [False, True]


def _entry(name: str, **obj: object) -> Entry:
    return Entry.make_unstored(name, serializer.encode_json({"metadata": {"name": name, "labels": {"a": name}}, **obj}))


def test_rules_are_gathered_in_linear_time_that_is_charged() -> None:
    others = [_entry(f"r{number}", rules=[{"verbs": ["get"]}]) for number in range(20)]

    def make(size: int) -> Entry:
        chosen = [{"matchLabels": {"a": f"r{number}"}} for number in range(size)]
        return _entry("all", aggregationRule={"clusterRoleSelectors": chosen})

    assert list(roles._select_rules(make(3), others) or ()) == [b'{"verbs":["get"]}']
    assert_linear(lambda role: roles._select_rules(role, others), make, 50)
