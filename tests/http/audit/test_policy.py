"""Which rule of an audit policy a request comes under."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podless.auth.authorizer import Attributes
from podless.auth.user import User
from podless.http.audit import policy
from podless.http.audit.policy import BadPolicy, read_policy

ANN = User("ann", "", ("devs", "system:authenticated"))
PODS = Attributes("get", "", "v1", "pods", "", "one", "a")
LOG = Attributes("get", "", "v1", "pods", "log", "one", "a")
NODES = Attributes("list", "", "v1", "nodes")
HEALTH = Attributes("get", path="/healthz/ping")


def parsed(*rules: dict[str, Any], **more: Any) -> policy.AuditPolicy:
    return policy.parse_policy({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": list(rules), **more})


@pytest.mark.parametrize(
    ("rule", "asked", "fits"),
    [
        ({}, PODS, True),
        ({"users": ["ann"]}, PODS, True),
        ({"users": ["bob"]}, PODS, False),
        ({"userGroups": ["devs"]}, PODS, True),
        ({"userGroups": ["ops"]}, PODS, False),
        ({"verbs": ["get"]}, PODS, True),
        ({"verbs": ["list"]}, PODS, False),
        ({"namespaces": ["one"]}, PODS, True),
        ({"namespaces": ["two"]}, PODS, False),
        ({"namespaces": [""]}, NODES, True),
        ({"namespaces": [""]}, HEALTH, False),
        ({"resources": [{"group": ""}]}, PODS, True),
        ({"resources": [{"group": "apps"}]}, PODS, False),
        ({"resources": [{"resources": ["pods"]}]}, PODS, True),
        ({"resources": [{"resources": ["pods"]}]}, LOG, False),
        ({"resources": [{"resources": ["pods/log"]}]}, LOG, True),
        ({"resources": [{"resources": ["*/log"]}]}, LOG, True),
        ({"resources": [{"resources": ["pods/*"]}]}, LOG, True),
        ({"resources": [{"resources": ["*"]}]}, LOG, True),
        ({"resources": [{"resources": ["pods"], "resourceNames": ["a"]}]}, PODS, True),
        ({"resources": [{"resources": ["pods"], "resourceNames": ["b"]}]}, PODS, False),
        ({"resources": [{"group": ""}]}, HEALTH, False),
        ({"nonResourceURLs": ["/healthz*"]}, HEALTH, True),
        ({"nonResourceURLs": ["/healthz"]}, HEALTH, False),
        ({"nonResourceURLs": ["*"]}, HEALTH, True),
        ({"nonResourceURLs": ["*"]}, PODS, False),
    ],
)
def test_fits(rule: dict[str, Any], asked: Attributes, fits: bool) -> None:
    found = parsed({"level": "Request", **rule}).find_rule(ANN, asked)
    assert found.level == ("Request" if fits else "None")


def test_the_first_rule_that_fits_counts() -> None:
    rules = parsed({"level": "None", "users": ["ann"]}, {"level": "Metadata"})
    assert rules.find_rule(ANN, PODS).level == "None"
    assert rules.find_rule(User("bob"), PODS).level == "Metadata"


def test_stages_are_left_out_by_the_policy_and_by_the_rule() -> None:
    rules = parsed({"level": "Metadata", "omitStages": ["ResponseStarted"]}, omitStages=["RequestReceived"])
    assert rules.find_rule(ANN, PODS).omit == {"RequestReceived", "ResponseStarted"}


SECRET = Attributes("create", "", "v1", "secrets", "", "one")
TOKEN = Attributes("create", "", "v1", "serviceaccounts", "token", "one", "a")
REVIEW = Attributes("create", "authentication.k8s.io", "v1", "tokenreviews")


@pytest.mark.parametrize("asked", [SECRET, TOKEN, REVIEW], ids=lambda asked: asked.resource)
def test_bodies_of_secrets_are_told_only_where_a_rule_names_them(asked: Attributes) -> None:
    whole = f"{asked.resource}/{asked.subresource}".rstrip("/")
    for rule, told in (
        ({}, False),
        ({"resources": [{"group": asked.group}]}, False),
        ({"resources": [{"group": asked.group, "resources": ["*"]}]}, False),
        ({"resources": [{"group": asked.group, "resources": [whole]}]}, True),
    ):
        assert policy.logs_bodies(parsed({"level": "Request", **rule}).find_rule(ANN, asked), asked) is told
    assert policy.logs_bodies(parsed({"level": "Request"}).find_rule(ANN, PODS), PODS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "did not find expected"),
        ("kind: Policy", "not a Policy of audit.k8s.io/v1"),
        ("{apiVersion: audit.k8s.io/v1, kind: Policy}", "rules: at least one rule is required"),
        (
            "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: All}]}",
            "rules[0].level: must be one of None, Metadata",
        ),
        ("{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None, user: [a]}]}", "unknown field user"),
        (
            "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None, users: a}]}",
            "rules[0].users: must be a list",
        ),
        (
            "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None,namespaces: [a], nonResourceURLs: [/]}]}",
            "not both",
        ),
        (
            "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [End], rules: [{level: None}]}",
            "omitStages: must be of Req",
        ),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    with pytest.raises(BadPolicy) as caught:
        read_policy(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadPolicy, match="no such file"):
        read_policy(tmp_path / "none")
