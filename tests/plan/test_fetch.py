"""What a plan reads of a running API, and what it says where it cannot."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import podless
from podless import Audit, Server
from podless.auth.user import User
from podless.check.sources import SourceFile
from podless.plan import Action, CannotPlan, Plan
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import PlanOptions
from podless.plan.output import FORMS, render_plan
from podless.plan.run import make_plan
from podless.remote.kubeconfig import ClusterAccess

SET = """\
apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: web}
data: {color: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: door, namespace: web}
stringData: {password: opensesame}
"""
READER = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [namespaces, configmaps, limitranges, resourcequotas], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: eve}]
"""


@pytest.fixture
def audited(tmp_path: Path) -> Iterator[Server]:
    tokens = {"eve-token": User("eve", groups=("system:authenticated",))}
    with Server(tls=False, audit=Audit(path=tmp_path / "audit.log"), tokens=tokens) as server:
        yield server


def plan_as(server: Server, token: str, text: str = SET, seconds: float = 30.0, **options: Any) -> Plan:
    items, faults = read_set([SourceFile.of("set.yaml", text.encode())])
    api = RunningAPI(ClusterAccess(server.url, token), seconds=seconds)
    return asyncio.run(make_plan(items, faults, api, PlanOptions(**options)))


def test_nothing_is_written(audited: Server, tmp_path: Path) -> None:
    audited.apply(SET, manager="kubectl")
    begun = len((tmp_path / "audit.log").read_text().splitlines())
    before = audited.snapshot()
    plan = plan_as(audited, audited.token, SET.replace("blue", "red"), prune="a=b", mode="client-side")
    assert plan_as(audited, audited.token, SET.replace("blue", "red")).updated
    assert plan.exit_code in (0, 2)
    assert audited.snapshot().records == before.records

    def logged() -> list[dict[str, Any]]:
        lines = (tmp_path / "audit.log").read_text().splitlines()[begun:]
        found = [json.loads(line) for line in lines]
        return [one for one in found if "podless-plan" in one["userAgent"]]

    wanted = sum(plan.requests.values())
    deadline = time.monotonic() + 20
    while len({one["auditID"] for one in logged()}) < wanted and time.monotonic() < deadline:
        time.sleep(0.02)
    assert {one["verb"] for one in logged()} == {"get", "list"}


def test_what_is_forbidden_is_told(audited: Server) -> None:
    audited.apply(SET + "---\n" + READER, manager="kubectl")
    plan = plan_as(audited, "eve-token", SET.replace("blue", "red"))
    assert plan.exit_code == 1
    assert plan.find("ConfigMap", "settings").action is Action.UPDATE
    secret = plan.find("Secret", "door")
    assert secret.action is Action.UNKNOWN
    assert 'cannot get resource "secrets"' in secret.message
    said = [str(one) for one in plan.missing]
    assert any("validatingadmissionpolicies" in one and "is not in the plan" in one for one in said), said
    text = render_plan(plan, "text")
    assert "? Secret web/door" in text
    assert "Not read, so the plan is not complete:" in text


def test_an_api_that_knows_nobody_is_told(audited: Server) -> None:
    with pytest.raises(CannotPlan, match="does not know who asks"):
        plan_as(audited, "wrong-token")


def test_an_api_that_is_not_there_is_told() -> None:
    items, _ = read_set([SourceFile.of("set.yaml", SET.encode())])
    api = RunningAPI(ClusterAccess("http://127.0.0.1:9", ""), seconds=1.0)
    with pytest.raises(CannotPlan, match="the API does not answer"):
        asyncio.run(make_plan(items, [], api, PlanOptions()))


def test_a_slow_resource_makes_a_partial_plan(audited: Server) -> None:
    audited.apply(SET, manager="kubectl")
    audited.faults.add(delay=60.0, resource="resourcequotas")
    plan = plan_as(audited, audited.token, SET.replace("blue", "red"), seconds=2.0)
    assert plan.find("ConfigMap", "settings").action is Action.UPDATE
    [missing] = plan.missing
    assert missing.what == "resourcequotas in namespace web"
    assert plan.exit_code == 1


def test_long_collections_are_listed_and_not_read_one_by_one(audited: Server) -> None:
    one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n"
    text = "---\n".join(one % number for number in range(30))
    audited.apply(text, manager="kubectl")
    plan = plan_as(audited, audited.token, text)
    assert plan.requests["list configmaps"] == 1
    assert "get configmaps" not in plan.requests
    assert len(plan.unchanged) == 30


def test_secrets_are_in_no_output(audited: Server) -> None:
    audited.apply(SET, manager="kubectl")
    plan = plan_as(audited, audited.token, SET.replace("opensesame", "abracadabra"))
    assert plan.find("Secret", "door").action is Action.UPDATE
    for form in FORMS:
        for details in (False, True):
            shown = render_plan(plan, form, details=details)
            assert not [word for word in ("opensesame", "abracadabra", "b3BlbnN", "YWJyYWN") if word in shown], form
    assert "data.password: (secret) -> (secret), changed" in render_plan(plan, "text")


def test_refusals_of_secrets_do_not_tell_their_values(audited: Server) -> None:
    plan = plan_as(audited, audited.token, SET.replace("opensesame", "5551234"))
    assert plan.find("Secret", "door").action is Action.REFUSED
    for form in FORMS:
        assert "5551234" not in render_plan(plan, form, details=True), form


def test_webhooks_are_listed(audited: Server) -> None:
    hook = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gate}
webhooks:
- name: gate.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://127.0.0.1:9/check"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
"""
    audited.apply(hook)
    plan = plan_as(audited, audited.token)
    [call] = plan.webhooks
    assert (call.webhook, call.asked, call.name) == ("gate.example.com", False, "settings")
    assert "gate.example.com of gate, about 1 object: not asked" in render_plan(plan, "text")
    asked = plan_as(audited, audited.token, call_webhooks=True)
    [refused] = asked.refused
    assert 'failed calling webhook "gate.example.com"' in refused.message


def test_a_set_in_a_server_of_this_process(audited: Server, tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text(SET)
    assert len(podless.plan(tmp_path, server=audited).created) == 3
    with pytest.raises(CannotPlan, match="give one of"):
        podless.plan(tmp_path, server=audited, source=tmp_path)
