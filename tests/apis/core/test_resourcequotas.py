"""ResourceQuotas and LimitRanges: which resources they may be about."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.core.group import QUOTAS
from podless.runtime.jsonobject import Object
from tests.conftest import Client
from tests.cost import assert_linear

SPACE = "/api/v1/namespaces/default"
STANDARD = "must be a standard resource type or fully qualified"
NO_QUOTA = "must be a standard resource for quota"
UNFIT = "unsupported scope applied to resource"
OPPOSED = "conflicting scopes"
EXPRESSIONS = "spec.scopeSelector.matchExpressions"


def causes(client: Client, resource: str, spec: dict[str, Any]) -> list[tuple[str, str]]:
    answer = client.post(f"{SPACE}/{resource}?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})
    assert answer.status in (201, 422), answer.body
    return [(cause["field"], cause["message"]) for cause in (answer.body.get("details") or {}).get("causes") or ()]


def told(client: Client, resource: str, spec: dict[str, Any]) -> list[tuple[str, str]]:
    return [(field, text.rpartition(": ")[2]) for field, text in causes(client, resource, spec)]


@pytest.mark.parametrize(
    ("name", "amount", "wanted"),
    [
        ("hugepages-2Mi", "1Gi", []),
        ("requests.hugepages-2Mi", "1Gi", []),
        ("storage", "1", [NO_QUOTA]),
        ("gpus", "1", [STANDARD, NO_QUOTA]),
        ("example.com/gpu", "500m", ["must be an integer"]),
        ("requests.example.com/gpu", "500m", []),
        ("pods", "-1", ["must be greater than or equal to 0"]),
        ("pods", "10Pi", ["must be an integer"]),
    ],
)
def test_what_a_quota_may_limit(client: Client, name: str, amount: str, wanted: list[str]) -> None:
    assert [text for _, text in told(client, "resourcequotas", {"hard": {name: amount}})] == wanted


def test_each_resource_that_a_scope_cannot_be_said_of_is_told(client: Client) -> None:
    hard = {"services": "1", "secrets": "1", "pods": "1", "example.com/a": "1", "hugepages-1Gi": "1Gi"}
    found = told(client, "resourcequotas", {"hard": hard, "scopes": ["BestEffort", "NotBestEffort"]})
    assert found == [("spec.scopes", UNFIT)] * 6 + [("spec.scopes", OPPOSED)]


@pytest.mark.parametrize("selected", [False, True])
def test_many_scopes_of_many_resources_cost_no_more_than_both(selected: bool) -> None:
    def make(size: int) -> Object:
        hard = {f"hugepages-{number}": "1" for number in range(size)}
        expression = {"scopeName": "BestEffort", "operator": "Exists"}
        scopes: Object = {"scopes": ["BestEffort"] * size}
        return {"hard": hard, **({"scopeSelector": {"matchExpressions": [expression] * size}} if selected else scopes)}

    def judge(spec: Object) -> None:
        obj = {"metadata": {"name": "a"}, "spec": spec, "status": {}}
        assert [*QUOTAS.strategy.validate(QUOTAS.versions[0], obj, None)]

    assert_linear(judge, make)


def test_a_selector_of_scopes_is_shown_as_a_whole(client: Client) -> None:
    wanted = [{"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")]
    spec = {"hard": {"services": "1"}, "scopeSelector": {"matchExpressions": wanted}}
    shown = ",".join(f'{{"ScopeName":"{one["scopeName"]}","Operator":"Exists","Values":null}}' for one in wanted)
    assert causes(client, "resourcequotas", spec) == [
        *[(EXPRESSIONS, f'Invalid value: {{"MatchExpressions":[{shown}]}}: {UNFIT}')] * 2,
        (EXPRESSIONS, f"Invalid value: null: {OPPOSED}"),
    ]


def test_some_scopes_are_only_there_or_not(client: Client) -> None:
    wanted = [{"scopeName": "BestEffort", "operator": "In", "values": ["a"]}]
    spec = {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": wanted}}
    ((field, text),) = causes(client, "resourcequotas", spec)
    assert field == f"{EXPRESSIONS}.operator"
    assert text.startswith("Invalid value: \"In\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating")


@pytest.mark.parametrize(
    ("kind", "name", "wanted"),
    [
        ("Container", "hugepages-2Mi", []),
        ("Container", "xhugepages-2Mi", [STANDARD, "must be a standard resource for containers"]),
        ("Container", "a/b/c", None),
        ("Container", "requests.example.com/x", ["doesn't follow extended resource name standard"]),
        ("PersistentVolumeClaim", "storage", []),
        ("PersistentVolumeClaim", "gpus", [STANDARD]),
    ],
)
def test_what_a_range_may_limit(client: Client, kind: str, name: str, wanted: list[str] | None) -> None:
    item = {"type": kind, "max": {name: "1", "storage": "1"} if kind == "PersistentVolumeClaim" else {name: "1"}}
    found = [
        text
        for field, text in told(client, "limitranges", {"limits": [item]})
        if field.startswith("spec.limits[0].max")
    ]
    if wanted is None:
        assert found[1] == "doesn't follow extended resource name standard"
    else:
        assert found == wanted


def test_amounts_are_not_finer_than_thousandths(client: Client) -> None:
    body = {"metadata": {"name": "fine"}, "spec": {"hard": {"cpu": "1n", "limits.cpu": "1.0005"}}}
    made = client.send("POST", "/api/v1/namespaces/default/resourcequotas?dryRun=All", body)
    assert made.body["spec"]["hard"] == {"cpu": "1m", "limits.cpu": "1001m"}
