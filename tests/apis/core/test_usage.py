"""What objects use of quotas."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.core import usage
from podless.apis.core.group import PODS
from podless.apis.podspec import amounts
from tests.cost import assert_linear


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    named = [{"name": f"c{index}", "resources": container} for index, container in enumerate(containers)]
    return {"metadata": {"name": "p"}, "spec": {"containers": named, **spec}, "status": {"phase": "Pending"}}


def measured(obj: dict[str, Any]) -> usage.Usage:
    measure = usage.find_measure(PODS)
    assert measure is not None
    return measure(obj)


def test_a_pod_uses_what_its_containers_ask_for() -> None:
    found = measured(pod({"requests": {"cpu": "100m", "memory": "1Gi"}}, {"requests": {"cpu": "1"}}))
    assert found.amounts["requests.cpu"] == found.amounts["cpu"] == "1100m"
    assert found.amounts["requests.memory"] == "1Gi"
    assert found.amounts["pods"] == "1"


def test_what_goes_before_counts_where_it_is_more() -> None:
    first = {"name": "i", "resources": {"requests": {"cpu": "3"}}}
    side = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    assert measured(pod({"requests": {"cpu": "1"}}, initContainers=[side, first])).amounts["requests.cpu"] == "4"


def test_a_pod_that_is_over_uses_nothing() -> None:
    over = pod({"requests": {"cpu": "1"}}) | {"status": {"phase": "Succeeded"}}
    assert measured(over).amounts == {}


def test_a_quota_with_scopes_is_about_some_pods() -> None:
    effort, lasting = {"spec": {"scopes": ["BestEffort"]}}, {"spec": {"scopes": ["NotTerminating"]}}
    plain, asking = measured(pod({})), measured(pod({"requests": {"cpu": "1"}}, activeDeadlineSeconds=5))
    assert usage.make_scope_matcher(effort)(plain)
    assert not usage.make_scope_matcher(effort)(asking)
    assert usage.make_scope_matcher(lasting)(plain)
    assert not usage.make_scope_matcher(lasting)(asking)
    one = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    chosen = {"spec": {"scopeSelector": {"matchExpressions": [one]}}}
    assert usage.make_scope_matcher(chosen)(measured(pod({}, priorityClassName="high")))
    assert not usage.make_scope_matcher(chosen)(plain)


def test_what_containers_do_not_say_is_told() -> None:
    told = usage.find_unset_resources(pod({"requests": {"cpu": "1"}}, {}), ["requests.cpu", "limits.memory", "pods"])
    assert told == "limits.memory for: c0,c1; requests.cpu for: c1"


def test_who_asks_for_nothing_has_no_guarantee() -> None:
    effort = {"spec": {"scopes": ["BestEffort"]}}
    assert usage.make_scope_matcher(effort)(measured(pod({"requests": {"cpu": "0"}})))


@pytest.mark.parametrize("alike", [True, False])
def test_many_sidecars_cost_no_more_than_they_ask_for(alike: bool) -> None:
    def make(size: int) -> dict[str, Any]:
        names = ("cpu" if alike else f"example.com/r{place}" for place in range(size))
        asked = [{"requests": {name: "1", "memory": "1Mi"}, "limits": {name: "1"}} for name in names]
        before = [{"name": f"s{i}", "restartPolicy": "Always", "resources": one} for i, one in enumerate(asked)]
        return pod({"requests": {"cpu": "1"}}, initContainers=[*before, {"name": "i"}])

    assert_linear(measured, make)
    assert_linear(lambda obj: amounts.sum_resources(obj["spec"], "requests"), make)
    assert measured(make(100)).amounts["requests.memory"] == "100Mi"


def test_many_containers_that_say_nothing_cost_what_they_are() -> None:
    wanted = ["requests.cpu", "limits.memory"]
    assert_linear(lambda obj: usage.find_unset_resources(obj, wanted), lambda size: pod(*[{}] * size))
